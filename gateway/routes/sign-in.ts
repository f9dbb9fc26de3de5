/** Signing in: key params and challenge, then the password (docs/protocol/authentication.md). */
import { z } from 'zod';
import { keyParamsSchema } from '../../actors/identity/key-params.ts';
import type { Credentials } from '../../actors/identity/session-tokens.ts';
import type { SignInAddress, SigninKeys } from '../../actors/identity/signin-keys.ts';
import { normaliseUsername, normaliseWorkspace } from '../../actors/identity/usernames.ts';
import { isRefused } from '../../actors/reply.ts';
import type { AccountSettings } from '../../actors/settings.ts';
import { missingCredentials, Signin } from '../../actors/signin/contract.ts';
import { User } from '../../actors/user/contract.ts';
import { NotFoundError } from '../../runtime/errors.ts';
import { type AnyRoute, type Method, type RequestContext, type RouteReply, route } from '../http/route.ts';
import type { CookieOptions } from '../settings.ts';
import { emailField, workspaceField } from './address-fields.ts';
import { answered, errorBodySchema, refusedAnswer } from './answer.ts';
import { tag } from './sessions.ts';
import { sessionAnswer, signInBodySchema } from './sign-in-answer.ts';

export interface SignInRouteOptions {
  readonly settings: Pick<AccountSettings, 'workspacesPerEmail'>;
  readonly signinKeys: Pick<SigninKeys, 'actorId'>;
  readonly cookies: CookieOptions;
  /** `CAPTCHA_UI_URL`, told with a failed sign-in once a captcha is needed; null when none is configured. */
  readonly captchaUiUrl: string | null;
}

const loginParamsRequest = z.object({
  email: emailField.nullish(),
  code_challenge: z.string().min(1).max(512),
  workspace_identifier: workspaceField,
});
type LoginParamsRequest = z.infer<typeof loginParamsRequest>;

/** A locked address is told so whatever is missing, so nothing is required here. */
const loginRequest = z.object({
  email: emailField.nullish(),
  password: z.string().max(1_024).nullish(),
  code_verifier: z.string().max(1_024).nullish(),
  api: z.string().max(64).nullish(),
  ephemeral: z.boolean().nullish(),
  hvm_token: z.string().max(8_192).nullish(),
  workspace_identifier: workspaceField,
});

const missingEmail = { status: 400, message: 'Please provide an email address.' } as const;

export function signInRoutes({
  settings,
  signinKeys,
  cookies,
  captchaUiUrl,
}: SignInRouteOptions): readonly AnyRoute[] {
  function addressOf(email: string, workspace: string | null | undefined): SignInAddress {
    return {
      email: normaliseUsername(email),
      workspace: normaliseWorkspace(workspace, settings.workspacesPerEmail),
    };
  }

  async function loginParams(
    context: RequestContext<'optional-session'>,
    { email, code_challenge, workspace_identifier }: LoginParamsRequest,
  ): Promise<RouteReply> {
    const own = context.credentials && (await ownKeyParams(context, context.credentials, code_challenge));
    if (own !== undefined) return own;
    if (email == null || email.trim() === '') return refusedAnswer(missingEmail);
    const address = addressOf(email, workspace_identifier);
    const answer = await context.actors
      .get(Signin, signinKeys.actorId(address))
      .ask.loginParams(
        { ...address, codeChallenge: code_challenge, ipAddress: context.client.ipAddress },
        context.ask,
      );
    return answered(answer, (body) => ({ status: 200, body }));
  }

  async function login(
    { actors, ask, client }: RequestContext<'public'>,
    request: z.infer<typeof loginRequest>,
  ): Promise<RouteReply> {
    const { email, password, code_verifier: codeVerifier, api } = request;
    if (!email?.trim()) return refusedAnswer(missingCredentials);
    const address = addressOf(email, request.workspace_identifier);
    const reply = await actors.get(Signin, signinKeys.actorId(address)).ask.login(
      {
        ...address,
        password: password ?? '',
        codeVerifier: codeVerifier ?? '',
        apiVersion: api ?? '',
        ephemeral: request.ephemeral ?? false,
        hvmToken: request.hvm_token ?? undefined,
        device: client,
      },
      ask,
    );
    const answer = answered(reply, sessionAnswer(cookies));
    const asksForCaptcha = isRefused(reply) && reply.refused.captchaRequired === true && captchaUiUrl;
    return asksForCaptcha ? { ...answer, headers: { 'x-captcha-required': asksForCaptcha } } : answer;
  }

  const paramsRoute = (method: Method, path: string, summary: string) =>
    route({
      method,
      path,
      access: 'optional-session',
      summary,
      tag,
      request: loginParamsRequest,
      replies: { 200: keyParamsSchema, 400: errorBodySchema, 401: errorBodySchema },
      bodyLimit: 'small',
      handle: loginParams,
    });

  const loginRoute = (path: string, summary: string) =>
    route({
      method: 'POST',
      path,
      access: 'public',
      summary,
      tag,
      request: loginRequest,
      replies: { 200: signInBodySchema, 401: errorBodySchema, 423: errorBodySchema },
      bodyLimit: 'small',
      handle: login,
    });

  return [
    paramsRoute('POST', '/v2/login-params', 'The key params of an address, and the challenge of a sign-in.'),
    paramsRoute('GET', '/v1/login-params', 'Legacy alias of POST /v2/login-params.'),
    loginRoute('/v2/login', 'Sign in: opens a session.'),
    loginRoute('/v1/login', 'Legacy alias of POST /v2/login.'),
  ];
}

/** Undefined: the bearer is not that of a living session, and the caller counts as unauthenticated. */
async function ownKeyParams(
  { actors, ask }: RequestContext<'optional-session'>,
  credentials: Credentials,
  codeChallenge: string,
): Promise<RouteReply | undefined> {
  try {
    const answer = await actors
      .get(User, credentials.userUuid)
      .ask.keyParams({ credentials, codeChallenge }, ask);
    return isRefused(answer) ? undefined : { status: 200, body: answer.ok, caller: answer.caller };
  } catch (error) {
    if (error instanceof NotFoundError) return undefined;
    throw error;
  }
}
