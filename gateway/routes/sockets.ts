/** The routes around `/sockets` (docs/protocol/sockets.md). The socket itself is gateway/sockets. */
import { z } from 'zod';
import { User } from '../../actors/user/contract.ts';
import type { Actors, AskOptions } from '../../runtime/handles.ts';
import { type AnyRoute, type RequestContext, type RouteReply, route } from '../http/route.ts';
import type { SocketTokens } from '../sockets/tokens.ts';
import { errorBodySchema, refusedAnswer, signedInAnswer } from './answer.ts';

export interface SocketRouteOptions {
  readonly socketTokens: SocketTokens;
}

const tag = 'Realtime';
const nothing = z.object({});

const disabledBody = {
  error: {
    code: 'SYNC_DISABLED',
    tag: 'SYNC_DISABLED',
    message: 'Realtime sync is not available on this server. Items sync over HTTP.',
  },
};

const plainText = 'text/plain; charset=utf-8';
const connectionHeaders = ['connectionid', 'authorization'];

export function socketRoutes({ socketTokens }: SocketRouteOptions): readonly AnyRoute[] {
  /** Sockets end here, so one that ends elsewhere leaves nothing to record: only its token is checked. */
  const connection = async (context: RequestContext<'public'>): Promise<RouteReply> => {
    if (context.header('connectionid') === undefined) {
      return { status: 400, contentType: plainText, body: 'The header connectionid is missing.' };
    }
    const token = (context.header('authorization') ?? '').replace(/^Bearer +/i, '');
    if (socketTokens.verify(token) === undefined) {
      return refusedAnswer({ status: 400, message: 'The connection token is not valid.', bare: true });
    }
    return { status: 200, contentType: plainText, body: '' };
  };

  const connectionRoute = (method: 'POST' | 'DELETE', summary: string) =>
    route({
      method,
      path: '/v1/sockets/connections',
      access: 'public',
      summary,
      tag,
      enveloped: false,
      request: nothing,
      headers: connectionHeaders,
      replies: { 200: z.literal(''), 400: errorBodySchema },
      bodyLimit: 'small',
      handle: connection,
    });

  return [
    route({
      method: 'POST',
      path: '/v1/sockets/tokens',
      access: 'session',
      summary: 'A token by which the session may open one socket or more at `/sockets` within a minute.',
      tag,
      request: nothing,
      replies: { 200: z.object({ token: z.string() }), 401: errorBodySchema },
      bodyLimit: 'small',
      handle: ({ actors, credentials, ask }) =>
        signedInAnswer(sessionOf(actors, credentials, ask), ({ sessionUuid }) => ({
          status: 200,
          body: { token: socketTokens.mint({ userUuid: credentials.userUuid, sessionUuid }) },
        })),
    }),
    connectionRoute('POST', 'Takes note of a socket that a front of its own has opened.'),
    connectionRoute('DELETE', 'Takes note that such a socket has closed.'),
    route({
      method: 'GET',
      path: '/v1/sockets/sync/capabilities',
      safe: true,
      access: 'session',
      summary: 'What realtime sync offers: nothing, so that clients sync over HTTP.',
      tag,
      request: nothing,
      replies: { 200: z.object({ capabilities: z.array(z.string()) }), 401: errorBodySchema },
      handle: ({ actors, credentials, ask }) =>
        signedInAnswer(sessionOf(actors, credentials, ask), () => ({
          status: 200,
          body: { capabilities: [] },
        })),
    }),
    route({
      method: 'POST',
      path: '/v1/sockets/sync/ticket',
      access: 'session',
      summary: 'A ticket for realtime sync, which this server does not offer.',
      tag,
      request: nothing,
      replies: { 401: errorBodySchema, 503: errorBodySchema },
      bodyLimit: 'small',
      handle: ({ actors, credentials, ask }) =>
        signedInAnswer(sessionOf(actors, credentials, ask), () => ({ status: 503, body: disabledBody })),
    }),
  ];
}

const sessionOf = (actors: Actors, credentials: RequestContext<'session'>['credentials'], ask: AskOptions) =>
  actors.get(User, credentials.userUuid).ask.validateSession({ credentials }, ask);
