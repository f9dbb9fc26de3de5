/** Processes of a cluster with only their transport, each with a handler that tests can inspect. */
import { connect, createInbox, type NatsConnection } from '@nats-io/transport-node';
import type { ExecutionContext } from 'ava';
import { type Address, shardOf } from '../../runtime/address.ts';
import { systemClock } from '../../runtime/clock.ts';
import { systemRandom } from '../../runtime/random.ts';
import type { TellRow } from '../../runtime/store/store.ts';
import { createMessageSigner } from '../../runtime/transport/nats/message-signature.ts';
import { noTransportMetrics } from '../../runtime/transport/nats/metrics.ts';
import {
  type NatsTransport,
  type NatsTransportOptions,
  openNatsTransport,
} from '../../runtime/transport/nats/nats-transport.ts';
import type { AskCall, Hint } from '../../runtime/transport/transport.ts';

export const shardCount = 16;
/** The shards of the cluster in these tests. */
export const signingKey = Buffer.alloc(32, 7);
export const allShards: readonly number[] = Array.from({ length: shardCount }, (_, shard) => shard);
export const prefixOf = (clusterName: string): string => `scriptorium.${clusterName}.database`;

let clusters = 0;
/** A name that no other test of this file has: its tests share the broker and not the cluster. */
export const ownCluster = () => {
  clusters += 1;
  return { clusterName: `test-${clusters}` };
};

/** The requests, wake-ups and hints of a process, and its logs and counts. */
class Seen {
  readonly calls: AskCall[] = [];
  readonly woken: TellRow[] = [];
  readonly hints: Hint[] = [];
  readonly logged: string[] = [];
  readonly rejected: string[] = [];
  readonly disconnected: string[] = [];
  failedWakes = 0;
  unknownOutcomes = 0;
}

export interface TestProcess {
  readonly transport: NatsTransport;
  readonly incarnation: string;
  readonly seen: Seen;
}

export interface ProcessOptions extends Partial<NatsTransportOptions> {
  /** Absent: it only sends requests. */
  readonly answer?: (call: AskCall) => unknown;
  /** Default: all. */
  readonly shards?: readonly number[];
  /** The epoch under which it owns them. Default: 1. */
  readonly epoch?: () => number;
}

export async function startProcess(
  t: ExecutionContext,
  servers: string | readonly string[],
  { answer, shards = allShards, epoch = () => 1, ...options }: ProcessOptions = {},
): Promise<TestProcess> {
  const incarnation = systemRandom.uuid();
  const seen = new Seen();
  const log = (fields: object, message: string) => seen.logged.push(`${message} ${JSON.stringify(fields)}`);
  const transport = await openNatsTransport({
    access: { servers: [servers].flat() },
    clusterName: 'test',
    databaseId: 'database',
    incarnation,
    shardCount,
    signingKey,
    clock: systemClock,
    random: systemRandom,
    logger: { info: log, warn: log, error: log },
    metrics: {
      ...noTransportMetrics,
      rejected: (reason) => seen.rejected.push(reason),
      disconnected: (connection) => seen.disconnected.push(connection),
      wakeFailed: () => {
        seen.failedWakes += 1;
      },
      unknownOutcome: () => {
        seen.unknownOutcomes += 1;
      },
    },
    ...options,
  });
  t.teardown(() => transport.close(500));
  if (answer !== undefined) {
    const ask = async (call: AskCall) => {
      seen.calls.push(call);
      return answer(call);
    };
    transport.serve({
      ask,
      askFromRemote: ask,
      epochOf: epoch,
      wake: (tell) => seen.woken.push(tell),
      hinted: (hint) => seen.hints.push(hint),
    });
    await transport.route(shards);
  }
  return { transport, incarnation, seen };
}

export const echo = (call: AskCall): unknown => call.request;

/** An address on the given shard, another for each `nth`. */
export function addressOn(shard: number, nth = 0): Address {
  let left = nth;
  for (let n = 0; ; n += 1) {
    const address = { kind: 'user', id: `${n}` };
    if (shardOf(address, shardCount) !== shard) continue;
    if (left === 0) return address;
    left -= 1;
  }
}

export function call(request: unknown, overrides: Partial<AskCall> = {}): AskCall {
  return {
    address: addressOn(0),
    command: 'echo',
    request,
    callId: systemRandom.uuid(),
    deadlineMs: systemClock.monotonicMs() + 10_000,
    ...overrides,
  };
}

export function tell(shard: number, nth = 0): TellRow {
  const { kind, id } = addressOn(shard, nth);
  return {
    tell_id: systemRandom.uuid(),
    target_kind: kind,
    target_id: id,
    target_shard: shard,
    name: 'tell',
    payload: Buffer.alloc(0),
    sender_kind: 'user',
    sender_id: 'sender',
    sender_version: 1,
    attempts: 0,
    retry_at: 0,
    dead: false,
  };
}

const pollMs = 10;

/** Resolves when `condition` holds. @throws Error if it does not hold within `withinMs` */
export async function until(condition: () => boolean | Promise<boolean>, withinMs = 20_000): Promise<void> {
  const endMs = performance.now() + withinMs;
  while (!(await condition())) {
    if (performance.now() > endMs) throw new Error(`not within ${withinMs} ms: ${condition}`);
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
}

/** A client of the broker that is no process of ours. */
export async function rawClient(t: ExecutionContext, url: string): Promise<NatsConnection> {
  const client = await connect({ servers: url.replace('nats://', '') });
  t.teardown(() => client.close());
  return client;
}

export interface RawProcess {
  publish(subject: string, frame: Uint8Array, reply?: string): void;
  /** The frame that comes back. */
  request(subject: string, frame: Uint8Array): Promise<Uint8Array>;
  /** Answers each frame to `subject` with the result of `answer`, if any. */
  answer(subject: string, answer: (frame: Uint8Array) => Uint8Array | undefined): Promise<void>;
}

/** A process of the cluster that sends whatever a test wants, under the cluster's signature. */
export async function rawProcess(t: ExecutionContext, url: string): Promise<RawProcess> {
  const client = await rawClient(t, url);
  const signer = createMessageSigner(signingKey, systemClock);
  const publish: RawProcess['publish'] = (subject, frame, reply) =>
    client.publish(subject, signer.sign(frame, subject, reply), reply === undefined ? undefined : { reply });
  return {
    publish,
    async request(subject, frame) {
      const inbox = createInbox();
      const answers = client.subscribe(inbox, { max: 1, timeout: 5_000 });
      publish(subject, frame, inbox);
      for await (const message of answers) return signer.verify(message);
      throw new Error('no answer came');
    },
    async answer(subject, answer) {
      client.subscribe(subject, {
        callback(_, message) {
          const frame = answer(signer.verify(message));
          if (frame !== undefined && message.reply) publish(message.reply, frame);
        },
      });
      await client.flush();
    },
  };
}
