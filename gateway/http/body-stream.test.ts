import test from 'ava';
import fc from 'fast-check';
import { BodyMemory } from './body.ts';
import { Blocks, BodyLostError, BodyStream, queueBytesMax } from './body-stream.ts';
import { refusals } from './refusal.ts';

const kibibyte = 1024;

/** A chunk is the reader's until it asks for the next. */
const copied = (result: IteratorResult<Buffer>): IteratorResult<Buffer> =>
  result.done ? result : { done: false, value: Buffer.from(result.value) };

/** A stream, its memory, and its requests to the source. */
function world(bytesMax = 100_000_000, memoryBytesMax = 100_000_000, blocks = new Blocks()) {
  const memory = new BodyMemory(memoryBytesMax);
  const requests: string[] = [];
  const source = {
    pause: () => requests.push('pause'),
    resume: () => requests.push('resume'),
    waiting: () => {},
  };
  return { memory, requests, stream: new BodyStream(memory, bytesMax, source, blocks) };
}

test('the reader gets the bytes that came, whichever side is faster, and all memory is given back', async (t) => {
  const step = fc.oneof(
    fc.uint8Array({ maxLength: 3_000 }).map((chunk) => ({ chunk })),
    fc.nat(600).map((kibibytes) => ({ chunk: new Uint8Array(kibibytes * kibibyte).fill(kibibytes) })),
    fc.constant('read' as const),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      const { memory, requests, stream } = world();
      const reader = stream[Symbol.asyncIterator]();
      const reads: Promise<IteratorResult<Buffer>>[] = [];
      const sent: Uint8Array[] = [];
      let isRead = true;
      for (const next of steps) {
        if (next === 'read') {
          if (!isRead) continue;
          isRead = false;
          reads.push(
            reader.next().then((result) => {
              isRead = true;
              return copied(result);
            }),
          );
        } else {
          sent.push(next.chunk);
          // The library's memory is gone afterwards.
          const lent = Uint8Array.from(next.chunk);
          stream.add(lent);
          lent.fill(0xee);
        }
        await Promise.resolve();
        await Promise.resolve();
      }
      stream.complete();
      const got = await Promise.all(reads);
      for (let next = await reader.next(); !next.done; next = await reader.next()) got.push(copied(next));
      const whole = Buffer.concat(got.flatMap(({ value }) => (value === undefined ? [] : [value])));
      t.true(whole.equals(Buffer.concat(sent)));
      t.is(memory.bytes, 0);
      t.deepEqual(
        requests,
        requests.map((_, index) => (index % 2 === 0 ? 'pause' : 'resume')),
      );
    }),
    { numRuns: 200 },
  );
});

test('the source is held back while much waits, and goes on when some of it is taken', async (t) => {
  const { requests, stream, memory } = world();
  const reader = stream[Symbol.asyncIterator]();
  stream.add(new Uint8Array(queueBytesMax / 2));
  t.deepEqual(requests, []);
  stream.add(new Uint8Array(queueBytesMax / 2));
  t.deepEqual(requests, ['pause']);
  t.is(memory.bytes, queueBytesMax);
  await reader.next();
  t.deepEqual(requests, ['pause', 'resume']);
  t.is(memory.bytes, queueBytesMax);
  await reader.next();
  t.is(memory.bytes, queueBytesMax / 2);
});

test('crumbs that wait are joined, so that they cost no more than what they hold', (t) => {
  const { stream, memory } = world();
  for (let byte = 0; byte < 100_000; byte++) stream.add(Uint8Array.of(byte));
  t.true(memory.bytes <= 100_000 + 16 * kibibyte);
});

test('a chunk counts until its reader asks for the next', async (t) => {
  const { stream, memory } = world();
  const reader = stream[Symbol.asyncIterator]();
  const next = reader.next();
  stream.add(new Uint8Array(10));
  await next;
  t.is(memory.bytes, 10);
  const last = reader.next();
  t.is(memory.bytes, 0);
  stream.complete();
  t.true((await last).done);
});

