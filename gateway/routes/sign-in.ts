/** Signing in: key params and challenge, then the password (docs/protocol/authentication.md). */
import { z } from 'zod';
import { keyParamsSchema } from '../../actors/identity/key-params.ts';
import type { Credentials } from '../../actors/identity/session-tokens.ts';
import { type Answer, isRefused } from '../../actors/reply.ts';
import { missingCredentials, Signin } from '../../actors/signin/contract.ts';
import { Account } from '../../actors/user/account/contract.ts';
import { unlessAbsent } from '../../runtime/handles.ts';
import { approvalCookie, approvalCookieName } from '../http/cookies.ts';
import type { AnyRoute, Method, RequestContext, RouteReply } from '../http/route.ts';
import { addressOf, emailField, missingEmail, workspaceField } from './address-fields.ts';
import { answered, family, refusedAnswer } from './endpoint.ts';
import { refusingLostCookies } from './lost-cookies.ts';
import type { RoutesOptions } from './options.ts';
import { tag } from './sessions.ts';
import { signInAnswer, signInBodySchema } from './sign-in-answer.ts';
import { reportFailedSignIn, senderOf } from './sign-in-attempt.ts';

const { route } = family({ tag });

const shortText = z.string().max(1_024).nullish();

/** Old clients send a code in a field with a generated name, so the schema accepts unknown names. */
const loginParamsRequest = z.looseObject({
  email: emailField.nullish(),
  code_challenge: z.string().min(1).max(512),
  magic_link_code: shortText,
  app_password: shortText,
  /** A malformed token is ignored, and the server asks for the factor as usual. */
  trusted_device_token: z.unknown().optional().meta({ type: 'string' }),
  mfa_approval_challenge_id: shortText,
  authenticator_response: z.record(z.string(), z.unknown()).nullish(),
  workspace_identifier: workspaceField,
});
type LoginParamsRequest = z.infer<typeof loginParamsRequest>;

/** A locked address gets its refusal even if fields are missing, so the schema requires nothing here. */
const loginRequest = z.object({
  email: emailField.nullish(),
  password: z.string().max(1_024).nullish(),
  code_verifier: z.string().max(1_024).nullish(),
  api: z.string().max(64).nullish(),
  ephemeral: z.boolean().nullish(),
  hvm_token: z.string().max(8_192).nullish(),
  workspace_identifier: workspaceField,
});

