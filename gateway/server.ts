/**
 * The entry point for HTTP and sockets: a listening socket, the requests in flight and their ends.
 *
 * Shutdown: `drain` turns readiness red, stops listening, and signals long-running work to finish. Every reply ends its
 * connection from then on. It closes the sockets one after another. Then it waits, within a bound, until no request is in flight
 * and none has come or gone for a while. It closes the other connections (drain.ts).
 */
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { siteOf } from '../actors/identity/network.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Subscribe } from '../runtime/events.ts';
import type { Actors } from '../runtime/handles.ts';
import { meterOf } from '../runtime/meter.ts';
import type { Random } from '../runtime/random.ts';
import type { Readiness } from '../runtime/readiness.ts';
import type { Tracer } from '../runtime/tracing.ts';
import { type AccessKeyOptions, createAccessKeyGate } from './admission/access-key.ts';
import { createAdmission } from './admission/admission.ts';
import { createSessionCheck, type VerifyBearer } from './admission/bearer.ts';
import { type ClientAddress, createClientAddress } from './admission/client-address.ts';
import { createCors } from './admission/cors.ts';
import { createRateLimiter, type RateBucket } from './admission/rate-limit.ts';
import { acceptWaiting, lastPartMs, untilQuiet } from './drain.ts';
import { AccessLog } from './http/access-log.ts';
import { BodyMemory } from './http/body.ts';
import type { BodyWriterOptions } from './http/body-writer.ts';
import { Connections } from './http/connections.ts';
import { Exchange, type ExchangeOptions } from './http/exchange.ts';
import { Framing } from './http/headers.ts';
import { createHttps } from './http/https.ts';
import { LargeBodies } from './http/large-bodies.ts';
import { RouteMetrics } from './http/metrics.ts';
import { createEnvelope } from './http/outgoing.ts';
import { ReplyCapacity } from './http/reply-capacity.ts';
import { ReplyMemory } from './http/reply-memory.ts';
import type { AnyRoute, Area } from './http/route.ts';
import { createRouter } from './http/router.ts';
import { UploadScheduler, type UploadWatermarks } from './http/upload-scheduler.ts';
import {
  App,
  type HttpRequest,
  type HttpResponse,
  LIBUS_LISTEN_EXCLUSIVE_PORT,
  type us_listen_socket,
  us_listen_socket_close,
  us_socket_local_port,
} from './http/uws.ts';
import type { GatewaySettings } from './settings.ts';
import { HandshakeLimiter } from './sockets/handshake-limiter.ts';
import { openSockets } from './sockets/sockets.ts';
import { openLane } from './sockets/sync-lane/lane.ts';
import type { SyncTickets } from './sockets/sync-lane/tickets.ts';
import type { SocketTokens } from './sockets/tokens.ts';

/** The gateway's own settings, and values that it derives from those of the process. */
export interface GatewayConfig extends GatewaySettings {
  readonly accessKey?: AccessKeyOptions | undefined;
  /** Whether clients reach the server over https, according to its operator. */
  readonly isPublicUrlHttps: boolean;
  /** How long `drain` takes at most: it closes the sockets, and waits for requests in flight. */
  readonly drainTimeoutMs: number;
  /** How long nothing must have come before `drain` closes connections without a reply: half a second at least. */
  readonly drainIdleMs: number;
  /** Several processes of one machine listen on the same port, and the system spreads connections over them. */
  readonly sharesPort: boolean;
}

export interface GatewayOptions {
  readonly routes: readonly AnyRoute[];
  readonly areas?: readonly Area[];
  readonly actors: Actors;
  readonly config: GatewayConfig;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly registry: Registry;
  readonly readiness: Readiness;
  readonly verifyBearer: VerifyBearer;
  readonly socketTokens: SocketTokens;
  readonly syncTickets: SyncTickets;
  /** The channel of events from hosts. */
  readonly subscribe: Subscribe;
  /** Absent: nothing is traced. */
  readonly tracer?: Tracer | undefined;
}

export interface Gateway {
  /** Resolves to the port in use, which is `port` unless that is 0. Rejects when it is not available. */
  listen(host: string, port: number): Promise<number>;
  /** Resolves once everything is closed: when no request is in flight any more, or the time for that has passed. */
  drain(): Promise<void>;
  /** Closes everything at once. */
  close(): void;
}