test('a reader learns of a lost body, waiting or later, and never takes it for a whole one', async (t) => {
  const { stream, memory } = world();
  const reader = stream[Symbol.asyncIterator]();
  const next = reader.next();
  stream.lose(refusals.bodyTooSlow);
  t.is((await t.throwsAsync(next, { instanceOf: BodyLostError }))?.refusal, refusals.bodyTooSlow);
  await t.throwsAsync(reader.next(), { instanceOf: BodyLostError });
  const other = world();
  other.stream.add(new Uint8Array(10));
  other.stream.release();
  t.is(other.memory.bytes, 0);
  await t.throwsAsync(other.stream[Symbol.asyncIterator]().next(), { instanceOf: BodyLostError });
  t.is(memory.bytes, 0);
});

test('a body over its limit, and one that the memory of all has no room for, are lost for different reasons', async (t) => {
  const large = world(10);
  large.stream.add(new Uint8Array(11));
  const full = world(100_000, 50_000);
  full.stream.add(new Uint8Array(40_000));
  full.stream.add(new Uint8Array(40_000));
  for (const [{ stream, memory }, refusal] of [
    [large, refusals.bodyTooLarge],
    [full, refusals.bodyMemoryFull],
  ] as const) {
    const error = await t.throwsAsync(stream[Symbol.asyncIterator]().next(), { instanceOf: BodyLostError });
    t.is(error?.refusal, refusal);
    t.is(memory.bytes, 0);
  }
});

test('a whole body stays whole: nothing that happens later loses it', async (t) => {
  const { stream } = world();
  stream.add(Uint8Array.of(1));
  stream.complete();
  stream.lose(refusals.bodyTooSlow);
  const reader = stream[Symbol.asyncIterator]();
  t.deepEqual([...(await reader.next()).value], [1]);
  stream.release();
  t.true((await reader.next()).done);
});

test('a block that came whole and was given back before it was read is lost', async (t) => {
  const { stream } = world();
  stream.add(Uint8Array.of(1));
  stream.complete();
  stream.release();
  await t.throwsAsync(stream[Symbol.asyncIterator]().next(), { instanceOf: BodyLostError });
});

test('a reader that stops early has the source go on, and what comes is thrown away', async (t) => {
  const { requests, stream, memory } = world();
  stream.add(new Uint8Array(queueBytesMax));
  stream.add(new Uint8Array(queueBytesMax));
  for await (const _ of stream) break;
  t.deepEqual(requests, ['pause', 'resume']);
  stream.add(new Uint8Array(queueBytesMax));
  t.is(memory.bytes, 0);
});

test('two reads at once are a defect', (t) => {
  const reader = world().stream[Symbol.asyncIterator]();
  reader.next();
  t.throws(() => reader.next(), { instanceOf: TypeError });
});

const worldWith = (blocks: Blocks) => world(undefined, undefined, blocks);

test('the memory of a large chunk is used again once its reader asks for the next, and not before', async (t) => {
  const blocks = new Blocks();
  const { stream } = worldWith(blocks);
  const other = worldWith(blocks).stream;
  const reader = stream[Symbol.asyncIterator]();
  const large = new Uint8Array(512 * kibibyte);
  stream.add(large.fill(1));
  stream.add(large.fill(2));
  const { value: first } = await reader.next();
  other.add(large.fill(3));
  t.deepEqual([...new Set(first)], [1]);
  const { value: second } = await reader.next();
  other.add(large.fill(4));
  t.deepEqual([...new Set(second)], [2]);
  t.deepEqual([...new Set(first)], [4]);
});

test('a reader who has left gives back what they held, and one whose client is gone holds it still', async (t) => {
  const large = new Uint8Array(512 * kibibyte);
  for (const end of ['left', 'gone'] as const) {
    const blocks = new Blocks();
    const { stream } = worldWith(blocks);
    const reader = stream[Symbol.asyncIterator]();
    stream.add(large.fill(1));
    const { value } = await reader.next();
    if (end === 'left') await reader.return?.();
    else stream.lose(refusals.bodyTooSlow);
    worldWith(blocks).stream.add(large.fill(2));
    t.deepEqual([...new Set(value)], end === 'left' ? [2] : [1], end);
  }
});
