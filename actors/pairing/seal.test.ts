import { createHash } from 'node:crypto';
import test from 'ava';
import fc from 'fast-check';
import { systemRandom } from '../../runtime/random.ts';
import { createPairingSeal, type Records } from './seal.ts';

const seal = createPairingSeal(Buffer.alloc(32, 1));
const keyed = createPairingSeal(Buffer.alloc(32, 2));
const id = fc.stringMatching(/^[a-z0-9]([a-z0-9._-]{0,20}[a-z0-9])?$/);

test('a sealed text opens as itself alone', (t) => {
  fc.assert(
    fc.property(fc.string(), id, id, fc.nat(), (plain, one, other, offset) => {
      const sealed = seal.seal('credential', one, plain, systemRandom);
      t.is(seal.open('credential', one, sealed), plain);
      t.throws(() => seal.open('attempt', one, sealed));
      t.throws(() => keyed.open('credential', one, sealed));
      if (one !== other) t.throws(() => seal.open('credential', other, sealed));
      const altered = Buffer.from(sealed);
      const at = offset % altered.length;
      altered.writeUInt8(altered.readUInt8(at) ^ 1, at);
      t.throws(() => seal.open('credential', one, altered));
    }),
    { numRuns: 50 },
  );
});

const recordsOf = (attempts: readonly string[], credentials: readonly string[]): Records => {
  const sealed = (kind: 'attempt' | 'credential', ids: readonly string[]) =>
    new Map(ids.map((each) => [each, { sealed: createHash('sha256').update(`${kind}${each}`).digest() }]));
  return { attempt: sealed('attempt', attempts), credential: sealed('credential', credentials) };
};

test('the MAC is that of one set under one key: none is taken away, put back, renamed or exchanged', (t) => {
  const records = recordsOf(['a', 'b'], ['a', 'c']);
  const mac = seal.macOf(records);
  t.true(seal.isMacOf(recordsOf(['b', 'a'], ['c', 'a']), mac), 'in whatever order');
  t.false(keyed.isMacOf(records, mac));
  t.false(seal.isMacOf(records, mac.subarray(1)));
  for (const [attempts, credentials] of [
    [['a', 'b'], ['a']],
    [['a'], ['a', 'c']],
    [
      ['a', 'b'],
      ['a', 'c', 'd'],
    ],
    [
      ['a', 'c'],
      ['a', 'b'],
    ],
    [[], []],
  ] as const) {
    t.false(seal.isMacOf(recordsOf(attempts, credentials), mac));
  }
  const renamed = {
    ...records,
    credential: new Map([...records.credential].map(([name, record]) => [`${name}x`, record])),
  };
  t.false(seal.isMacOf(renamed, mac));
});
