import test from 'ava';
import fc from 'fast-check';
import { jsonPieces } from './outgoing.ts';

/** A text that is cut into pieces anywhere. */
const longText = fc
  .tuple(fc.string({ unit: 'binary', minLength: 1, maxLength: 20 }), fc.nat({ max: 30 }))
  .map(([unit, shift]) => 'a'.repeat(shift) + unit.repeat(150_000 / unit.length));

test('the pieces are the JSON text of the object', (t) => {
  const value = fc.oneof(
    fc.string(),
    longText,
    fc.integer(),
    fc.constant(null),
    fc.constant(undefined),
    fc.boolean(),
  );
  fc.assert(
    fc.property(fc.dictionary(fc.string(), value, { maxKeys: 5 }), (object) => {
      t.is([...jsonPieces(object)].join(''), JSON.stringify(object));
    }),
    { numRuns: 50 },
  );
});

test('halves of a character that are alone are escaped as JSON has them', (t) => {
  const text = '\ud83d'.repeat(150_000);
  t.is([...jsonPieces({ text })].join(''), JSON.stringify({ text }));
});

test('a long text is never whole in a piece, and what is asked for stands at the beginning', (t) => {
  const pieces = [...jsonPieces({ before: 1, text: '"'.repeat(1_000_000), after: null }, ',')];
  t.true(pieces.every(({ length }) => length < 140_000));
  t.is(pieces[0]?.slice(0, 20), ',"before":1,"text":"');
  t.true(pieces.at(-1)?.endsWith('","after":null}'));
});
