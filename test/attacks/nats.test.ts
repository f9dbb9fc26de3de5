/**
 * An anonymous client with access to NATS but without the root secret: its messages are neither executed nor
 * answered.
 */
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import test from 'ava';
import { systemClock } from '../../runtime/clock.ts';
import { encodeFrame } from '../../runtime/transport/nats/frame.ts';
import { createMessageSigner } from '../../runtime/transport/nats/message-signature.ts';
import { startNatsServer } from '../kit/nats-server.ts';
import {
  addressOn,
  call,
  echo,
  ownCluster,
  prefixOf,
  rawClient,
  shardCount,
  signingKey,
  startProcess,
  until,
} from '../kit/transport-process.ts';

const server = await startNatsServer();
test.after.always(() => server.stop());

const cluster = () => ({ ...ownCluster(), wakeStream: { deliverMs: 1_000, ackWaitMs: 1_500 } });

const frame = encodeFrame({
  kind: 'call',
  callId: 'forged',
  from: 'stranger',
  shards: shardCount,
  remainingMs: 5_000,
  address: addressOn(0),
  command: 'echo',
  request: 'forged',
});
const ours = createMessageSigner(signingKey, systemClock);
const elevenMinutesAgo = createMessageSigner(signingKey, { nowMs: () => systemClock.nowMs() - 660_000 });
const guessed = createMessageSigner(Buffer.alloc(32), systemClock);

test('a stranger’s call is neither run nor answered', async (t) => {
  const shared = cluster();
  const subject = `${prefixOf(shared.clusterName)}.shard.0`;
  const owner = await startProcess(t, server.url, { ...shared, answer: echo });
  const raw = await rawClient(t, server.url);
  const answers: unknown[] = [];
  raw.subscribe('stolen', { callback: (_, message) => void answers.push(message) });
  const attempts = {
    'without a signature': [frame, 'version'],
    'signed with another key': [guessed.sign(frame, subject, 'stolen'), 'mac'],
    'overheard, on its way to another shard': [ours.sign(frame, `${subject}0`, 'stolen'), 'mac'],
    'overheard, with another place for the answer': [ours.sign(frame, subject, 'reply.1'), 'mac'],
    'overheard long ago': [elevenMinutesAgo.sign(frame, subject, 'stolen'), 'stale'],
    'nothing at all': [Buffer.alloc(0), 'corrupt'],
  } as const;
  for (const [bytes] of Object.values(attempts)) raw.publish(subject, bytes, { reply: 'stolen' });
  const reasons = Object.values(attempts).map(([, reason]) => reason);
  await until(() => owner.seen.rejected.length === reasons.length);
  t.deepEqual(owner.seen.rejected, reasons);

  // An owner's answer comes after any answer to the earlier message.
  const caller = await startProcess(t, server.url, shared);
  t.is(await caller.transport.ask(call('hello')), 'hello');
  await raw.flush();
  t.deepEqual(answers, []);
  t.is(owner.seen.calls.length, 1);
});

test('only its owner answers a call, and no answer to another call counts', async (t) => {
  const shared = cluster();
  const raw = await rawClient(t, server.url);
  const subject = `${prefixOf(shared.clusterName)}.shard.0`;
  const forged = encodeFrame({ kind: 'reply', value: 'forged' });
  let go = () => {};
  let waits = false;
  const owner = await startProcess(t, server.url, {
    ...shared,
    answer: async ({ request }) => {
      if (!waits) return request;
      await new Promise<void>((resolve) => {
        go = resolve;
      });
      return request;
    },
  });
  const caller = await startProcess(t, server.url, shared);
  // The owner refuses the first call to a shard, which names no claim. The one that is attacked reaches it at once.
  t.is(await caller.transport.ask(call('before')), 'before');
  waits = true;
  // The intruder hears the call like its owner, and is quicker.
  raw.subscribe(subject, {
    max: 1,
    callback(_, message) {
      const { reply = '' } = message;
      raw.publish(reply, forged);
      raw.publish(reply, guessed.sign(forged, reply));
      raw.publish(reply, ours.sign(forged, `${reply}0`));
      raw.publish(subject, Buffer.from('no call'), { reply });
      void raw.flush().then(() => raw.publish(`${subject}.go`));
    },
  });
  raw.subscribe(`${subject}.go`, { callback: () => go() });
  await raw.flush();
  t.is(await caller.transport.ask(call('hello')), 'hello');
  await until(() => caller.seen.rejected.length === 3 && owner.seen.rejected.length === 1);
  t.deepEqual(caller.seen.rejected, ['version', 'mac', 'mac']);
});

