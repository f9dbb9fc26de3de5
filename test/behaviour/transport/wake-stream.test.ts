import { type JetStreamManager, jetstream, jetstreamManager } from '@nats-io/jetstream';
import test, { type ExecutionContext } from 'ava';
import { systemClock } from '../../../runtime/clock.ts';
import { RetryableError, TerminalError } from '../../../runtime/errors.ts';
import { encodeFrame } from '../../../runtime/transport/nats/frame.ts';
import { createMessageSigner } from '../../../runtime/transport/nats/message-signature.ts';
import { startNatsCluster, startNatsServer } from '../../kit/nats-server.ts';
import {
  addressOn,
  allShards,
  call,
  echo,
  ownCluster,
  type ProcessOptions,
  prefixOf,
  rawClient,
  signingKey,
  startProcess,
  type TestProcess,
  tell,
  until,
} from '../../kit/transport-process.ts';

const server = await startNatsServer();
test.after.always(() => server.stop());

const cluster = () => ({ ...ownCluster(), wakeStream: { deliverMs: 1_000, ackWaitMs: 1_500 } });

const streamOf = (clusterName: string) => `scriptorium-${clusterName}-database`;
const even = allShards.filter((shard) => shard % 2 === 0);
const odd = allShards.filter((shard) => shard % 2 === 1);

/** A process whose wake-ups go out and come in. */
async function startHost(t: ExecutionContext, options: ProcessOptions): Promise<TestProcess> {
  const host = await startProcess(t, server.url, { answer: () => null, ...options });
  await until(() => host.transport.isWakeStreamAvailable);
  return host;
}

const manager = async (t: ExecutionContext): Promise<JetStreamManager> =>
  jetstreamManager(await rawClient(t, server.url));

const deliveredTo = ({ seen }: TestProcess): readonly unknown[] =>
  seen.calls
    .filter(({ command }) => command === '$deliver')
    .map(({ request }) => (request as { tellId: string }).tellId);

test('a tell for an actor of this process wakes its handler and nobody else', async (t) => {
  const host = await startHost(t, cluster());
  const own = tell(0);
  host.transport.wake(own);
  t.deepEqual(host.seen.woken, [own]);
  t.deepEqual(host.seen.calls, []);
});

test('a tell for an actor of another process is delivered there once, whichever host takes the wake-up', async (t) => {
  const shared = cluster();
  const one = await startHost(t, { ...shared, shards: even });
  const other = await startHost(t, { ...shared, shards: odd });
  const tells = Array.from({ length: 100 }, (_, n) => tell(odd[n % odd.length] ?? 0, n % 3));
  for (const each of tells) one.transport.wake(each);
  await until(() => deliveredTo(other).length === tells.length);
  t.deepEqual([...deliveredTo(other)].sort(), tells.map((each) => each.tell_id).sort());
  const streams = (await manager(t)).streams;
  await until(async () => (await streams.info(streamOf(shared.clusterName))).state.messages === 0);
  t.deepEqual(deliveredTo(one), []);
  t.is(deliveredTo(other).length, tells.length);
  t.is(one.seen.failedWakes, 0);
});

test('a wake-up that a dead host had taken comes to another one', async (t) => {
  const shared = cluster();
  const first = await startHost(t, { ...shared, shards: [] });
  first.transport.stop();
  const dead = await rawClient(t, server.url);
  const address = addressOn(0);
  const subject = `${prefixOf(shared.clusterName)}.wake`;
  const frame = encodeFrame({ kind: 'wake', tellId: 'the tell', target: address });
  await jetstream(dead).publish(subject, createMessageSigner(signingKey, systemClock).sign(frame, subject));
  const consumer = await jetstream(dead).consumers.get(streamOf(shared.clusterName), 'hosts');
  // The open request of the stopped host may still take it.
  await until(async () => (await consumer.next({ expires: 2_000 })) !== null);
  await dead.close();
  const second = await startHost(t, shared);
  await until(() => deliveredTo(second).length === 1);
  t.deepEqual(deliveredTo(second), ['the tell']);
});

