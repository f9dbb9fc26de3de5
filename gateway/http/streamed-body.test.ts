import test from 'ava';
import { FakeClock } from '../../test/kit/clock.ts';
import { BodyMemory } from './body.ts';
import { BodyLostError, BodyStream, queueBytesMax } from './body-stream.ts';
import { LargeBodies } from './large-bodies.ts';
import type { ReceivingOptions, Recipient } from './receiving.ts';
import { StreamedBody } from './streamed-body.ts';
import { UploadScheduler } from './upload-scheduler.ts';
import type { HttpResponse } from './uws.ts';

/** A body on a connection that records when it is held back and released. */
function world({
  memory = new BodyMemory(10_000_000),
  uploadScheduler = new UploadScheduler({ userBytes: 10_000_000, allBytes: 10_000_000 }),
  clock = new FakeClock(),
  user = undefined as string | undefined,
} = {}) {
  const calls: string[] = [];
  let give: (chunk: ArrayBuffer, isLast: boolean) => void = () => {};
  const res = {
    pause: () => calls.push('pause'),
    resume: () => calls.push('resume'),
    onData(handler: typeof give) {
      give = handler;
    },
  } as unknown as HttpResponse;
  const options: ReceivingOptions = {
    clock,
    bodyMemory: memory,
    uploadScheduler,
    largeBodies: new LargeBodies(),
    checkSession: async () => undefined,
    limits: {
      smallBodyBytes: 0,
      largeBodyBytes: 0,
      bodyTimeoutMs: 0,
      minimumThroughput: { bytes: 1, windowMs: 60_000 },
    },
  };
  let stream: BodyStream | undefined;
  const recipient: Recipient = {
    startedMs: 0,
    received(_, raw) {
      if (raw instanceof BodyStream) stream = raw;
    },
    refused() {},
    failed() {},
    waitsForBody() {},
    bodyEnded() {},
  };
  const head = { user, bytesMax: 10_000_000 };
  const body = new StreamedBody(res, head, options, recipient);
  body.start();
  const reader = stream?.[Symbol.asyncIterator]();
  if (reader === undefined) throw new Error('no stream was handed over');
  const newCalls = () => calls.splice(0);
  return {
    body,
    newCalls,
    read: () => reader.next(),
    memory: options.bodyMemory,
    give: (bytes: number, isLast = false) => give(new ArrayBuffer(bytes), isLast),
  };
}

test('the clock of the library is kept from striking until the reply is out, even when all has come', (t) => {
  const { body, newCalls, give } = world();
  body.overdue(1_000);
  t.deepEqual(newCalls(), ['pause', 'resume']);
  give(10, true);
  body.overdue(2_000);
  t.deepEqual(newCalls(), ['pause', 'resume']);
  body.end();
  body.overdue(3_000);
  t.deepEqual(newCalls(), []);
});

test('a connection that is held back stays so until there is room, and is let go before a reply', (t) => {
  const { body, newCalls, give, memory } = world();
  give(queueBytesMax);
  t.deepEqual(newCalls(), ['pause']);
  body.overdue(1_000);
  t.deepEqual(newCalls(), []);
  body.discard();
  t.deepEqual(newCalls(), ['resume']);
  t.is(memory.bytes, 0);
  give(queueBytesMax);
  t.deepEqual(newCalls(), []);
  t.is(memory.bytes, 0);
});

test('a connection that is gone is not touched', (t) => {
  const { body, newCalls, give, memory } = world();
  give(queueBytesMax);
  newCalls();
  body.end();
  t.deepEqual(newCalls(), []);
  t.is(memory.bytes, 0);
});

test('streams without a session take nothing from the share of those who are about to sign in', (t) => {
  const shareBytes = 2 * queueBytesMax;
  const memory = new BodyMemory(10 * shareBytes, shareBytes);
  const streams = Array.from({ length: 4 }, () => world({ memory }));
  for (const { give } of streams) give(queueBytesMax);
  t.is(memory.bytes, shareBytes);
  t.true(memory.shareOf('').take(shareBytes));
});

test('a stream takes the share of the user who proves to be its sender, and nothing of strangers', (t) => {
  const shareBytes = 2 * queueBytesMax;
  const memory = new BodyMemory(10 * shareBytes, shareBytes);
  const streams = Array.from({ length: 4 }, () => world({ memory, user: 'a' }));
  for (const { give } of streams) give(queueBytesMax);
  t.is(memory.bytes, shareBytes);
  t.true(memory.shareOf('streams').take(shareBytes));
  t.false(memory.shareOf('a').take(1));
});

test('a client that is held back for what others of its user hold need not reach any throughput meanwhile', async (t) => {
  const turns: (() => void)[] = [];
  const memory = new BodyMemory(10_000_000);
  const uploadScheduler = new UploadScheduler({ userBytes: 1_000, allBytes: 10_000 }, (work) =>
    turns.push(work),
  );
  const clock = new FakeClock();
  const [holder, waiting] = [
    world({ memory, uploadScheduler, clock }),
    world({ memory, uploadScheduler, clock }),
  ];
  const read = waiting.read();
  holder.give(20_000);
  t.deepEqual(waiting.newCalls(), ['pause']);
  await clock.advance(120_000);
  waiting.body.overdue(clock.monotonicMs());
  holder.body.discard();
  turns.shift()?.();
  t.deepEqual(waiting.newCalls(), ['resume']);
  await clock.advance(59_000);
  waiting.body.overdue(clock.monotonicMs());
  waiting.give(10);
  t.is((await read).value?.length, 10);
  const next = waiting.read();
  await clock.advance(60_000);
  waiting.body.overdue(clock.monotonicMs());
  await t.throwsAsync(next, { instanceOf: BodyLostError });
});

test('a connection that is gone while others hold much is neither touched nor waited for', (t) => {
  const turns: (() => void)[] = [];
  const uploadScheduler = new UploadScheduler({ userBytes: 1_000, allBytes: 10_000 }, (work) =>
    turns.push(work),
  );
  const [holder, leaving, last] = [
    world({ uploadScheduler }),
    world({ uploadScheduler }),
    world({ uploadScheduler }),
  ];
  holder.give(queueBytesMax);
  leaving.newCalls();
  last.newCalls();
  leaving.body.end();
  holder.body.end();
  turns.shift()?.();
  t.deepEqual(leaving.newCalls(), []);
  t.deepEqual(last.newCalls(), ['resume']);
});

test('the connection of one of many streams ends with the reply, as it is when the reply is made', (t) => {
  const uploadScheduler = new UploadScheduler({ userBytes: 10_000_000, allBytes: 10_000_000 });
  const streams = Array.from({ length: 6 }, () => world({ uploadScheduler, user: 'a' }).body);
  for (const body of streams) body.discard();
  t.deepEqual(
    streams.map(({ endsConnection }) => endsConnection),
    [true, true, false, false, false, false],
  );
  streams[0]?.end();
  t.true(streams[0]?.endsConnection);
});
