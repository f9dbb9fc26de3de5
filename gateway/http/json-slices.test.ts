import test from 'ava';
import fc from 'fast-check';
import { defaultSliceLimits, JsonTooComplexError, parseJsonInSlices } from './json-slices.ts';

const smallSlices = { ...defaultSliceLimits, sliceBytes: 16 };
const noYield = async () => {};

function outcome(parse: () => unknown): { value: unknown } | 'SyntaxError' {
  try {
    return { value: parse() };
  } catch (error) {
    if (error instanceof SyntaxError) return 'SyntaxError';
    throw error;
  }
}

async function slicedOutcome(text: string): Promise<{ value: unknown } | 'SyntaxError'> {
  try {
    return { value: await parseJsonInSlices(Buffer.from(text), noYield, smallSlices) };
  } catch (error) {
    if (error instanceof SyntaxError) return 'SyntaxError';
    throw error;
  }
}

const arbitraryBody = fc.oneof(
  fc.record({ items: fc.array(fc.jsonValue()), sync_token: fc.string(), limit: fc.integer() }),
  fc.dictionary(fc.string(), fc.oneof(fc.jsonValue(), fc.array(fc.jsonValue({ maxDepth: 2 })))),
  fc.jsonValue(),
);

const arbitrarySpacing = fc.constantFrom(undefined, 1, 2, '\t');

test('what JSON.parse reads is read the same', async (t) => {
  await fc.assert(
    fc.asyncProperty(arbitraryBody, arbitrarySpacing, async (value, spacing) => {
      const text = JSON.stringify(value, undefined, spacing);
      t.deepEqual(
        await slicedOutcome(text),
        outcome(() => JSON.parse(text)),
      );
    }),
  );
});

test('what JSON.parse refuses is refused, whatever byte is lost, added or changed', async (t) => {
  const edits = fc.constantFrom(...'{}[]",:\\ \n0-1eEtn.a\u0000\ufeffé');
  await fc.assert(
    fc.asyncProperty(
      arbitraryBody,
      arbitrarySpacing,
      fc.nat(),
      fc.nat(2),
      edits,
      async (value, spacing, at, removed, added) => {
        const valid = JSON.stringify(value, undefined, spacing);
        const position = at % (valid.length + 1);
        const edited = valid.slice(0, position) + added + valid.slice(position + removed);
        // Cutting a surrogate pair in two leaves what UTF-8 cannot say.
        const text = Buffer.from(edited).toString();
        t.deepEqual(
          await slicedOutcome(text),
          outcome(() => JSON.parse(text)),
          text,
        );
      },
    ),
    { numRuns: 3_000 },
  );
});

test('any string of structural characters gives the same result or the same error', async (t) => {
  const structural = fc.string({ unit: fc.constantFrom(...'{}[]",:\\ 1a'), maxLength: 24 });
  await fc.assert(
    fc.asyncProperty(structural, fc.boolean(), async (inner, wrapped) => {
      const text = wrapped ? `{"items":[${inner}]}` : inner;
      t.deepEqual(
        await slicedOutcome(text),
        outcome(() => JSON.parse(text)),
        text,
      );
    }),
    { numRuns: 3_000 },
  );
});

test('a __proto__ key is an ordinary property and pollutes nothing', async (t) => {
  const text = '{"__proto__":{"polluted":true},"items":[{"__proto__":{"polluted":true}}]}';
  const value = (await parseJsonInSlices(Buffer.from(text), noYield)) as object;
  t.deepEqual(Object.keys(value), ['__proto__', 'items']);
  t.false('polluted' in value);
});

test('the loop turns between slices, once between two slices', async (t) => {
  let yields = 0;
  const items = Array.from({ length: 100 }, (_, i) => ({ uuid: `item-${i}`, content: 'x'.repeat(1_000) }));
  const value = await parseJsonInSlices(
    Buffer.from(JSON.stringify({ items })),
    async () => {
      yields += 1;
    },
    { ...defaultSliceLimits, sliceBytes: 10_000 },
  );
  t.deepEqual(value, { items });
  t.is(yields, 9);
});

test('nesting, structure and members beyond the limits are refused before they are parsed', async (t) => {
  const tooDeep = `{"items":[${'['.repeat(64)}${']'.repeat(64)}]}`;
  const tooDense = `{"items":[[${'1,'.repeat(600_000)}1]]}`;
  const tooMany = `{${Array.from({ length: 1_025 }, (_, i) => `"k${i}":0`).join(',')}}`;
  for (const text of [tooDeep, tooDense, tooMany, `[${tooDense}]`]) {
    await t.throwsAsync(parseJsonInSlices(Buffer.from(text), noYield), { instanceOf: JsonTooComplexError });
  }
  const deepest = `{"items":[${'['.repeat(62)}${']'.repeat(62)}]}`;
  t.deepEqual(await parseJsonInSlices(Buffer.from(deepest), noYield), JSON.parse(deepest));
});
