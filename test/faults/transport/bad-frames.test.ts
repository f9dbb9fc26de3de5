import test from 'ava';
import { Packr } from 'msgpackr';
import { RetryableError } from '../../../runtime/errors.ts';
import { decodeFrameOf, encodeFrame } from '../../../runtime/transport/nats/frame.ts';
import { startNatsServer } from '../../kit/nats-server.ts';
import {
  call,
  echo,
  ownCluster,
  prefixOf,
  rawProcess,
  shardCount,
  startProcess,
  until,
} from '../../kit/transport-process.ts';

const server = await startNatsServer({ jetStream: false });
test.after.always(() => server.stop());

const packr = new Packr({ useRecords: false, variableMapSize: true });
const frame = (version: number, value: unknown) => Buffer.concat([Buffer.from([version]), packr.pack(value)]);
const goodCall = {
  kind: 'call',
  callId: 'call',
  from: 'raw',
  shards: shardCount,
  remainingMs: 5_000,
  address: { kind: 'user', id: 'id' },
  command: 'echo',
  request: 'hello',
};

const bad: Readonly<Record<string, readonly [Buffer, string]>> = {
  'nothing at all': [Buffer.alloc(0), 'corrupt'],
  'no msgpack': [Buffer.from([1, 0xc1, 0xc1, 0xc1]), 'corrupt'],
  'a frame that was cut off': [frame(1, goodCall).subarray(0, 40), 'corrupt'],
  'a number': [frame(1, 7), 'corrupt'],
  'an object without a kind': [frame(1, { callId: 'x' }), 'corrupt'],
  'a call without an address': [frame(1, { ...goodCall, address: undefined }), 'corrupt'],
  'a call with a deadline that is no number': [frame(1, { ...goodCall, remainingMs: 'soon' }), 'corrupt'],
  'a frame of a newer version': [frame(2, goodCall), 'version'],
  'a kind of a newer release': [frame(1, { kind: 'whisper' }), 'kind'],
  'a frame that belongs elsewhere': [encodeFrame({ kind: 'reply', value: 1 }), 'kind'],
  'a held frame of impossible size': [
    frame(1, { kind: 'held', from: 'raw', id: '1', bytes: 2 ** 40, remainingMs: 5_000 }),
    'corrupt',
  ],
};

for (const [what, [bytes, reason]] of Object.entries(bad)) {
  test(`a call that is ${what} is rejected as terminal and counted, and the next one is served`, async (t) => {
    const shared = ownCluster();
    const subject = `${prefixOf(shared.clusterName)}.shard.0`;
    const owner = await startProcess(t, server.url, { ...shared, answer: echo });
    const raw = await rawProcess(t, server.url);
    const answer = await raw.request(subject, bytes);
    t.is(decodeFrameOf(answer, 'refusal').class, 'terminal');
    t.deepEqual(owner.seen.rejected, [reason]);
    // It counts even without an address for the answer.
    raw.publish(subject, bytes);
    await until(() => owner.seen.rejected.length === 2);
    t.is(owner.seen.logged.filter((line) => line.startsWith('a frame was not taken')).length, 1);
    const good = await raw.request(subject, frame(1, { ...goodCall, color: 'of a newer release' }));
    t.is(decodeFrameOf(good, 'reply').value, 'hello');
    t.deepEqual(owner.seen.disconnected, []);
  });

  test(`an answer, hint, event or fetch that is ${what} hurts nobody`, async (t) => {
    const shared = ownCluster();
    const prefix = prefixOf(shared.clusterName);
    const own = await startProcess(t, server.url, { ...shared, answer: echo, shards: [1] });
    const events: unknown[] = [];
    own.transport.listen('gateway', {
      event: (event) => events.push(event),
      hinted() {},
      reconnected() {},
    });
    const raw = await rawProcess(t, server.url);
    await raw.answer(`${prefix}.shard.0`, () => bytes);
    if (!what.includes('elsewhere')) {
      const error = await t.throwsAsync(own.transport.ask(call(null)), { instanceOf: RetryableError });
      t.is(error.outcome, 'unknown');
    }
    for (const subject of [
      'hint',
      'gateway.gateway',
      `parts.${own.incarnation}`,
      `reply.${own.incarnation}.zz`,
    ]) {
      raw.publish(`${prefix}.${subject}`, bytes, 'nowhere');
    }
    await until(() => own.seen.rejected.length >= 3);
    t.is(own.seen.hints.length + events.length, 0);
    t.true(own.transport.isConnected);
  });
}

test('a call that nobody waits for any more is dropped before it runs', async (t) => {
  const shared = ownCluster();
  const owner = await startProcess(t, server.url, { ...shared, answer: echo });
  const raw = await rawProcess(t, server.url);
  raw.publish(`${prefixOf(shared.clusterName)}.shard.0`, frame(1, { ...goodCall, remainingMs: 0 }));
  await until(() => owner.seen.rejected.length === 1);
  t.deepEqual(owner.seen.rejected, ['expired']);
  t.is(owner.seen.calls.length, 0);
});
