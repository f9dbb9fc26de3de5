import test from 'ava';
import fc from 'fast-check';
import { BodyBuffer, BodyMemory, parseBody, parseLargeBody } from './body.ts';
import { refusals } from './refusal.ts';

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

test('what is declared takes no memory before it comes', (t) => {
  const memory = new BodyMemory(100_000);
  const body = new BodyBuffer(memory, 50_000_000, 50_000_000);
  t.is(memory.bytes, 0);
  t.is(body.append(Buffer.alloc(10)), undefined);
  t.is(memory.bytes, 64 * 1024);
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
    t.deepEqual(await parseLargeBody(Buffer.from(text)), parseBody(Buffer.from(text)), text);
  }
  const notUtf8 = Buffer.from([0x22, 0xc3, 0x22]);
  t.is(parseBody(notUtf8), refusals.bodyNotUtf8);
  t.is(await parseLargeBody(notUtf8), refusals.bodyNotUtf8);
});

test('nesting is counted the same way in both', async (t) => {
  for (const depth of [62, 63, 64, 65]) {
    const text = `{"a":${'['.repeat(depth)}${' '.repeat(100)}${']'.repeat(depth)}}`;
    t.deepEqual(await parseLargeBody(Buffer.from(text)), parseBody(Buffer.from(text)), String(depth));
  }
});
