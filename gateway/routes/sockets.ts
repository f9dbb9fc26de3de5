/** The routes around `/sockets` (docs/protocol/sockets.md). The socket itself is gateway/sockets. */
import { z } from 'zod';
import { Sessions } from '../../actors/user/sessions/contract.ts';
import { SyncLane } from '../../actors/user/sync-lane/contract.ts';
import type { Actors, AskOptions } from '../../runtime/handles.ts';
import type { Readiness } from '../../runtime/readiness.ts';
import { refusalOf } from '../http/errors.ts';
import type { AnyRoute, RequestContext, RouteReply } from '../http/route.ts';
import type { GatewaySettings } from '../settings.ts';
import { HandshakeLimiter } from '../sockets/handshake-limiter.ts';
import { isIdentifier } from '../sockets/sync-lane/envelope.ts';
import { isLaneAdvertised } from '../sockets/sync-lane/origins.ts';
import { family, flat, refusedAnswer, signedInAnswer } from './endpoint.ts';
import type { RoutesOptions } from './options.ts';

const { route } = family({ tag: 'Realtime' });
const plain = family({ tag: 'Realtime', enveloped: false });
const nothing = z.object({});

const capability = { id: 'ws-sync', version: 1, endpoint: '/sockets/sync' } as const;
const capabilitySchema = z.object({ id: z.string(), version: z.number(), endpoint: z.string() });
const ticketSchema = z.object({
  ticket: z.string(),
  issuedAt: z.number(),
  expiresAt: z.number(),
  endpoint: z.string(),
  capability: z.string(),
  version: z.number(),
});
const codedErrorSchema = z.object({
  error: z.object({ code: z.string(), message: z.string(), transient: z.boolean().optional() }),
});

const originHeaders = ['origin', 'host'];
const notReadySeconds = '5';

/** Clients take it for a lasting answer unless it says `transient`. */
function unavailable(isTransient: boolean): RouteReply {
  const message = isTransient
    ? 'The sync lane is not ready yet. Items sync over HTTP.'
    : 'The sync lane is not available here. Items sync over HTTP.';
  const error = { code: 'SYNC_DISABLED', tag: 'SYNC_DISABLED', message };
  if (!isTransient) return { status: 503, body: { error } };
  return {
    status: 503,
    headers: { 'Retry-After': notReadySeconds },
    body: { error: { ...error, transient: true } },
  };
}

const invalidDevice: RouteReply = {
  status: 400,
  body: {
    error: {
      code: 'INVALID_DEVICE',
      message: 'The deviceId must have 1 to 128 characters: a letter or digit, then letters, digits and ._:-',
    },
  },
};

/** Clients that receive a 503 stop dialling until their user comes back, so a brief failure is a 504. */
const notNow: RouteReply = {
  status: 504,
  headers: { 'Retry-After': '1' },
  body: { error: { message: 'The server is busy at the moment. Please try again.' } },
};
const tokenMs = 10_000;

const plainText = 'text/plain; charset=utf-8';
const connectionHeaders = ['connectionid', 'authorization'];