test('a delivery that may succeed later is tried again, and one that cannot is not', async (t) => {
  const shared = cluster();
  const tells = { later: tell(1), never: tell(1, 1) };
  let attempts = 0;
  const owner = await startHost(t, {
    ...shared,
    shards: odd,
    answer: ({ request }) => {
      if ((request as { tellId: string }).tellId === tells.never.tell_id) throw new TerminalError('no');
      attempts += 1;
      if (attempts < 3) throw new RetryableError('not yet', { outcome: 'none', retryAfterMs: 50 });
      return null;
    },
  });
  const other = await startHost(t, { ...shared, shards: even });
  other.transport.wake(tells.never);
  other.transport.wake(tells.later);
  await until(() => attempts === 3);
  const streams = (await manager(t)).streams;
  await until(async () => (await streams.info(streamOf(shared.clusterName))).state.messages === 0);
  t.is(deliveredTo(owner).filter((id) => id === tells.never.tell_id).length, 1);
});

test('a wake-up that is not readable is thrown away', async (t) => {
  const shared = cluster();
  await startHost(t, shared);
  const raw = await rawClient(t, server.url);
  await jetstream(raw).publish(`${prefixOf(shared.clusterName)}.wake`, Buffer.from('nonsense'));
  const { streams } = await jetstreamManager(raw);
  await until(async () => (await streams.info(streamOf(shared.clusterName))).state.messages === 0);
  t.pass();
});

test('a full stream drops its oldest wake-ups and takes new ones', async (t) => {
  const base = cluster();
  const bytesMax = 20_000;
  const shared = {
    ...base,
    wakeStream: { ...base.wakeStream, bytesMax, deliverMs: 20_000, ackWaitMs: 30_000 },
  };
  let release = () => {};
  const released = new Promise<null>((resolve) => {
    release = () => resolve(null);
  });
  const owner = await startHost(t, { ...shared, shards: odd, answer: () => released });
  const other = await startHost(t, { ...shared, shards: even });
  const streams = (await manager(t)).streams;
  const state = async () => (await streams.info(streamOf(shared.clusterName))).state;
  let sent = 0;
  await until(async () => {
    for (let n = 0; n < 50; n += 1) other.transport.wake(tell(1));
    sent += 50;
    return (await state()).first_seq > 1 && sent >= 500;
  });
  t.true((await state()).bytes <= bytesMax);
  release();
  const last = tell(1);
  await until(async () => (await state()).messages === 0);
  other.transport.wake(last);
  await until(() => deliveredTo(owner).includes(last.tell_id));
  t.is(other.seen.failedWakes, 0);
});

test('a stream that was lost is made again, and wake-ups go on', async (t) => {
  const shared = cluster();
  const owner = await startHost(t, { ...shared, shards: odd });
  const other = await startHost(t, { ...shared, shards: even });
  await (await manager(t)).streams.delete(streamOf(shared.clusterName));
  await until(() => {
    other.transport.wake(tell(1));
    return deliveredTo(owner).length > 0;
  });
  await until(() => owner.transport.isWakeStreamAvailable && other.transport.isWakeStreamAvailable);
  t.is(await other.transport.ask(call(1, { address: addressOn(1) })), null);
});

test('a stream that is deleted again and again is made again each time', async (t) => {
  const shared = cluster();
  const owner = await startHost(t, { ...shared, shards: odd });
  const other = await startHost(t, { ...shared, shards: even });
  const { streams } = await manager(t);
  for (let deletions = 0; deletions < 5; deletions += 1) {
    await streams.delete(streamOf(shared.clusterName));
    // Wake-ups sent while there is no stream are lost. Earlier ones may still be on their way and prove nothing.
    const sent = new Set<unknown>();
    await until(() => {
      const next = tell(1);
      sent.add(next.tell_id);
      other.transport.wake(next);
      return deliveredTo(owner).some((id) => sent.has(id));
    });
  }
  await until(() => owner.transport.isWakeStreamAvailable && other.transport.isWakeStreamAvailable);
  t.is((await streams.info(streamOf(shared.clusterName))).state.consumer_count, 1);
});

test('a broker that is lost while wake-ups are delivered takes nothing else with it', async (t) => {
  const own = await startNatsServer();
  t.teardown(() => own.stop());
  let fail: (() => void) | undefined;
  const failed = new Promise<null>((_, reject) => {
    fail = () => reject(new RetryableError('not yet', { outcome: 'none' }));
  });
  failed.catch(() => {});
  const wakeStream = { deliverMs: 1_000, ackWaitMs: 1_500 };
  const answer = () => (fail === undefined ? null : failed);
  const owner = await startProcess(t, own.url, { answer, shards: odd, wakeStream });
  const other = await startProcess(t, own.url, { answer, shards: even, wakeStream });
  await until(() => owner.transport.isWakeStreamAvailable && other.transport.isWakeStreamAvailable);
  for (let n = 0; n < 50; n += 1) other.transport.wake(tell(1, n % 5));
  await until(() => deliveredTo(owner).length === 50);
  await own.kill();
  await until(() => !owner.transport.isConnected && !other.transport.isConnected);
  // Now that nobody listens for it.
  fail?.();
  fail = undefined;
  await own.start();
  const last = tell(1);
  await until(() => {
    other.transport.wake(last);
    return deliveredTo(owner).includes(last.tell_id);
  });
  await until(() => owner.transport.isConnected && other.transport.isConnected);
  t.is(await other.transport.ask(call(1, { address: addressOn(1) })), null);
});

