/** Open sessions: refresh, logout, list, revoke (docs/protocol/authentication.md). */
import { z } from 'zod';
import { sessionApiVersions } from '../../actors/identity/session.ts';
import type { Credentials } from '../../actors/identity/session-tokens.ts';
import { Sessions } from '../../actors/user/sessions/contract.ts';
import { unlimited } from '../admission/rate-limit.ts';
import {
  accessCookiePrefix,
  clearedSessionCookies,
  refreshCookiePrefix,
  secretsOf,
} from '../http/cookies.ts';
import { tooManyRequests } from '../http/refusal.ts';
import type { AnyRoute, RequestContext, RouteReply } from '../http/route.ts';
import { answeredOr, family, refusedAnswer } from './endpoint.ts';
import type { RoutesOptions } from './options.ts';
import { refreshBodySchema, sessionAnswer } from './sign-in-answer.ts';

/** The routes of signing in have this tag, too. */
export const tag = 'Sign-in and sessions';
const { endpoint, route } = family({ tag });

const refreshRequest = z.object({
  access_token: z.string().min(1).max(1_024),
  refresh_token: z.string().min(1).max(1_024),
  api: z.string().max(64).nullish(),
});
type RefreshBody = z.infer<typeof refreshRequest>;

const invalidSessionToken = { status: 401, message: 'Invalid session token.' } as const;
const invalidParameters = {
  status: 400,
  tag: 'invalid-parameters',
  message: 'The provided parameters are not valid.',
} as const;

/** Two tokens and the version, with some reserve. */
const refreshBytesMax = 4_096;

/**
 * A client without a version in its refresh gets that of the first clients with sessions
 * (docs/protocol/authentication.md, "Refresh").
 */
const defaultRefreshVersion = '20200115';

const sessionListRoutes: readonly AnyRoute[] = [
  endpoint('GET /v1/sessions', {
    command: Sessions.commands.listSessions,
    summary: 'The sessions of the account, the one that would live longest first.',
    refusals: [400],
  }),
  endpoint('DELETE /v1/sessions/:sessionUuid', {
    command: Sessions.commands.deleteSession,
    status: 204,
    summary: 'Revoke another session of the account; its client wipes its data.',
    refusals: [400],
  }),
  endpoint('DELETE /v1/sessions', {
    command: Sessions.commands.deleteOtherSessions,
    status: 204,
    summary: 'Revoke all other sessions of the account.',
    refusals: [400],
  }),
];

export function sessionRoutes({
  sessionTokens,
  cookies,
  refreshLimiter,
}: RoutesOptions): readonly AnyRoute[] {
  async function refresh(context: RequestContext<'public'>, request: RefreshBody): Promise<RouteReply> {
    const apiVersion = request.api ?? defaultRefreshVersion;
    const access = sessionTokens.verify(request.access_token, secretsOf(context.cookies, accessCookiePrefix));
    const waitMs = waitToRefreshMs(context, access);
    if (waitMs > 0) return refusedAnswer(tooManyRequests(waitMs));
    if (access === undefined || !sessionApiVersions.includes(apiVersion)) {
      return refusedAnswer(invalidParameters);
    }
    const { actors, client: device, ask } = context;
    const refreshSecrets = refreshSecretsOf(context, access, request.refresh_token);
    const answer = actors
      .get(Sessions, access.userUuid)
      .ask.refresh({ access, refreshSecrets, apiVersion, device }, ask);
    return answeredOr(invalidParameters, answer, sessionAnswer(cookies));
  }

  /** A device that cannot refresh is signed out, so it must not wait behind a crowd that shares its address. */
  function waitToRefreshMs({ client }: RequestContext<'public'>, access: Credentials | undefined): number {
    if (access !== undefined) return refreshLimiter.take(refreshLimiter.session, access.userUuid);
    return refreshLimiter.take(refreshLimiter.public, client.ipAddress ?? '');
  }

  /**
   * For a header session, whose tokens carry them, the secrets in the body. Otherwise those of the cookies
   * (docs/protocol/authentication.md, "Refresh").
   */
  function refreshSecretsOf(
    { cookies }: RequestContext<'public'>,
    access: Credentials,
    refreshToken: string,
  ): readonly string[] {
    if (access.style === 2) return secretsOf(cookies, refreshCookiePrefix);
    const refresh = sessionTokens.verify(refreshToken);
    return refresh?.style === 1 ? refresh.secrets : [];
  }

  async function logout({
    actors,
    credentials,
    ask,
  }: RequestContext<'optional-session'>): Promise<RouteReply> {
    if (credentials === undefined) return refusedAnswer(invalidSessionToken);
    const answer = actors.get(Sessions, credentials.userUuid).ask.logout({ credentials }, ask);
    return answeredOr(invalidSessionToken, answer, ({ sessionUuid }) => ({
      status: 204,
      setCookies: clearedSessionCookies(cookies, sessionUuid),
    }));
  }

  return [
    ...sessionListRoutes,
    route('POST /v1/sessions/refresh', {
      access: 'public',
      summary: 'Exchange a pair of session tokens for a new one.',
      request: refreshRequest,
      replies: { 200: refreshBodySchema },
      refusals: [400, 429],
      bodyLimit: refreshBytesMax,
      rate: unlimited,
      handle: refresh,
    }),
    route('POST /v1/logout', {
      access: 'optional-session',
      summary: 'End the session; an expired access token will do.',
      request: z.object({}),
      replies: { 204: z.undefined() },
      refusals: [401],
      handle: logout,
    }),
  ];
}
