/**
 * The sync lane of a gateway (docs/protocol/sockets.md, "The sync lane"): admission, the slots of users and of the process, and
 * the end of all sockets.
 *
 * The lane refuses an upgrade over HTTP, before there is a socket. The library pings a socket that was silent for
 * more than a minute and a half, and drops one that does not answer.
 */
import type { Registry } from 'prom-client';
import type { Credentials } from '../../../actors/identity/session-tokens.ts';
import { SyncLane } from '../../../actors/user/sync-lane/contract.ts';
import { type Clock, sleep } from '../../../runtime/clock.ts';
import { NotFoundError } from '../../../runtime/errors.ts';
import type { Actors } from '../../../runtime/handles.ts';
import type { Random } from '../../../runtime/random.ts';
import type { Tracer } from '../../../runtime/tracing.ts';
import { type AccessKeyGate, accessKeyHeader } from '../../admission/access-key.ts';
import type { ClientAddress } from '../../admission/client-address.ts';
import type { RateLimiter } from '../../admission/rate-limit.ts';
import type { RequestHeaders } from '../../http/headers.ts';
import { type HttpRefusal, refusalHeaders, refusalJson, tooManyRequests } from '../../http/refusal.ts';
import { anonymousReader, jsonType, Responder } from '../../http/responder.ts';
import { DISABLED, type HttpRequest, type HttpResponse, type TemplatedApp } from '../../http/uws.ts';
import type { GatewaySettings } from '../../settings.ts';
import { endingConnection, endsConnection, socketPath } from '../admission.ts';
import type { SocketSurroundings } from '../endpoint.ts';
import type { Sockets } from '../sockets.ts';
import { LaneMemory } from './budget.ts';
import { LaneCommands } from './commands.ts';
import { laneFrameBytesMax } from './envelope.ts';
import { type LaneServices, LaneSocket, type Redeemed } from './lane-socket.ts';
import { prometheusLaneMetrics, type UpgradeRefusal } from './metrics.ts';
import { createOriginCheck } from './origins.ts';
import type { SyncTicket, SyncTickets } from './tickets.ts';

export const lanePath = '/sockets/sync';

export interface LaneOptions extends SocketSurroundings {
  readonly actors: Actors;
  readonly clock: Clock;
  readonly random: Random;
  readonly registry: Registry;
  readonly settings: GatewaySettings['syncLane'];
  readonly socketsMax: number;
  readonly tickets: Pick<SyncTickets, 'verify'>;
  readonly gate: AccessKeyGate | undefined;
  readonly limiter: RateLimiter;
  readonly clientAddress: ClientAddress;
  readonly watchWhileAsking: Sockets['watchWhileAsking'];
  readonly tracer?: Tracer | undefined;
}

export interface Lane {
  /** Answers all accepted commands, and closes all sockets within this time. */
  drain(withinMs: number): Promise<void>;
}

/** The library copies the fields of this object, so anything with an identity is inside one of them. */
interface UserData {
  readonly socket: LaneSocket;
  readonly endHold: () => void;
}

const redeemMs = 4_000;
/** Existing clients wait seven seconds for the answer to an AUTH. */
const authWaitMaxMs = 5_000;
/** More than the largest frame, so that a larger one gets a close with the reason. */
const payloadBytesMax = laneFrameBytesMax + 32 * 1_024;
/** When clients connect again in a burst, most of them are authenticated within a second. */
const unauthenticatedMax = 5_000;
const closeIntervalMs = 1;
const closeTickMs = 50;

interface RefusedUpgrade {
  readonly reason: UpgradeRefusal;
  readonly refusal: HttpRefusal;
}

const refused = (
  reason: UpgradeRefusal,
  status: number,
  message: string,
  retryAfterMs?: number,
): RefusedUpgrade => ({
  reason,
  refusal: { status, message, ...(retryAfterMs !== undefined && { retryAfterMs }) },
});
const tryAgain = 'Please try again.';
const laneDisabled = refused('disabled', 404, 'There is no sync lane on this server.');
const restarting = refused('draining', 503, `The server is about to restart. ${tryAgain}`, 1_000);
const full = refused('full', 503, `The server has too many connections at the moment. ${tryAgain}`, 30_000);
const tooManyAtOnce = refused(
  'full',
  503,
  `Too many clients are connecting at the moment. ${tryAgain}`,
  30_000,
);
const noUpgrade = refused('connection', endingConnection.status, endingConnection.message);
const noQuery = refused('query', 400, 'The address of the sync lane has no query.');
const foreignOrigin = refused('origin', 403, 'Pages of this origin may not connect.');
const accessRestricted = refused('access-key', 401, 'Access to this server is restricted.');

