/** Signing in: key params and challenge, then the password (docs/protocol/authentication.md). */
import { z } from 'zod';
import { keyParamsSchema } from '../../actors/identity/key-params.ts';
import type { Credentials } from '../../actors/identity/session-tokens.ts';
import type { SigninKeys } from '../../actors/identity/signin-keys.ts';
import { type Answer, isRefused } from '../../actors/reply.ts';
import type { AccountSettings } from '../../actors/settings.ts';
import { cookieSessionsMax, missingCredentials, Signin } from '../../actors/signin/contract.ts';
import { User } from '../../actors/user/contract.ts';
import { NotFoundError } from '../../runtime/errors.ts';
import { accessCookiePrefix } from '../http/cookies.ts';
import { type AnyRoute, type Method, type RequestContext, type RouteReply, route } from '../http/route.ts';
import type { CookieOptions } from '../settings.ts';
import { addressOf, emailField, workspaceField } from './address-fields.ts';
import { answered, errorBodySchema, refusedAnswer } from './answer.ts';
import { tag } from './sessions.ts';
import { signInAnswer, signInBodySchema } from './sign-in-answer.ts';

export interface SignInRouteOptions {
  readonly settings: Pick<AccountSettings, 'workspacesPerEmail'>;
  readonly signinKeys: Pick<SigninKeys, 'actorId' | 'readApprovalId'>;
  readonly cookies: CookieOptions;
  /** `CAPTCHA_UI_URL`, sent with a failed sign-in once a captcha is needed; null when none is configured. */
  readonly captchaUiUrl: string | null;
  /** Told the client's address of every refused sign-in, if the operator asks for that. */
  readonly signInFailed: ((clientAddress: string) => void) | undefined;
}

const shortText = z.string().max(1_024).nullish();

/** Old clients send a code under a name of their own: hence fields that are not known by name. */
const loginParamsRequest = z.looseObject({
  email: emailField.nullish(),
  code_challenge: z.string().min(1).max(512),
  magic_link_code: shortText,
  app_password: shortText,
  trusted_device_token: shortText,
  mfa_approval_challenge_id: shortText,
  authenticator_response: z.record(z.string(), z.unknown()).nullish(),
  workspace_identifier: workspaceField,
});
type LoginParamsRequest = z.infer<typeof loginParamsRequest>;

/** A locked address is refused as such no matter what is missing, so nothing is required here. */
const loginRequest = z.object({
  email: emailField.nullish(),
  password: z.string().max(1_024).nullish(),
  code_verifier: z.string().max(1_024).nullish(),
  api: z.string().max(64).nullish(),
  ephemeral: z.boolean().nullish(),
  hvm_token: z.string().max(8_192).nullish(),
  workspace_identifier: workspaceField,
});

const uuidCharacters = 36;

const missingEmail = { status: 400, message: 'Please provide an email address.' } as const;

export function signInRoutes({
  settings,
  signinKeys,
  cookies,
  captchaUiUrl,
  signInFailed,
}: SignInRouteOptions): readonly AnyRoute[] {
  async function loginParams(
    context: RequestContext<'optional-session'>,
    request: LoginParamsRequest,
  ): Promise<RouteReply> {
    const { email, code_challenge, workspace_identifier } = request;
    const own = context.credentials && (await ownKeyParams(context, context.credentials, code_challenge));
    if (own !== undefined) return own;
    if (email == null || email.trim() === '') return refusedAnswer(missingEmail);
    const address = addressOf(settings, email, workspace_identifier);
    const answer = await context.actors.get(Signin, signinKeys.actorId(address)).ask.loginParams(
      {
        ...address,
        ...factorsOf(request),
        codeChallenge: code_challenge,
        device: context.client,
        cookieSessions: sessionsOf(context),
      },
      context.ask,
    );
    return answered(answer, (body) => ({ status: 200, body }));
  }

  function factorsOf(request: LoginParamsRequest) {
    const { app_password, trusted_device_token, authenticator_response, mfa_approval_challenge_id } = request;
    const approval = signinKeys.readApprovalId(mfa_approval_challenge_id ?? '');
    return {
      ...codeOf(request),
      appPassword: app_password ?? undefined,
      trustedDeviceToken: trusted_device_token ?? undefined,
      assertionResponse: authenticator_response ?? undefined,
      approvalSecret: approval?.secret,
    };
  }

  async function login(
    context: RequestContext<'public'>,
    request: z.infer<typeof loginRequest>,
  ): Promise<RouteReply> {
    const { actors, ask, client } = context;
    const { email, password, code_verifier: codeVerifier, api } = request;
    if (!email?.trim()) return refusedAnswer(missingCredentials);
    const address = addressOf(settings, email, request.workspace_identifier);
    const reply = await actors.get(Signin, signinKeys.actorId(address)).ask.login(
      {
        ...address,
        password: password ?? '',
        codeVerifier: codeVerifier ?? '',
        apiVersion: api ?? '',
        ephemeral: request.ephemeral ?? false,
        hvmToken: request.hvm_token ?? undefined,
        device: client,
        cookieSessions: sessionsOf(context),
      },
      ask,
    );
    if (isGuess(reply) && client.ipAddress !== null) signInFailed?.(client.ipAddress);
    return signInAnswer(reply, { cookies, captchaUiUrl });
  }

  const paramsRoute = (method: Method, path: string, summary: string) =>
    route({
      method,
      path,
      access: 'optional-session',
      summary,
      tag,
      request: loginParamsRequest,
      replies: { 200: keyParamsSchema, 400: errorBodySchema, 401: errorBodySchema, 423: errorBodySchema },
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

const isCodeName = (name: string): boolean => name.startsWith('mfa_') && name !== 'mfa_approval_challenge_id';

/** `mfa_code`, or what stands under a name that an earlier refusal gave. */
function codeOf(request: LoginParamsRequest): { codeName?: string; code?: string } {
  const given = Object.entries(request).find(
    ([name, value]) => isCodeName(name) && typeof value === 'string',
  );
  const [codeName, code] = given ?? ['magic_link_code', request.magic_link_code];
  if (typeof code !== 'string' || code === '' || code.length > 64) return {};
  return { code, ...(isCodeName(codeName) && { codeName: codeName.slice(0, 64) }) };
}

/** The sessions named by the request's cookies, ended or not. The newest come last. */
function sessionsOf({ cookies }: Pick<RequestContext<'public'>, 'cookies'>): readonly string[] {
  const names = [...cookies.keys()].filter((name) => name.startsWith(accessCookiePrefix));
  return names
    .map((name) => name.slice(accessCookiePrefix.length))
    .filter((uuid) => uuid.length === uuidCharacters)
    .slice(-cookieSessionsMax);
}

/** Whether a sign-in was refused as a failed attempt, and not because the request lacks something. */
const isGuess = (reply: Answer<unknown>): boolean =>
  isRefused(reply) && reply.refused.captchaRequired !== undefined;

/** Undefined: the bearer has no living session, and the caller counts as unauthenticated. */
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
