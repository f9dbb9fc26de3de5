import test from 'ava';
import fc from 'fast-check';
import {
  defaultSliceLimits,
  JsonTooComplexError,
  JsonTooManyValuesError,
  type ScanOptions,
  scanJson,
} from './json-slices.ts';

const smallSlices = { ...defaultSliceLimits, sliceBytes: 16 };
const noYield = async () => {};

async function parseJsonInSlices(bytes: Buffer, turn = noYield, options: ScanOptions = {}): Promise<unknown> {
  const scanned = await scanJson(bytes, turn, options);
  return scanned.parse(turn);
}

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
    return { value: await parseJsonInSlices(Buffer.from(text), noYield, { limits: smallSlices }) };
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

test('a text that JSON.parse accepts gives the same result', async (t) => {
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

test('a text that JSON.parse refuses is refused, for any byte lost, added or changed', async (t) => {
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
        // Cutting a surrogate pair in two leaves a string that UTF-8 cannot express.
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

test('the loop turns once after each slice', async (t) => {
  let yields = 0;
  const items = Array.from({ length: 100 }, (_, i) => ({ uuid: `item-${i}`, content: 'x'.repeat(1_000) }));
  const value = await parseJsonInSlices(
    Buffer.from(JSON.stringify({ items })),
    async () => {
      yields += 1;
    },
    { limits: { ...defaultSliceLimits, sliceBytes: 10_000, sliceStructureBytes: 8_000 } },
  );
  t.deepEqual(value, { items });
  t.is(yields, 10);
});

test('nesting and structure beyond the limits are refused before anything is parsed', async (t) => {
  const tooDeep = `{"items":[${'['.repeat(64)}${']'.repeat(64)}]}`;
  const tooDense = `{"items":[[${'1,'.repeat(600_000)}1]]}`;
  const tooEscaped = `{"items":["${'x'.repeat(3_000_000)}\\n"]}`;
  const otherwiseEscaped = `{"items":["${'x'.repeat(3_000_000)}\\""]}`;
  const tooSpacious = `{"items":1${' '.repeat(200_000)}}`;
  for (const text of [tooDeep, tooDense, tooEscaped, otherwiseEscaped, tooSpacious, `[${tooDense}]`]) {
    await t.throwsAsync(scanJson(Buffer.from(text), noYield), { instanceOf: JsonTooComplexError });
  }
  const deepest = `{"items":[${'['.repeat(62)}${']'.repeat(62)}]}`;
  t.deepEqual(await parseJsonInSlices(Buffer.from(deepest), noYield), JSON.parse(deepest));
});

test('members, elements and values beyond the limits are refused before anything is parsed', async (t) => {
  const limits = { ...defaultSliceLimits, membersMax: 20, elementsMax: 30, valuesMax: 100 };
  const members = (n: number) => `{${Array.from({ length: n }, (_, i) => `"k${i}":0`).join(',')}}`;
  const elements = (n: number) => `{"items":[${Array(n).fill('0').join(',')}]}`;
  const apart = (n: number) => `{"a":[${Array(n).fill('0').join(',')}],"b":[0]}`;
  const values = (n: number) => `{"a":{"b":[${Array(n).fill('{}').join(',')}]}}`;
  for (const fits of [members(20), elements(30), apart(29), values(40)]) {
    const scanned = await scanJson(Buffer.from(fits), noYield, { limits });
    t.deepEqual(await scanned.parse(noYield), JSON.parse(fits));
  }
  for (const isTooMuch of [members(21), elements(31), apart(30), values(51)]) {
    await t.throwsAsync(scanJson(Buffer.from(isTooMuch), noYield, { limits }), {
      instanceOf: JsonTooManyValuesError,
    });
  }
});

test('the count of values is never too low', async (t) => {
  const countOf = (value: unknown): number =>
    1 +
    (typeof value === 'object' && value !== null
      ? Object.values(value).reduce<number>((sum, each) => sum + countOf(each), 0)
      : 0);
  await fc.assert(
    fc.asyncProperty(arbitraryBody, async (value) => {
      const text = JSON.stringify(value);
      const { values } = await scanJson(Buffer.from(text), noYield);
      t.true(values + 1 >= countOf(JSON.parse(text)), text);
    }),
  );
});

test('unwanted members are skipped, whatever is in them', async (t) => {
  const fieldNames = new Set(['items', 'limit']);
  const junk = ['{"a":nonsense}', '[1,,2]', '"x"', 'tru', '[{"b":[]}]'];
  for (const each of junk) {
    const text = `{"x":${each},"items":[1,2],"\\u006cimit":3,"${'k'.repeat(2_000)}":${each}}`;
    t.deepEqual(await parseJsonInSlices(Buffer.from(text), noYield, { fieldNames }), {
      items: [1, 2],
      limit: 3,
    });
  }
  for (const broken of ['{"x":1', '{"x":[1,"items":[]}', '{"x" 1}', '{"x":1}}']) {
    await t.throwsAsync(parseJsonInSlices(Buffer.from(broken), noYield, { fieldNames }), {
      instanceOf: SyntaxError,
    });
  }
});

test('the loop turns within a bounded amount of structure, wherever in the text it is', async (t) => {
  const dense = `[${Array(20_000).fill('0').join(',')}]`;
  const inMembers = Array.from({ length: 20 }, (_, i) => `"k${i}":${dense}`).join(',');
  const inObjects = Array.from({ length: 20 }, (_, i) => `"k${i}":{"a":${dense}}`).join(',');
  for (const text of [`{${inMembers}}`, `{${inObjects}}`, `{"items":[${Array(20).fill(dense).join(',')}]}`]) {
    let scanTurns = 0;
    let parseTurns = 0;
    const bytes = Buffer.from(text);
    const scanned = await scanJson(bytes, async () => {
      scanTurns += 1;
    });
    await scanned.parse(async () => {
      parseTurns += 1;
    });
    t.true(scanTurns >= 5, String(scanTurns));
    t.true(parseTurns >= 10, String(parseTurns));
  }
});