const sweepEveryMs = 1_000;
const sweptAtOnce = 200;
const sweepPauseMs = 5;

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: it composes the parts of the gateway.
export function createGateway(options: GatewayOptions): Gateway {
  const { routes, actors, config, clock, random, registry } = options;
  const app = App();
  const inFlight = new Set<Exchange>();
  const metrics = new RouteMetrics(routes);
  const bodyMemory = new BodyMemory(config.bodyMemoryBytes, bodyShareBytes(config));
  const replyMemory = new ReplyMemory(config.replyMemoryBytes, config.userReplyMemoryBytes);
  const replyCapacity = new ReplyCapacity(config.shareMemoryBytes, clock);
  const framing = new Framing();
  const replies: BodyWriterOptions = { clock, replyMemory, limits: config };
  const runId = random.bytes(6).toString('base64url');
  // Recorded replies are sealed under their call ids. So these must not be derivable from request ids, which are public.
  const callIdPrefix = `${random.bytes(24).toString('base64url')}-`;
  let requests = 0;
  let calls = 0;
  let listenSocket: us_listen_socket | undefined;
  let draining = false;
  let sweeping = false;
  let answered = 0;

  const requestId = () => {
    requests += 1;
    return `${runId}-${requests.toString(36)}`;
  };
  const log = new AccessLog(options.logger, options.clock);
  const heads = {
    cors: createCors(config.cors),
    gate: createAccessKeyGate(config.accessKey),
    limiter: createRateLimiter(config.rateLimits, clock, declaredBuckets(routes)),
    clientAddress: createClientAddress(config.trustProxy),
  };
  const connections = new Connections(app, {
    ...config,
    clock,
    log: options.logger,
    networkOf: (res) => networkOfPeer(res, heads.clientAddress),
  });

  const exchangeOptions: ExchangeOptions = {
    ...replies,
    actors,
    clock,
    bodyMemory,
    uploadScheduler: new UploadScheduler(uploadWatermarks(config)),
    replyCapacity,
    largeBodies: new LargeBodies(),
    checkSession: createSessionCheck(actors),
    metrics,
    limits: config,
    envelope: createEnvelope(config.filesServerUrl),
    log,
    tracer: options.tracer,
    admission: createAdmission({
      ...heads,
      https: createHttps({ ...config, clientAddress: heads.clientAddress, log: options.logger }),
      router: createRouter(routes, options.areas),
      verifyBearer: options.verifyBearer,
    }),
    callId() {
      calls += 1;
      return `${callIdPrefix}${calls.toString(36)}`;
    },
    isDraining: () => draining,
    holdConnection: (res) => connections.hold(res),
    endsConnection: (res) => draining || connections.endsConnection(res),
    watchSession: (claims, ended) => sockets.watchSession(claims, ended),
    onDone: (exchange) => {
      inFlight.delete(exchange);
      answered += 1;
    },
  };

  function onRequest(res: HttpResponse, req: HttpRequest): void {
    const headers = framing.headersOf(res, req);
    if (headers === undefined) return;
    const exchange = new Exchange(exchangeOptions, res, requestId());
    inFlight.add(exchange);
    exchange.accept(req, headers);
    if (!sweeping && inFlight.size > 0) scheduleSweep();
  }

  /** One timer for all requests in flight, and none while there are none. */
  function scheduleSweep(): void {
    sweeping = true;
    clock.schedule(sweepEveryMs, () => sweep(inFlight.values()));
  }

  /** Looks at a few at a time. After a restart thousands of requests wait for their turn, and all at once would block the event loop. */
  function sweep(exchanges: IterableIterator<Exchange>): void {
    const nowMs = clock.monotonicMs();
    for (let swept = 0; swept < sweptAtOnce; swept += 1) {
      const { value, done } = exchanges.next();
      if (done) {
        sweeping = false;
        if (inFlight.size > 0) scheduleSweep();
        return;
      }
      value.overdue(nowMs);
    }
    clock.schedule(sweepPauseMs, () => sweep(exchanges));
  }

  function stopListening(): void {
    if (listenSocket !== undefined) us_listen_socket_close(listenSocket);
    listenSocket = undefined;
  }

  function close(): void {
    stopListening();
    sockets.stop();
    app.close();
  }

  const handshakes = new HandshakeLimiter();
  const sockets = openSockets(app, {
    ...options,
    ...heads,
    handshakes,
    tokens: options.socketTokens,
    limits: config.sockets,
    log,
    replies,
    framing,
    connections,
    requestId,
    isDraining: () => draining,
  });
  const lane = openLane(app, {
    ...options,
    ...heads,
    handshakes,
    settings: config.syncLane,
    socketsMax: config.sockets.socketsMax,
    tickets: options.syncTickets,
    log,
    replies,
    framing,
    connections,
    requestId,
    isDraining: () => draining,
    watchWhileAsking: (claims, ended) => sockets.watchWhileAsking(claims, ended),
  });
  app.any('/*', onRequest);
  metrics.register(registry);
  const { gauge } = meterOf(registry);
  gauge(
    'scriptorium_http_connections',
    'Open connections of clients, sockets included.',
    () => connections.open,
  );
  gauge('scriptorium_http_connections_refused', 'Connections closed as too many.', () => connections.refused);
  gauge(
    'scriptorium_http_connections_refused_by_share',
    'Of these, connections of networks that had their share.',
    () => connections.refusedByShare,
  );
  gauge('scriptorium_http_requests_in_flight', 'Requests whose reply is not complete.', () => inFlight.size);
  gauge(
    'scriptorium_http_unfinished_body_bytes',
    'Bytes of request bodies held unparsed.',
    () => bodyMemory.bytes,
  );
  gauge(
    'scriptorium_http_unsent_reply_bytes',
    'Bytes of replies held for slow readers.',
    () => replyMemory.bytes,
  );
  gauge(
    'scriptorium_http_reply_room_bytes',
    'Bytes taken for replies that are not broken off.',
    () => replyCapacity.bytes,
  );
  gauge(
    'scriptorium_http_requests_aborted',
    'Requests whose client left before the reply.',
    () => metrics.aborted,
  );
  gauge(
    'scriptorium_http_ambiguous_requests',
    'Connections closed for a body of unclear length.',
    () => framing.refused,
  );
  gauge(
    'scriptorium_http_replies_cut',
    'Replies broken off: a slow reader, or a stream that failed.',
    () => metrics.cut,
  );

  return {
    close,
    listen: (host, port) =>
      new Promise((resolve, reject) => {
        listenOn({
          app,
          host,
          port,
          options: config.sharesPort ? sharedPort : LIBUS_LISTEN_EXCLUSIVE_PORT,
          done: (socket) => {
            if (socket === false) {
              reject(
                new Error(
                  `Cannot listen on ${host} port ${port}: the port is taken, or opening it is not permitted.`,
                ),
              );
              return;
            }
            listenSocket = socket;
            resolve(us_socket_local_port(socket as unknown as Parameters<typeof us_socket_local_port>[0]));
          },
        });
      }),
    async drain() {
      const untilMs = clock.monotonicMs() + config.drainTimeoutMs;
      options.readiness.startDraining();
      await acceptWaiting(clock);
      stopListening();
      draining = true;
      for (const exchange of inFlight) exchange.drain();
      const socketsMs = Math.max(0, config.drainTimeoutMs - lastPartMs);
      await Promise.all([sockets.drain(socketsMs), lane.drain(socketsMs)]);
      const progress = () => requests + answered;
      await untilQuiet({ clock, connections, inFlight, progress, idleMs: config.drainIdleMs, untilMs });
      close();
    },
  };
}