export function socketRoutes(
  options: Pick<RoutesOptions, 'socketTokens' | 'syncTickets' | 'syncLane' | 'readiness'>,
  handshakes = new HandshakeLimiter(),
): readonly AnyRoute[] {
  const { socketTokens, syncTickets, syncLane, readiness } = options;
  const availability = createLaneAvailability(syncLane, readiness);
  const isAdvertised = (context: RequestContext<'public' | 'session'>): boolean =>
    isLaneAdvertised(syncLane, context.header('origin'), context.header('host'));

  async function mint(context: RequestContext<'session'>, deviceId: string): Promise<RouteReply> {
    const { actors, credentials, ask } = context;
    const ticket = actors.get(SyncLane, credentials.userUuid).ask.mintSyncTicket({ credentials }, ask);
    try {
      const answer = await signedInAnswer(ticket, ({ issuedAtMs, ...claims }) => ({
        status: 200,
        headers: { 'Cache-Control': 'no-store' },
        body: {
          ticket: syncTickets.mint({ ...claims, userUuid: credentials.userUuid }, deviceId),
          issuedAt: issuedAtMs,
          expiresAt: claims.expiresAtMs,
          endpoint: capability.endpoint,
          capability: capability.id,
          version: capability.version,
        },
      }));
      return flat(answer);
    } catch (error) {
      if (refusalOf(error)?.status === 503) return unavailable(true);
      throw error;
    }
  }

  /**
   * Sockets end at this server, so a report that one has ended leaves nothing to record. It only checks the token.
   */
  const opened = async (context: RequestContext<'public'>): Promise<RouteReply> => {
    const token = (context.header('authorization') ?? '').replace(/^Bearer +/i, '');
    if (context.header('connectionid') !== undefined && socketTokens.verify(token) === undefined) {
      return refusedAnswer({
        status: 400,
        message: 'The connection token is not valid.',
        withoutEnvelope: true,
      });
    }
    return noted(context);
  };

  const connectionRoute = (
    method: 'POST' | 'DELETE',
    summary: string,
    handle: (context: RequestContext<'public'>) => Promise<RouteReply>,
  ) =>
    plain.route(`${method} /v1/sockets/connections`, {
      access: 'public',
      summary,
      request: nothing,
      headers: connectionHeaders,
      replies: { 200: z.literal('') },
      refusals: [400],
      handle,
    });

  return [
    route('POST /v1/sockets/tokens', {
      access: 'session',
      summary: 'A token with which the session may open sockets at `/sockets` within a minute.',
      request: nothing,
      replies: { 200: z.object({ token: z.string() }) },
      refusals: [401, 504],
      handle: async ({ actors, credentials, ask }) => {
        try {
          return await handshakes.run(() => {
            const session = sessionOf(actors, credentials, { ...ask, deadlineMs: tokenMs });
            return signedInAnswer(session, ({ sessionUuid }) => ({
              status: 200,
              body: { token: socketTokens.mint({ userUuid: credentials.userUuid, sessionUuid }) },
            }));
          }, notNow);
        } catch (error) {
          if (refusalOf(error)?.status === 503) return notNow;
          throw error;
        }
      },
    }),
    connectionRoute('POST', 'Records a socket that a separate front end has opened.', opened),
    connectionRoute('DELETE', 'Takes note that such a socket has closed.', noted),
    plain.route('GET /v1/sockets/sync/capabilities', {
      safe: true,
      access: 'public',
      summary: 'Whether items may be synced over a socket: an empty list if not, or not at the moment.',
      request: nothing,
      headers: originHeaders,
      replies: { 200: z.object({ capabilities: z.array(capabilitySchema) }) },
      handle: async (context) => {
        const isThere = isAdvertised(context) && (await availability()) === 'available';
        return { status: 200, body: { capabilities: isThere ? [capability] : [] } };
      },
    }),
    plain.route('POST /v1/sockets/sync/ticket', {
      access: 'session',
      summary: 'A ticket that opens one socket at `/sockets/sync` within half a minute.',
      request: z.object({ deviceId: z.unknown().optional() }),
      headers: originHeaders,
      replies: { 200: ticketSchema, 400: codedErrorSchema, 503: codedErrorSchema },
      refusals: [401],
      handle: async (context, { deviceId }) => {
        if (!isAdvertised(context)) return unavailable(false);
        return handshakes.run(async () => {
          // Asked now: a process that has just started is often ready by the time a client may proceed.
          const state = await availability();
          if (state !== 'available') return unavailable(state === 'not-ready');
          return isIdentifier(deviceId) ? mint(context, deviceId) : invalidDevice;
        }, unavailable(true));
      },
    }),
  ];
}

/**
 * It takes no token, because the token has expired by the time its socket closes. So it does nothing for any caller.
 */
async function noted(context: RequestContext<'public'>): Promise<RouteReply> {
  if (context.header('connectionid') === undefined) {
    return { status: 400, contentType: plainText, body: 'The header connectionid is missing.' };
  }
  return { status: 200, contentType: plainText, body: '' };
}

const sessionOf = (actors: Actors, credentials: RequestContext<'session'>['credentials'], ask: AskOptions) =>
  actors.get(Sessions, credentials.userUuid).ask.validateSession({ credentials }, ask);

/**
 * Whether the lane is available (docs/protocol/sockets.md, "Whether the lane is there"). Clients take `disabled` for
 * a decision of the operator and stop asking, so every temporary cause is `not-ready`.
 */
type LaneState = 'available' | 'not-ready' | 'disabled';

type LaneAvailability = () => Promise<LaneState>;

function createLaneAvailability(
  { isEnabled, origins, sameOrigin }: GatewaySettings['syncLane'],
  readiness: Pick<Readiness, 'report'>,
): LaneAvailability {
  const isConfigured = isEnabled && (sameOrigin || origins.length > 0);
  return async () => {
    if (!isConfigured) return 'disabled';
    return (await readiness.report()).ready ? 'available' : 'not-ready';
  };
}
