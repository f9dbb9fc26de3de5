/** A gateway on a free loopback port, with routes of the test's own and nothing behind it. */
import { connect, type Socket } from 'node:net';
import { Writable } from 'node:stream';
import type { ExecutionContext } from 'ava';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { z } from 'zod';
import type { Credentials } from '../../actors/identity/session-tokens.ts';
import type { VerifyBearer } from '../../gateway/admission/bearer.ts';
import { type AnyRoute, type Area, type Method, route } from '../../gateway/http/route.ts';
import { createGateway, type Gateway, type GatewayConfig } from '../../gateway/server.ts';
import { gatewaySettings } from '../../gateway/settings.ts';
import { createSyncTickets, type SyncTickets } from '../../gateway/sockets/sync-lane/tickets.ts';
import { createSocketTokens, type SocketTokens } from '../../gateway/sockets/tokens.ts';
import { type Clock, systemClock } from '../../runtime/clock.ts';
import { createSubscribe } from '../../runtime/events/subscriptions.ts';
import type { Actors } from '../../runtime/handles.ts';
import { systemRandom } from '../../runtime/random.ts';
import { createReadiness, type Readiness } from '../../runtime/readiness.ts';
import { defaultsOf } from '../../runtime/setting.ts';
import type { Tracer } from '../../runtime/tracing.ts';
import { InProcessTransport } from '../../runtime/transport/in-process.ts';
import type { Transport } from '../../runtime/transport/transport.ts';
import { testShardCount } from './host.ts';

export interface TestGateway {
  readonly gateway: Gateway;
  readonly port: number;
  readonly url: string;
  readonly registry: Registry;
  readonly readiness: Readiness;
  /** The log lines so far, parsed. */
  readonly log: readonly Record<string, unknown>[];
}

/** The only bearer the test gateway knows. */
export const goodBearer = 'Bearer good';
export const goodCredentials: Credentials = {
  userUuid: '8d0b6a4e-0f3c-4a53-9c4b-0d8b7a9c1e2f',
  style: 1,
  identifier: '1c9e4b6a-5d0e-4f3b-8a6d-2f1b0c9d8e7f',
  secrets: ['secret'],
};

/** A public route that takes anything and answers 204 by default. */
export const emptyRoute = (method: Method, path: string, more: Partial<AnyRoute> = {}): AnyRoute =>
  route({
    method,
    path,
    access: 'public',
    summary: '',
    tag: '',
    request: z.object({}),
    replies: {},
    handle: async () => ({ status: 204 }),
    ...more,
  });

/** They accept every session as alive. */
const noActors = {
  get: () => ({ ask: { validateSession: async () => ({ ok: {} }) } }),
} as unknown as Actors;

const testGatewayConfig: GatewayConfig = {
  ...defaultsOf(gatewaySettings),
  filesServerUrl: 'http://files.test',
  isPublicUrlHttps: false,
  drainTimeoutMs: 10_000,
  drainIdleMs: 0,
  sharesPort: false,
};

export interface TestGatewayOptions extends Partial<GatewayConfig> {
  readonly areas?: readonly Area[];
  readonly clock?: Clock;
  readonly logLevel?: string;
  readonly readiness?: Readiness;
  readonly actors?: Actors;
  readonly transport?: Transport;
  readonly verifyBearer?: VerifyBearer;
  readonly socketTokens?: SocketTokens;
  readonly syncTickets?: SyncTickets;
  readonly tracer?: Tracer | undefined;
}

/** The key with which the test gateway verifies its sockets. */
export const testSocketTokens = (clock: Clock) => createSocketTokens(Buffer.alloc(32, 3), clock);

/** The same for the sync lane. */
export const testSyncTickets = createSyncTickets(Buffer.alloc(32, 4), systemRandom);

