/** Sessions once they are open: refresh, logout, list, revoke (auth.md 3.6 to 3.9; spec, Sign-in and sessions). */
import { z } from 'zod';
import {
  type Credentials,
  isRefused,
  refreshCookiePrefix,
  type SessionTokens,
  secretsOf,
  sessionApiVersions,
  sessionBodySchema,
  sessionEntrySchema,
  User,
} from '../../actors/mod.ts';
import { NotFoundError } from '../../runtime/errors.ts';
import { type CookieOptions, clearedSessionCookies } from '../http/cookies.ts';
import { type AnyRoute, type RequestContext, type RouteReply, route } from '../http/route.ts';
import { errorBodySchema, sessionAnswer } from './sign-in-answer.ts';
import { refusedAnswer, signedInAnswer } from './signed-in.ts';

export interface SessionRouteOptions {
  readonly tokens: Pick<SessionTokens, 'verify'>;
  readonly cookies: CookieOptions;
}

export const tag = 'Sign-in and sessions';

const refreshRequest = z.object({
  access_token: z.string().min(1).max(1_024),
  refresh_token: z.string().min(1).max(1_024),
  api: z.string().max(64).nullish(),
});
type RefreshRequest = z.infer<typeof refreshRequest>;

const refreshBody = z.object({ session: sessionBodySchema });

const invalidSessionToken = { status: 401, message: 'Invalid session token.' } as const;
const invalidParameters = {
  status: 400,
  tag: 'invalid-parameters',
  message: 'The provided parameters are not valid.',
} as const;

/** A client that does not say which version it speaks refreshes as the first that had sessions (auth.md 3.6). */
const defaultRefreshVersion = '20200115';

const sessionListRoutes: readonly AnyRoute[] = [
  route({
    method: 'GET',
    path: '/v1/sessions',
    safe: true,
    access: 'session',
    summary: 'The sessions of the account, the one that would live longest first.',
    tag,
    request: z.object({}),
    replies: { 200: z.array(sessionEntrySchema) },
    handle: ({ actors, credentials, ask }) =>
      signedInAnswer(
        actors.get(User, credentials.userUuid).ask.listSessions({ credentials }, ask),
        (body) => ({
          status: 200,
          body,
        }),
      ),
  }),
  route({
    method: 'DELETE',
    path: '/v1/sessions/:uuid',
    access: 'session',
    summary: 'Revoke another session of the account; its client wipes its data.',
    tag,
    request: z.object({ uuid: z.string() }),
    replies: { 204: z.undefined(), 400: errorBodySchema, 403: errorBodySchema },
    bodyLimit: 'small',
    handle: ({ actors, credentials, ask }, { uuid: sessionUuid }) =>
      signedInAnswer(
        actors.get(User, credentials.userUuid).ask.deleteSession({ credentials, sessionUuid }, ask),
        () => ({ status: 204 }),
      ),
  }),
  route({
    method: 'DELETE',
    path: '/v1/sessions',
    access: 'session',
    summary: 'Revoke all other sessions of the account.',
    tag,
    request: z.object({}),
    replies: { 204: z.undefined(), 403: errorBodySchema },
    bodyLimit: 'small',
    handle: ({ actors, credentials, ask }) =>
      signedInAnswer(
        actors.get(User, credentials.userUuid).ask.deleteOtherSessions({ credentials }, ask),
        () => ({ status: 204 }),
      ),
  }),
];

export function sessionRoutes({ tokens, cookies }: SessionRouteOptions): readonly AnyRoute[] {
  async function refresh(context: RequestContext<'public'>, request: RefreshRequest): Promise<RouteReply> {
    const apiVersion = request.api ?? defaultRefreshVersion;
    const access = tokens.verify(request.access_token, context.cookies);
    if (access === undefined || !sessionApiVersions.includes(apiVersion)) {
      return refusedAnswer(invalidParameters);
    }
    try {
      const reply = await context.actors.get(User, access.userUuid).ask.refresh(
        {
          access,
          refreshSecrets: refreshSecrets(context, access, request.refresh_token),
          apiVersion,
          device: context.client,
        },
        context.ask,
      );
      return isRefused(reply) ? refusedAnswer(reply.refused) : sessionAnswer(cookies, reply);
    } catch (error) {
      if (error instanceof NotFoundError) return refusedAnswer(invalidParameters);
      throw error;
    }
  }

  /** Of the body for a header session, whose tokens carry them; else of the cookies (auth.md 3.6). */
  function refreshSecrets(
    { cookies }: RequestContext<'public'>,
    access: Credentials,
    refreshToken: string,
  ): readonly string[] {
    if (access.style === 2) return secretsOf(cookies, refreshCookiePrefix);
    const refresh = tokens.verify(refreshToken, cookies);
    return refresh?.style === 1 ? refresh.secrets : [];
  }

  async function logout({
    actors,
    credentials,
    ask,
  }: RequestContext<'optional-session'>): Promise<RouteReply> {
    if (credentials === undefined) return refusedAnswer(invalidSessionToken);
    try {
      const reply = await actors.get(User, credentials.userUuid).ask.logout({ credentials }, ask);
      if (isRefused(reply)) return refusedAnswer(reply.refused);
      return { status: 204, setCookies: clearedSessionCookies(cookies, reply.sessionUuid) };
    } catch (error) {
      if (error instanceof NotFoundError) return refusedAnswer(invalidSessionToken);
      throw error;
    }
  }

  return [
    ...sessionListRoutes,
    route({
      method: 'POST',
      path: '/v1/sessions/refresh',
      access: 'public',
      summary: 'Exchange a pair of session tokens for a new one.',
      tag,
      request: refreshRequest,
      replies: { 200: refreshBody, 400: errorBodySchema, 429: errorBodySchema },
      bodyLimit: 'small',
      handle: refresh,
    }),
    route({
      method: 'POST',
      path: '/v1/logout',
      access: 'optional-session',
      summary: 'End the session; an expired access token will do.',
      tag,
      request: z.object({}),
      replies: { 204: z.undefined(), 401: errorBodySchema },
      bodyLimit: 'small',
      handle: logout,
    }),
  ];
}