test('a host that stops and serves again at once takes wake-ups once, as before', async (t) => {
  const { clusterName } = cluster();
  const host = await startProcess(t, server.url, { clusterName });
  const answer = async () => null;
  const handler = {
    ask: answer,
    askFromRemote: answer,
    epochOf: () => 1,
    wake: () => {},
    hinted: () => {},
  };
  for (let times = 0; times < 5; times += 1) {
    host.transport.stop();
    host.transport.serve(handler);
  }
  const { consumers } = await manager(t);
  const requests = async () => (await consumers.info(streamOf(clusterName), 'hosts')).num_waiting;
  await until(() => host.transport.isWakeStreamAvailable);
  await until(async () => (await requests()) > 0);
  // The others would come one after another.
  for (let checks = 0; checks < 10; checks += 1) t.is(await requests(), 1);
});

test('a host with other settings makes the stream and its consumer follow them', async (t) => {
  const { clusterName } = cluster();
  await startHost(t, { clusterName, wakeStream: { bytesMax: 1_000_000, ackWaitMs: 30_000 } });
  await startHost(t, { clusterName, wakeStream: { bytesMax: 2_000_000, ackWaitMs: 40_000 } });
  const { streams, consumers } = await manager(t);
  t.is((await streams.info(streamOf(clusterName))).config.max_bytes, 2_000_000);
  t.is((await consumers.info(streamOf(clusterName), 'hosts')).config.ack_wait, 40_000_000_000);
});

test('on a broker without JetStream everything else works, which is logged once', async (t) => {
  const plain = await startNatsServer({ jetStream: false });
  t.teardown(() => plain.stop());
  const owner = await startProcess(t, plain.url, { answer: echo, shards: odd });
  const other = await startProcess(t, plain.url, { answer: echo, shards: even });
  other.transport.wake(tell(1));
  t.is(other.seen.failedWakes, 1);
  t.is(await other.transport.ask(call('hello', { address: addressOn(1) })), 'hello');
  const warnings = () => owner.seen.logged.filter((line) => line.startsWith('wake-ups do not go'));
  await until(() => warnings().length > 0);
  t.false(owner.transport.isWakeStreamAvailable);
  t.true(owner.transport.isConnected);
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  t.is(warnings().length, 1);
});

test('a stream that is kept on three servers goes on when one of them is lost', async (t) => {
  const servers = await startNatsCluster(3);
  t.teardown(() => Promise.all(servers.map((each) => each.stop())).then(() => {}));
  const urls = servers.map(({ url }) => url);
  const wakeStream = { replicas: 3, deliverMs: 1_000, ackWaitMs: 1_500 };
  const owner = await startProcess(t, urls, { answer: () => null, shards: odd, wakeStream });
  const other = await startProcess(t, urls, { answer: () => null, shards: even, wakeStream });
  await until(() => owner.transport.isWakeStreamAvailable && other.transport.isWakeStreamAvailable);
  const { streams } = await jetstreamManager(await rawClient(t, urls[0] ?? ''));
  const leader = (await streams.info('scriptorium-test-database')).cluster?.leader;
  await servers[Number(leader?.slice(1))]?.kill();
  await until(() => {
    other.transport.wake(tell(1));
    return deliveredTo(owner).length > 0;
  });
  t.pass();
});

test('a stream that cannot be kept on three servers is kept on one', async (t) => {
  const two = await startNatsCluster(2);
  t.teardown(() => Promise.all(two.map((each) => each.stop())).then(() => {}));
  const urls = two.map(({ url }) => url);
  const owner = await startProcess(t, urls, { answer: () => null, shards: odd, wakeStream: { replicas: 3 } });
  await until(() => owner.transport.isWakeStreamAvailable);
  const { streams } = await jetstreamManager(await rawClient(t, urls[0] ?? ''));
  t.is((await streams.info('scriptorium-test-database')).config.num_replicas, 1);
});