export function signInRoutes(options: RoutesOptions): readonly AnyRoute[] {
  const { settings, signinKeys, cookies: cookieOptions } = options;

  async function loginParams(
    path: string,
    context: RequestContext<'optional-session'>,
    request: LoginParamsRequest,
  ): Promise<RouteReply> {
    const { email, code_challenge, workspace_identifier } = request;
    const signedInReply =
      context.credentials && (await ownKeyParams(context, context.credentials, code_challenge));
    if (signedInReply !== undefined) return signedInReply;
    if (!email?.trim()) return refusedAnswer(missingEmail);
    const address = addressOf(settings, email, workspace_identifier);
    const actorId = signinKeys.actorId(address);
    const cookieName = approvalCookieName(context.header('origin') ?? '', actorId);
    const answer = await context.actors.get(Signin, actorId).ask.loginParams(
      {
        ...address,
        ...factorsOf(request),
        ...senderOf(context),
        codeChallenge: code_challenge,
        approvalSecret: approvalSecretOf(context, request, cookieName),
      },
      context.ask,
    );
    const reply = answered(reportFailedSignIn(answer, context, options), (body) => ({ status: 200, body }));
    return { ...reply, setCookies: approvalCookies(path, answer, cookieName) };
  }

  /** The secret of the approval id in the request, or else in its cookie. */
  function approvalSecretOf(
    { cookies }: RequestContext<'optional-session'>,
    { mfa_approval_challenge_id: approvalId }: LoginParamsRequest,
    cookieName: string,
  ): string | undefined {
    const [cookie = ''] = cookies.get(cookieName) ?? [];
    return signinKeys.readApprovalId(approvalId || cookie)?.secret;
  }

  /** A client that asks again sends neither the approval id nor the same challenge. So a cookie carries the id. */
  function approvalCookies(path: string, answer: Answer<unknown>, cookieName: string): readonly string[] {
    const id = isRefused(answer) ? answer.refused.payload?.['mfa_approval_challenge_id'] : undefined;
    if (typeof id !== 'string') return [];
    return [
      approvalCookie({ options: cookieOptions, path, name: cookieName, id, ageMs: settings.approvalAgeMs }),
    ];
  }

  function factorsOf(request: LoginParamsRequest) {
    const { app_password, trusted_device_token, authenticator_response } = request;
    return {
      ...codeOf(request),
      // An empty field must not count as a guess.
      appPassword: app_password || undefined,
      trustedDeviceToken: shortText.safeParse(trusted_device_token).data || undefined,
      assertionResponse: authenticator_response ?? undefined,
    };
  }

  async function login(
    context: RequestContext<'public'>,
    request: z.infer<typeof loginRequest>,
  ): Promise<RouteReply> {
    const { actors, ask } = context;
    const { email, password, code_verifier: codeVerifier, api } = request;
    if (!email?.trim()) return refusedAnswer(missingCredentials);
    const address = addressOf(settings, email, request.workspace_identifier);
    const reply = await actors.get(Signin, signinKeys.actorId(address)).ask.login(
      {
        ...address,
        ...senderOf(context),
        password: password ?? '',
        codeVerifier: codeVerifier ?? '',
        apiVersion: api ?? '',
        ephemeral: request.ephemeral ?? false,
        hvmToken: request.hvm_token ?? undefined,
      },
      ask,
    );
    return signInAnswer(reportFailedSignIn(reply, context, options), options);
  }

  const paramsRoute = (method: Method, path: string, summary: string) =>
    route(`${method} ${path}`, {
      access: 'optional-session',
      summary,
      request: loginParamsRequest,
      headers: ['origin'],
      replies: { 200: keyParamsSchema },
      refusals: [400, 401, 423],
      handle: (context, request) => loginParams(path, context, request),
    });

  const loginRoute = (path: string, summary: string) =>
    refusingLostCookies(
      cookieOptions,
      route(`POST ${path}`, {
        access: 'public',
        summary,
        request: loginRequest,
        replies: { 200: signInBodySchema },
        refusals: [401, 423],
        handle: login,
      }),
    );

  return [
    paramsRoute('POST', '/v2/login-params', 'The key params of an address, and the challenge of a sign-in.'),
    paramsRoute('GET', '/v1/login-params', 'Legacy alias of POST /v2/login-params.'),
    loginRoute('/v2/login', 'Sign in: opens a session.'),
    loginRoute('/v1/login', 'Legacy alias of POST /v2/login.'),
  ];
}

const isCodeName = (name: string): boolean => name.startsWith('mfa_') && name !== 'mfa_approval_challenge_id';

/** The first non-empty `mfa_*` field, else `magic_link_code`. The refusal that asked for the code named the field. */
function codeOf(request: LoginParamsRequest): { codeName?: string; code?: string } {
  const codeField = Object.entries(request).find(
    ([name, value]) => isCodeName(name) && typeof value === 'string' && value !== '',
  );
  const [codeName, code] = codeField ?? ['magic_link_code', request.magic_link_code];
  if (typeof code !== 'string' || code === '' || code.length > 64) return {};
  return { code, ...(isCodeName(codeName) && { codeName: codeName.slice(0, 64) }) };
}

/** The signed-in user's own key params. Undefined if the bearer is not valid: the caller then counts as unauthenticated. */
async function ownKeyParams(
  { actors, ask }: RequestContext<'optional-session'>,
  credentials: Credentials,
  codeChallenge: string,
): Promise<RouteReply | undefined> {
  const answer = await unlessAbsent(
    actors.get(Account, credentials.userUuid).ask.keyParams({ credentials, codeChallenge }, ask),
  );
  if (answer === undefined || isRefused(answer)) return undefined;
  return { status: 200, body: answer.ok, caller: answer.caller };
}