export async function startGateway(
  t: ExecutionContext,
  routes: readonly AnyRoute[],
  {
    areas = [],
    clock = systemClock,
    logLevel = 'debug',
    readiness,
    actors = noActors,
    transport = new InProcessTransport(),
    verifyBearer = (authorization) => (authorization === goodBearer ? goodCredentials : undefined),
    socketTokens = testSocketTokens(clock),
    syncTickets = testSyncTickets,
    tracer,
    ...config
  }: TestGatewayOptions = {},
): Promise<TestGateway> {
  const log: Record<string, unknown>[] = [];
  const lines = new Writable({
    write(chunk, _encoding, done) {
      log.push(JSON.parse(String(chunk)));
      done();
    },
  });
  const registry = new Registry();
  const random = systemRandom;
  const logger = pino({ level: logLevel }, lines);
  const ready = readiness ?? createReadiness({}, clock);
  const gateway = createGateway({
    routes,
    areas,
    actors,
    config: { ...testGatewayConfig, ...config },
    clock,
    random,
    logger,
    registry,
    readiness: ready,
    socketTokens,
    syncTickets,
    subscribe: createSubscribe({ transport, shardCount: testShardCount, clock, random, logger, tracer }),
    verifyBearer,
    tracer,
  });
  const port = await gateway.listen('127.0.0.1', 0);
  t.teardown(() => gateway.close());
  return { gateway, port, url: `http://127.0.0.1:${port}`, registry, readiness: ready, log };
}

/** A promise and the function that resolves it. */
export function latch<T = void>(): { readonly promise: Promise<T>; readonly open: (value: T) => void } {
  let open: (value: T) => void = () => {};
  const promise = new Promise<T>((resolve) => {
    open = resolve;
  });
  return { promise, open };
}

/** One turn of the loop, in which sockets are served. */
export const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Waits until the metrics of a gateway have this line. */
export async function metricIs({ registry }: TestGateway, line: RegExp): Promise<void> {
  while (!line.test(await registry.metrics())) await turn();
}

/** The value of a gauge without labels. */
export async function gauge({ registry }: TestGateway, name: string): Promise<number> {
  const metric = await registry.getSingleMetric(name)?.get();
  const value = metric?.values[0]?.value;
  if (value === undefined) throw new Error(`there is no gauge ${name}`);
  return value;
}

/** Waits until a gauge has this value. */
export async function gaugeIs(
  server: TestGateway,
  name: string,
  predicate: (value: number) => boolean,
): Promise<void> {
  while (!predicate(await gauge(server, name))) await turn();
}

export interface RawConnection {
  readonly socket: Socket;
  send(text: string | Buffer): void;
  /** Everything received once the connection has ended. */
  readonly ended: Promise<string>;
  /** Everything received as soon as it contains `text`. */
  received(text: string): Promise<string>;
}

/** A plain socket, for requests that no client library would send. Rejects if the connection is refused. */
export async function openRaw(
  t: ExecutionContext,
  port: number,
  localAddress = '127.0.0.1',
): Promise<RawConnection> {
  const socket = connect({ host: '127.0.0.1', port, localAddress, noDelay: true });
  t.teardown(() => socket.destroy());
  let all = '';
  const waiting = new Set<() => void>();
  socket.on('data', (chunk) => {
    all += chunk.toString('latin1');
    for (const check of waiting) check();
  });
  socket.on('error', () => {});
  const ended = new Promise<string>((resolve) => {
    socket.on('close', () => resolve(all));
  });
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve);
    socket.once('close', () => reject(new Error('not connected')));
  });
  return {
    socket,
    ended,
    send: (text) => {
      socket.write(text);
    },
    received: (text) =>
      new Promise((resolve, reject) => {
        let searched = 0;
        const check = () => {
          const found = all.indexOf(text, Math.max(0, searched - text.length));
          searched = all.length;
          if (found < 0) return;
          waiting.delete(check);
          resolve(all);
        };
        waiting.add(check);
        socket.on('close', () => reject(new Error(`the connection ended before "${text}" came: ${all}`)));
        check();
      }),
  };
}
