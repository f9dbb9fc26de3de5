import test from 'ava';
import fc from 'fast-check';
import { BodyBuffer, BodyMemory, type LargeBodyOptions, parseBody, parseLargeBody } from './body.ts';
import { refusals } from './refusal.ts';

const anything: LargeBodyOptions = { take: () => true, isNeeded: () => true };

test('a body is what its chunks were, and all of its memory is given back once', (t) => {
  fc.assert(
    fc.property(
      fc.array(fc.uint8Array({ maxLength: 100_000 }), { maxLength: 8 }),
      fc.boolean(),
      (chunks, declared) => {
        const whole = Buffer.concat(chunks);
        const memory = new BodyMemory(10_000_000);
        const body = new BodyBuffer(memory, 1_000_000, declared ? whole.length : 0);
        for (const chunk of chunks) t.is(body.append(chunk), undefined);
        t.true(body.bytes.equals(whole));
        t.true(memory.bytes >= whole.length);
        body.release();
        body.release();
        t.is(memory.bytes, 0);
      },
    ),
    { numRuns: 50 },
  );
});

test('a declared length takes no memory before its bytes come', (t) => {
  const memory = new BodyMemory(100_000);
  const body = new BodyBuffer(memory, 50_000_000, 50_000_000);
  t.is(memory.bytes, 0);
  t.is(body.append(Buffer.alloc(10)), undefined);
  t.is(memory.bytes, 4 * 1024);
});

test('a user has a share of the memory of all, and gets it back', (t) => {
  const memory = new BodyMemory(100, 60);
  t.true(memory.shareOf('a').take(60));
  t.false(memory.shareOf('a').take(1));
  t.false(memory.shareOf('b').take(41));
  t.true(memory.shareOf('b').take(40));
  memory.shareOf('a').release(60);
  t.is(memory.bytes, 40);
  t.true(memory.shareOf('a').take(60));
});

test('once half of the memory is taken, a network has the share of one user, whoever sends there', (t) => {
  const memory = new BodyMemory(100, 25);
  t.true(memory.shareOf('a', 'there').take(25));
  t.true(memory.shareOf('b', 'there').take(25));
  t.false(memory.shareOf('c', 'there').take(1));
  t.true(memory.shareOf('d', 'elsewhere').take(25));
  t.false(memory.shareOf('e', 'elsewhere').take(1));
  t.true(memory.ofNetwork('elsewhere').take(25), 'the bound of all alone');
  memory.ofNetwork('elsewhere').release(25);
  memory.shareOf('d', 'elsewhere').release(25);
  memory.shareOf('b', 'there').release(25);
  t.true(memory.shareOf('c', 'there').take(25));
  t.is(memory.bytes, 50);
});

test('the values of a parsed body are counted until they are released', (t) => {
  const memory = new BodyMemory(100_000);
  const body = new BodyBuffer(memory, 50_000, 0);
  body.append(Buffer.alloc(10_000));
  body.parsed();
  t.is(body.bytes.length, 0);
  t.is(memory.bytes, 10_000);
  body.release();
  body.release();
  t.is(memory.bytes, 0);
});

test('a large body is not parsed before there is room for all of its result', async (t) => {
  const bytes = Buffer.from(`{"items":[${'{},'.repeat(1_000)}{}]}`);
  const requests: number[] = [];
  const take = (made: number) => {
    requests.push(made);
    return false;
  };
  t.is(await parseLargeBody(bytes, { ...anything, take }), refusals.bodyMemoryFull);
  t.is(requests.length, 1);
  t.true((requests[0] ?? 0) >= 1_001 * 64 && (requests[0] ?? 0) < 2_100 * 64);
});

test('a large body that is no longer wanted is parsed no further', async (t) => {
  const bytes = Buffer.from(`{"items":[${'{},'.repeat(300_000)}{}]}`);
  let calls = 0;
  const isNeeded = () => {
    calls += 1;
    return calls < 3;
  };
  t.is(await parseLargeBody(bytes, { ...anything, isNeeded }), undefined);
  t.is(calls, 3);
});

test('a body over its own limit and one over the memory of all are refused differently', (t) => {
  const memory = new BodyMemory(100_000);
  t.is(new BodyBuffer(memory, 10, 0).append(Buffer.alloc(11)), refusals.bodyTooLarge);
  t.is(new BodyBuffer(memory, 200_000, 200_000).append(Buffer.alloc(100_001)), refusals.bodyMemoryFull);
  t.is(memory.bytes, 0);
});

test('small and large bodies are read alike', async (t) => {
  const texts = [
    '{}',
    '{"a":[1,2]}',
    '[1]',
    '"a"',
    '{',
    '{"a":"\ufeff"}',
    `{"a":${'['.repeat(70)}${']'.repeat(70)}}`,
  ];
  for (const text of texts) {
    t.deepEqual(await parseLargeBody(Buffer.from(text), anything), parseBody(Buffer.from(text)), text);
  }
  const notUtf8 = Buffer.from([0x22, 0xc3, 0x22]);
  t.is(parseBody(notUtf8), refusals.bodyNotUtf8);
  t.is(await parseLargeBody(notUtf8, anything), refusals.bodyNotUtf8);
});

test('nesting is counted the same way in both', async (t) => {
  for (const depth of [62, 63, 64, 65]) {
    const text = `{"a":${'['.repeat(depth)}${' '.repeat(100)}${']'.repeat(depth)}}`;
    t.deepEqual(
      await parseLargeBody(Buffer.from(text), anything),
      parseBody(Buffer.from(text)),
      String(depth),
    );
  }
});
