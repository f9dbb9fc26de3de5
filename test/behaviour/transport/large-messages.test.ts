import { randomBytes } from 'node:crypto';
import test from 'ava';
import { RetryableError, TerminalError } from '../../../runtime/errors.ts';
import { decodeFrameOf, encodeFrame, partBytes } from '../../../runtime/transport/nats/frame.ts';
import { startNatsServer } from '../../kit/nats-server.ts';
import {
  call,
  echo,
  ownCluster,
  prefixOf,
  rawProcess,
  startProcess,
  until,
} from '../../kit/transport-process.ts';

const server = await startNatsServer({ jetStream: false });
test.after.always(() => server.stop());

const mebibyte = 1_024 * 1_024;
/** For a machine that is busy with other tests. */
const patient = () => ({ deadlineMs: performance.now() + 60_000 });

test('large requests and replies go both ways at once, whole', async (t) => {
  const shared = ownCluster();
  const one = await startProcess(t, server.url, { ...shared, answer: echo, shards: [0] });
  const other = await startProcess(t, server.url, { ...shared, answer: echo, shards: [1] });
  const sizes = [
    64 * 1_024,
    65 * 1_024,
    partBytes - 1,
    partBytes,
    partBytes + 1,
    3 * partBytes,
    5 * mebibyte,
  ];
  await Promise.all(
    sizes.map(async (size) => {
      const bytes = randomBytes(size);
      const echoed = (await other.transport.ask(call({ bytes }, patient()))) as { bytes: Buffer };
      t.is(Buffer.compare(bytes, echoed.bytes), 0, `${size} bytes`);
    }),
  );
  await until(() => one.transport.heldBytes === 0 && other.transport.heldBytes === 0);
});

test('many large replies at once come at the speed of their receiver', async (t) => {
  const shared = ownCluster();
  const text = 'x'.repeat(2 * mebibyte);
  await startProcess(t, server.url, { ...shared, answer: () => text });
  const caller = await startProcess(t, server.url, shared);
  const replies = await Promise.all(
    Array.from({ length: 60 }, () => caller.transport.ask(call(null, patient()))),
  );
  t.true(replies.every((reply) => reply === text));
  t.deepEqual(caller.seen.disconnected, []);
});

test('a small call is not held up behind large ones', async (t) => {
  const shared = ownCluster();
  const large = 'x'.repeat(20 * mebibyte);
  await startProcess(t, server.url, {
    ...shared,
    answer: ({ command }) => (command === 'large' ? large : 'small'),
  });
  const caller = await startProcess(t, server.url, shared);
  let isLargeThere = false;
  const reply = caller.transport.ask(call(null, { command: 'large', ...patient() })).then(() => {
    isLargeThere = true;
  });
  t.is(await caller.transport.ask(call(null)), 'small');
  t.false(isLargeThere);
  await reply;
});

test('a request or reply that is too large to be sent is terminal', async (t) => {
  const shared = ownCluster();
  const tooLarge = Buffer.alloc(65 * mebibyte);
  await startProcess(t, server.url, {
    ...shared,
    answer: ({ command }) => (command === 'large' ? tooLarge : 1),
  });
  const caller = await startProcess(t, server.url, shared);
  await t.throwsAsync(caller.transport.ask(call(tooLarge)), { instanceOf: TerminalError });
  await t.throwsAsync(caller.transport.ask(call(null, { command: 'large' })), { instanceOf: TerminalError });
});

test('a large call whose sender is gone reaches no handler, and its caller may repeat it', async (t) => {
  const shared = ownCluster();
  const owner = await startProcess(t, server.url, { ...shared, answer: echo });
  const raw = await rawProcess(t, server.url);
  const held = { kind: 'held', from: 'gone', id: '1', bytes: mebibyte, remainingMs: 5_000 } as const;
  const answer = await raw.request(`${prefixOf(shared.clusterName)}.shard.0`, encodeFrame(held));
  const errorReply = decodeFrameOf(answer, 'refusal');
  t.is(errorReply.class, 'retryable');
  t.is(errorReply.outcome, 'none');
  t.is(owner.seen.calls.length, 0);
});

for (const [what, holder] of Object.entries({
  'is gone': () => undefined,
  'goes midway': (part: number) =>
    part === 0 ? ({ kind: 'part', bytes: Buffer.alloc(partBytes) } as const) : errorReplyNotFound,
  'sends parts of another size': () => ({ kind: 'part', bytes: Buffer.alloc(10) }) as const,
  'sends something else': () => ({ kind: 'reply', value: 1 }) as const,
})) {
  test(`a large reply whose holder ${what} leaves the outcome unknown`, async (t) => {
    const shared = ownCluster();
    const prefix = prefixOf(shared.clusterName);
    const caller = await startProcess(t, server.url, shared);
    const raw = await rawProcess(t, server.url);
    const held = { kind: 'held', from: 'raw', id: '1', bytes: 2 * mebibyte, remainingMs: 5_000 } as const;
    await raw.answer(`${prefix}.shard.0`, () => encodeFrame(held));
    if (holder(0) !== undefined) {
      await raw.answer(`${prefix}.parts.raw`, (fetch) => {
        const frame = holder(decodeFrameOf(fetch, 'fetch').part);
        return frame && encodeFrame(frame);
      });
    }
    const error = await t.throwsAsync(caller.transport.ask(call(null)), { instanceOf: RetryableError });
    t.is(error.outcome, 'unknown');
    t.is(caller.transport.callsInFlight, 0);
  });
}

const errorReplyNotFound = { kind: 'refusal', class: 'not-found', message: 'not any more' } as const;