function refusalOfForm(req: HttpRequest, headers: RequestHeaders): RefusedUpgrade | undefined {
  if (endsConnection(headers)) return noUpgrade;
  return req.getQuery() === undefined ? undefined : noQuery;
}

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: the functions of one lane share its state.
export function openLane(app: TemplatedApp, options: LaneOptions): Lane {
  const { actors, clock, random, settings, tickets, limiter, gate, clientAddress, log } = options;
  const allSockets = new Set<LaneSocket>();
  const users = new Map<string, Set<LaneSocket>>();
  const admitsOrigin = createOriginCheck(settings, clientAddress);
  const memory = new LaneMemory(settings.memoryBytes);
  let unauthenticated = 0;
  const metrics = prometheusLaneMetrics(options.registry, {
    sockets: () => allSockets.size,
    bytes: () => memory.bytes,
  });
  const failed = (error: unknown) => log.failed(undefined, options.requestId(), error);

  async function redeem({ userUuid, ...ticket }: SyncTicket, gateway?: string): Promise<Redeemed> {
    try {
      const fields = { ...ticket, attempt: random.uuid(), gateway };
      return await actors.get(SyncLane, userUuid).ask.spendSyncTicket(fields, { deadlineMs: redeemMs });
    } catch (error) {
      if (error instanceof NotFoundError) return { verdict: 'gone' };
      throw error;
    }
  }

  const services: LaneServices = {
    commands: new LaneCommands({ actors, clock, random, failed, tracer: options.tracer }),
    metrics,
    memory,
    nowMs: () => clock.monotonicMs(),
    schedule: (delayMs, callback) => clock.schedule(delayMs, callback),
    isDraining: options.isDraining,
    verify: (ticket, deviceId) => tickets.verify(ticket, deviceId),
    handshake: (redeemed, refused) => options.handshakes.run(redeemed, refused, authWaitMaxMs),
    redeem,
    admit(socket, userUuid) {
      const sockets = users.get(userUuid) ?? new Set();
      if (sockets.size >= settings.socketsPerUserMax) return false;
      users.set(userUuid, sockets.add(socket));
      unauthenticated -= 1;
      return true;
    },
    watch: ({ userUuid, identifier }: Credentials, ended) =>
      options.watchWhileAsking({ userUuid, sessionUuid: identifier }, ended),
    closed(socket) {
      allSockets.delete(socket);
      const { userUuid } = socket;
      const sockets = userUuid === undefined ? undefined : users.get(userUuid);
      if (sockets?.delete(socket) !== true) unauthenticated -= 1;
      else if (sockets.size === 0 && userUuid !== undefined) users.delete(userUuid);
    },
    failed,
  };

  function refusalOf(
    res: HttpResponse,
    req: HttpRequest,
    headers: RequestHeaders,
  ): RefusedUpgrade | undefined {
    const peer = () => Buffer.from(res.getRemoteAddressAsText()).toString('latin1');
    const waitMs = limiter.limits(limiter.public)
      ? limiter.take(limiter.public, clientAddress.resolve(peer(), headers.get('x-forwarded-for')))
      : 0;
    if (waitMs > 0) return { reason: 'rate-limit', refusal: tooManyRequests(waitMs) };
    if (!settings.isEnabled) return laneDisabled;
    const needsKey = gate?.guards('get', socketPath, socketPath) ?? false;
    if (needsKey && !gate?.isKey(headers.get(accessKeyHeader))) return accessRestricted;
    const ofForm = refusalOfForm(req, headers);
    if (ofForm !== undefined) return ofForm;
    if (!admitsOrigin(headers, peer)) return foreignOrigin;
    if (options.isDraining()) return restarting;
    if (allSockets.size >= options.socketsMax) return full;
    return unauthenticated >= unauthenticatedMax ? tooManyAtOnce : undefined;
  }

  app.ws<UserData>(lanePath, {
    compression: DISABLED,
    maxPayloadLength: payloadBytesMax,
    // The socket counts unread data itself, and says why it ends.
    maxBackpressure: 0,
    idleTimeout: settings.idleSeconds,
    sendPingsAutomatically: true,
    upgrade(res, req, context) {
      const headers = options.framing.headersOf(res, req);
      if (headers === undefined) return;
      const refusedUpgrade = refusalOf(res, req, headers);
      if (refusedUpgrade !== undefined) {
        metrics.refused(refusedUpgrade.reason);
        refuse(res, refusedUpgrade.refusal);
        return;
      }
      const socket = new LaneSocket(services);
      allSockets.add(socket);
      unauthenticated += 1;
      res.upgrade<UserData>(
        { socket, endHold: options.connections.hold(res) },
        headers.get('sec-websocket-key'),
        '',
        headers.get('sec-websocket-extensions'),
        context,
      );
    },
    open: (ws) => ws.getUserData().socket.opened(ws),
    message: (ws, message, isBinary) => ws.getUserData().socket.received(message, isBinary),
    ping: (ws) => ws.getUserData().socket.pinged(),
    drain: (ws) => ws.getUserData().socket.drained(),
    close(ws) {
      const { socket, endHold } = ws.getUserData();
      options.connections.socketClosed();
      endHold();
      socket.closed();
    },
  });

  function refuse(res: HttpResponse, refusal: HttpRefusal): void {
    const responder = new Responder(res, options.requestId(), options.replies, {
      reader: anonymousReader,
      done: () => {},
    });
    res.onAborted(() => responder.abort());
    responder.send({
      status: refusal.status,
      contentType: jsonType,
      body: refusalJson(refusal),
      headers: refusalHeaders(refusal),
    });
  }

  return {
    /** Closes sockets at random times, as most clients connect again at once. */
    async drain(withinMs) {
      const spreadMs = Math.min(withinMs, allSockets.size * closeIntervalMs);
      const due = [...allSockets]
        .map((socket) => ({ socket, atMs: spreadMs * random.fraction() }))
        .sort((a, b) => a.atMs - b.atMs);
      const ending: Promise<void>[] = [];
      let passedMs = 0;
      for (const { socket, atMs } of due) {
        for (; passedMs + closeTickMs <= atMs; passedMs += closeTickMs) await sleep(clock, closeTickMs);
        ending.push(socket.drain());
      }
      await Promise.race([Promise.all(ending), sleep(clock, withinMs)]);
    },
  };
}