/** A user has memory for the largest body and a few others beside it, and at least a quarter of all. */
const otherBodiesBytes = 8 * 1024 * 1024;
const bodyShareBytes = ({ bodyMemoryBytes, largeBodyBytes }: GatewayConfig): number =>
  Math.max(Math.floor(bodyMemoryBytes / 4), largeBodyBytes + otherBodiesBytes);

/** Streams need little, because they are held back: just enough to keep the store of files busy. */
const uploadWatermarks = ({ bodyMemoryBytes }: GatewayConfig): UploadWatermarks => ({
  userBytes: bodyMemoryBytes / 32,
  allBytes: bodyMemoryBytes / 8,
});

const sharedPort = 0;

/** By default uWebSockets.js shares a port that is in use. The typings lack this form of the call. */
function listenOn({
  app,
  host,
  port,
  options,
  done,
}: {
  readonly app: ReturnType<typeof App>;
  readonly host: string;
  readonly port: number;
  readonly options: number;
  readonly done: (socket: us_listen_socket | false) => void;
}): void {
  type Listen = (
    host: string,
    port: number,
    options: number,
    done: (socket: us_listen_socket | false) => void,
  ) => void;
  (app.listen as unknown as Listen).call(app, host, port, options, done);
}

/** The /48 for IPv6, because one customer may have tens of thousands of /64 networks. */
function networkOfPeer(res: HttpResponse, clientAddress: ClientAddress): string | undefined {
  const peer = Buffer.from(res.getRemoteAddressAsText()).toString('latin1');
  return clientAddress.isProxy(peer) ? undefined : siteOf(clientAddress.resolve(peer, ''));
}

const declaredBuckets = (routes: readonly AnyRoute[]): readonly RateBucket[] =>
  routes.flatMap(({ rate }) => (rate === undefined ? [] : [rate]));
