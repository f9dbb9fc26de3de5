/** The internal API on a free loopback port, over a host with the model store and the real kinds of actors. */
import {
  ChannelCredentials,
  Client,
  type Metadata,
  Metadata as NewMetadata,
  type ServerCredentials,
  type ServiceError,
} from '@grpc/grpc-js';
import type { ExecutionContext } from 'ava';
import { Registry } from 'prom-client';
import type { AccountSettings } from '../../actors/settings.ts';
import { createVerifyBearer } from '../../gateway/admission/bearer.ts';
import { serverCredentials } from '../../operations/access.ts';
import { createInternalApi, type InternalApi } from '../../operations/internal-api.ts';
import type { InternalApiOptions } from '../../operations/internal-api-options.ts';
import { shardOf } from '../../runtime/address.ts';
import { systemClock } from '../../runtime/clock.ts';
import {
  type ClusterOperationsOptions,
  createClusterOperations,
  createLookups,
} from '../../runtime/host/cluster-operations.ts';
import { systemRandom } from '../../runtime/random.ts';
import { outboxTable, timerTable } from '../../runtime/store/tables.ts';
import type { Hint } from '../../runtime/transport/transport.ts';
import { testNode } from './host.ts';
import { type ServerOptions, sessionTokens, startServer, type TestServer } from './server.ts';

export const shardCount = 16;
/** The name of the host's own node. */
export const ownNode = 'test';

export interface ApiWorld {
  readonly api: InternalApi;
  readonly address: string;
  readonly server: TestServer;
  readonly hints: readonly Hint[];
  readonly registry: Registry;
  readonly log: readonly object[];
  /** The readiness of the host; tests change it. */
  readonly checks: Record<string, string>;
}

interface ApiOptions {
  readonly credentials?: ServerCredentials;
  /** The credentials that callers need. */
  readonly token?: string;
  readonly api?: Partial<InternalApiOptions>;
  /** Replaces the host's. */
  readonly store?: ClusterOperationsOptions['store'];
  readonly settings?: Partial<AccountSettings>;
}

export async function startApi(
  t: ExecutionContext,
  options: ApiOptions & {
    readonly leaseMs?: number;
    readonly mail?: Pick<ServerOptions, 'mail' | 'mailSender'>;
  } = {},
): Promise<ApiWorld> {
  const server = await startServer(t, {
    ...options.mail,
    accounts: options.settings ?? {},
    ...(options.leaseMs !== undefined && { host: { leaseMs: options.leaseMs } }),
  });
  return apiOver(t, server, options);
}

/** On a server that runs already. */
export async function apiOver(
  t: ExecutionContext,
  server: TestServer,
  options: ApiOptions = {},
): Promise<ApiWorld> {
  const hints: Hint[] = [];
  const log: object[] = [];
  const note = (fields: object, message: string) => void log.push({ ...fields, message });
  const checks: Record<string, string> = { database: 'ok', host: 'ok' };
  const registry = new Registry();
  const api = createInternalApi({
    cluster: createClusterOperations({
      store: options.store ?? server.host.store,
      transport: { hint: (hint) => void hints.push(hint) },
    }),
    lookups: createLookups(server.host.store),
    actors: server.host.actors,
    readiness: {
      report: async () => ({ ready: Object.values(checks).every((check) => check === 'ok'), checks }),
    },
    verifyBearer: createVerifyBearer(sessionTokens),
    fileStore: server.files,
    importing: { contentBytesMax: 1_048_576, fileBytesMax: 1_073_741_824, relyingPartyId: 'notes.test' },
    shardCount,
    workspacesPerEmail: false,
    registrationDisabled: options.settings?.registrationDisabled === true,
    clock: systemClock,
    random: systemRandom,
    logger: { info: note, warn: note, error: note },
    registry,
    drainTimeoutMs: 2_000,
    ...options.api,
  });
  const { credentials = serverCredentials(undefined), token } = options;
  const port = await api.listenOnPort('127.0.0.1', 0, { credentials, token });
  t.teardown(() => api.close());
  return { api, address: `127.0.0.1:${port}`, server, hints, registry, log, checks };
}

interface Method<Request, Response> {
  readonly path: string;
  readonly requestSerialize: (request: Request) => Buffer;
  readonly responseDeserialize: (bytes: Buffer) => Response;
}

export interface Caller {
  ask<Request, Response>(
    method: Method<Request, Response>,
    request: Request,
    deadlineMs?: number,
  ): Promise<Response>;
  /** The status code and message of a call that must fail, with its trailers. */
  failing<Request, Response>(
    method: Method<Request, Response>,
    request: Request,
    deadlineMs?: number,
  ): Promise<{ code: number; details: string; metadata: Metadata }>;
  readonly client: Client;
}

export function callerOf(
  t: ExecutionContext,
  address: string,
  credentials: ChannelCredentials = ChannelCredentials.createInsecure(),
  /** Sent with each call. */
  metadata = new NewMetadata(),
): Caller {
  const client = new Client(address, credentials, { 'grpc.enable_http_proxy': 0 });
  t.teardown(() => client.close());
  const ask: Caller['ask'] = (method, request, deadlineMs = 20_000) =>
    new Promise((resolve, reject) => {
      client.makeUnaryRequest(
        method.path,
        method.requestSerialize,
        method.responseDeserialize,
        request,
        metadata,
        { deadline: new Date(systemClock.nowMs() + deadlineMs) },
        (error, response) => (response === undefined ? reject(error) : resolve(response)),
      );
    });
  return {
    ask,
    client,
    failing: (method, request, deadlineMs) =>
      ask(method, request, deadlineMs).then(
        () => {
          throw new Error('the call did not fail');
        },
        ({ code, details, metadata }: ServiceError) => ({ code, details, metadata }),
      ),
  };
}

/** Registers another node in the cluster's database. It takes the named shards, if it can. */
export async function addNode({ server }: ApiWorld, id: string, roles = 'all') {
  const { store, random } = server.host;
  const node = { ...testNode(random, id), roles, address: `http://${id}.test` };
  await store.register(node, 10_000, true);
  return node;
}

/** Writes a timer and a tell that failed too often, for an actor that no host has in memory. */
export async function addDead({ server }: ApiWorld, id: string) {
  const { store } = server.host;
  const address = { kind: 'user', id };
  const shard = shardOf(address, shardCount);
  await store.activate(address, shard, 1, true);
  const payload = Buffer.alloc(0);
  const timer = {
    ...address,
    name: 'purge',
    shard,
    due_at: Date.UTC(2025, 11, 31),
    payload,
    attempts: 10,
    dead: true,
  };
  const tellId = '0b9d3c52-93f0-4a53-8c0b-7a1f35b1a1de';
  const tell = {
    target_kind: 'user',
    target_id: id,
    tell_id: tellId,
    target_shard: shard,
    name: 'greet',
    payload,
    sender_kind: 'signin',
    sender_id: 'ab'.repeat(32),
    sender_version: 1,
    attempts: 10,
    retry_at: 0,
    dead: true,
  };
  const passed = await store.commit([
    {
      address,
      epoch: 1,
      version: 0,
      commitId: '11111111-1111-4111-8111-111111111111',
      writes: [
        { table: timerTable, put: timer, isNew: true },
        { table: outboxTable, put: tell, isNew: true },
      ],
    },
  ]);
  if (passed.size !== 1) throw new Error('the dead were not written');
  return { tellId };
}
