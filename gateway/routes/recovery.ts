/** Regaining access: recovery codes for a lost second factor, escrow for a lost password (docs/protocol/account.md). */
import { z } from 'zod';
import { keyParamsSchema } from '../../actors/identity/key-params.ts';
import { escrowSchema } from '../../actors/identity/signin-messages.ts';
import { type Answer, isRefused } from '../../actors/reply.ts';
import { Signin } from '../../actors/signin/contract.ts';
import type { AnyRoute, RequestContext, RouteReply } from '../http/route.ts';
import { addressOf, emailField, workspaceField } from './address-fields.ts';
import { answered, family } from './endpoint.ts';
import { refusingLostCookies } from './lost-cookies.ts';
import type { RoutesOptions } from './options.ts';
import { signInAnswer, signInBodySchema } from './sign-in-answer.ts';
import { reportFailedSignIn, senderOf } from './sign-in-attempt.ts';

const { route } = family({ tag: 'Account recovery' });
/** Missing fields are refused like wrong ones. */
const codes = z.string().max(256).nullish();

const paramsRequest = z.object({
  username: emailField.min(1),
  code_challenge: z.string().min(1).max(512),
  recovery_codes: codes,
  workspace_identifier: workspaceField,
});

const loginRequest = z.object({
  username: emailField.min(1),
  password: z.string().max(1_024).nullish(),
  code_verifier: z.string().max(1_024).nullish(),
  recovery_codes: codes,
  api: z.string().max(64).nullish(),
  hvm_token: z.string().max(8_192).nullish(),
  workspace_identifier: workspaceField,
});

export function recoveryRoutes(options: RoutesOptions): readonly AnyRoute[] {
  const { settings, signinKeys } = options;

  async function loginParams(
    context: RequestContext<'public'>,
    request: z.infer<typeof paramsRequest>,
  ): Promise<RouteReply> {
    const address = addressOf(settings, request.username, request.workspace_identifier);
    const reply = await context.actors.get(Signin, signinKeys.actorId(address)).ask.loginParams(
      {
        ...address,
        ...senderOf(context),
        codeChallenge: request.code_challenge,
        recoveryCodes: request.recovery_codes ?? '',
      },
      context.ask,
    );
    return answered(reportFailedSignIn(reply, context, options), (keyParams) => ({
      status: 200,
      body: { keyParams },
    }));
  }

  async function login(
    context: RequestContext<'public'>,
    request: z.infer<typeof loginRequest>,
  ): Promise<RouteReply> {
    const address = addressOf(settings, request.username, request.workspace_identifier);
    const reply = await context.actors.get(Signin, signinKeys.actorId(address)).ask.login(
      {
        ...address,
        ...senderOf(context),
        password: request.password ?? '',
        codeVerifier: request.code_verifier ?? '',
        apiVersion: request.api ?? '',
        ephemeral: false,
        hvmToken: request.hvm_token ?? undefined,
        recoveryCodes: request.recovery_codes ?? '',
      },
      context.ask,
    );
    return signInAnswer(withOneText(reportFailedSignIn(reply, context, options)), options);
  }

  async function lookUp(
    { actors, ask, client: device }: RequestContext<'public'>,
    { user_uuid }: { user_uuid: string },
  ): Promise<RouteReply> {
    const userUuid = user_uuid.toLowerCase();
    const guard = actors.get(Signin, signinKeys.recoveryId(userUuid));
    return answered(await guard.ask.lookUpEscrow({ userUuid, device }, ask), (body) => ({
      status: 200,
      body,
    }));
  }

  return [
    route('POST /v1/recovery/login-params', {
      access: 'public',
      summary: 'The key params of an account, for its recovery codes.',
      request: paramsRequest,
      replies: { 200: z.object({ keyParams: keyParamsSchema }) },
      refusals: [400, 401, 423],
      handle: loginParams,
    }),
    refusingLostCookies(
      options.cookies,
      route('POST /v1/recovery/login', {
        access: 'public',
        summary: 'Sign in with recovery codes: turns the second factor off.',
        request: loginRequest,
        replies: { 200: signInBodySchema },
        refusals: [400, 401, 423],
        handle: login,
      }),
    ),
    route('POST /v1/account-recovery/lookup', {
      access: 'public',
      summary: 'What a client has left with the server for the recovery of an account: ciphertext.',
      request: z.object({ user_uuid: z.uuid() }),
      replies: { 200: escrowSchema },
      refusals: [400, 404, 429],
      handle: lookUp,
    }),
  ];
}

/** Every failure gets the same message. */
function withOneText<Ok>(reply: Answer<Ok>): Answer<Ok> {
  if (!isRefused(reply) || reply.refused.reason !== 'unauthenticated') return reply;
  return { ...reply, refused: { ...reply.refused, message: 'Invalid login credentials.', tag: undefined } };
}