test('hints, events and wake-ups of strangers reach nobody, and are logged once', async (t) => {
  const shared = cluster();
  const prefix = prefixOf(shared.clusterName);
  const host = await startProcess(t, server.url, { ...shared, answer: () => null });
  await until(() => host.transport.isWakeStreamAvailable);
  const events: unknown[] = [];
  host.transport.listen('gateway', { event: (event) => events.push(event), hinted() {}, reconnected() {} });
  const raw = await rawClient(t, server.url);
  const address = addressOn(0);
  const hint = encodeFrame({ kind: 'hint', from: 'stranger', number: 1, hint: { hint: 'rebalance' } });
  const event = encodeFrame({ kind: 'event', host: 'stranger', sequence: 0, address, event: 'forged' });
  const wake = encodeFrame({ kind: 'wake', tellId: 'forged', target: address });
  raw.publish(`${prefix}.hint`, guessed.sign(hint, `${prefix}.hint`));
  raw.publish(`${prefix}.gateway.gateway`, guessed.sign(event, `${prefix}.gateway.gateway`));
  await jetstream(raw).publish(`${prefix}.wake`, guessed.sign(wake, `${prefix}.wake`));
  await until(() => host.seen.rejected.length === 3 && host.seen.failedWakes === 1);
  t.deepEqual(host.seen.rejected, ['mac', 'mac', 'mac']);
  t.deepEqual([...host.seen.hints, ...events, ...host.seen.calls], []);
  const warnings = host.seen.logged.filter((line) => line.includes('outside this cluster'));
  t.is(warnings.length, 1);
  const { streams } = await jetstreamManager(raw);
  await until(
    async () => (await streams.info(`scriptorium-${shared.clusterName}-database`)).state.messages === 0,
  );
});

test('a hint that was overheard and is sent again reaches nobody', async (t) => {
  const shared = cluster();
  const subject = `${prefixOf(shared.clusterName)}.hint`;
  const raw = await rawClient(t, server.url);
  raw.subscribe(subject, { max: 1, callback: (_, { data }) => raw.publish(subject, data) });
  await raw.flush();
  const host = await startProcess(t, server.url, { ...shared, answer: echo });
  const claimant = await startProcess(t, server.url, shared);
  claimant.transport.hint({ hint: 'claimed', shards: [0], host: 'claimant' });
  await until(() => host.seen.rejected.length === 1);
  claimant.transport.hint({ hint: 'claimed', shards: [1], host: 'claimant' });
  await until(() => host.seen.hints.length === 2);
  t.deepEqual(host.seen.rejected, ['stale']);
  t.deepEqual(host.seen.hints, [
    { hint: 'claimed', shards: [0], host: 'claimant' },
    { hint: 'claimed', shards: [1], host: 'claimant' },
  ]);
});

test('a flood of frames that are none, as large as NATS takes them, is dropped, and calls go on meanwhile', async (t) => {
  const shared = cluster();
  const subject = `${prefixOf(shared.clusterName)}.shard.0`;
  const owner = await startProcess(t, server.url, { ...shared, answer: echo });
  const caller = await startProcess(t, server.url, shared);
  const raw = await rawClient(t, server.url);
  const large = Buffer.alloc(raw.info?.max_payload ?? 0, 1);
  t.true(large.length >= 1_048_576);
  const floods = 2_000;
  for (let sent = 0; sent < floods; sent += 1) {
    raw.publish(subject, sent % 100 === 0 ? large : guessed.sign(frame, subject, 'stolen'), {
      reply: 'stolen',
    });
    if (sent % 500 === 0) t.is(await caller.transport.ask(call(`call ${sent}`)), `call ${sent}`);
  }
  await until(() => owner.seen.rejected.length === floods);
  t.is(owner.seen.calls.length, 4);
  t.is(owner.seen.logged.filter((line) => line.includes('outside this cluster')).length, 1);
  t.deepEqual(owner.seen.disconnected, []);
});

test('a call that is overheard and sent again is known by its id, and only its first sender gets the answer', async (t) => {
  const shared = cluster();
  const prefix = prefixOf(shared.clusterName);
  const owner = await startProcess(t, server.url, { ...shared, answer: echo });
  const caller = await startProcess(t, server.url, shared);
  const raw = await rawClient(t, server.url);
  // The owner refuses the first call to a shard, which names no claim, and every copy of it.
  t.is(await caller.transport.ask(call('before')), 'before');
  owner.seen.calls.splice(0);
  let replays = 0;
  raw.subscribe(`${prefix}.shard.0`, {
    callback: (_, message) => {
      if (replays >= 10) return;
      replays += 1;
      raw.publish(message.subject, message.data, { reply: message.reply ?? '' });
    },
  });
  await raw.flush();
  t.is(await caller.transport.ask(call('once')), 'once');
  await until(() => owner.seen.calls.length === 11);
  t.is(new Set(owner.seen.calls.map(({ callId }) => callId)).size, 1);
  t.is(await caller.transport.ask(call('after')), 'after');
});
