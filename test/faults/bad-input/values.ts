/** JSON texts of unexpected values. They are texts and not values, because no serialiser would write many of them. */
import fc from 'fast-check';
import { marker } from './world.ts';

const numbers = [
  '0',
  '-0',
  '1e400',
  '-1e400',
  '1e-400',
  '9007199254740993',
  '-9007199254740993',
  '1.5',
  '-1',
];
const largeNumbers = [
  '1e21',
  '4294967296',
  '9223372036854775808',
  '253402300800000000',
  '8640000000000001000',
];
const numberLike = ['"NaN"', '"Infinity"', '"-1"', '"1e400"', '"0x10"'];
const texts = [
  '""',
  '" "',
  '"\\u0000"',
  `"${marker}\\u0000@bad.test"`,
  '"\\ud800"',
  '"\\udc00\\ud800"',
  `"${marker}\\udfff"`,
  '"\\u202e\\ufeff"',
  '"\\r\\nX-Injected: 1"',
  '"\u{1f4a9}"',
  '"İ"',
  '"__proto__"',
  '"constructor"',
  '"\' or 1=1 --"',
  '"00000000-0000-0000-0000-000000000000"',
  '"ffffffff-ffff-ffff-ffff-fffffffffffg"',
  '"275760-09-13T00:00:00.001Z"',
  '"-000001-01-01T00:00:00Z"',
  '"0000-00-00T00:00:00Z"',
  `"${'x'.repeat(5_000)}"`,
];
const structures = [
  '[]',
  '[null]',
  '[[]]',
  '{}',
  '{"":{}}',
  '{"__proto__":{"polluted":true}}',
  '{"constructor":{"prototype":{"polluted":true}}}',
  '{"length":4294967295,"0":"a"}',
  '{"toString":null,"valueOf":null,"toJSON":1}',
];
const plain = ['true', 'false', 'null'];

/** One of each JSON type, and the traps of each. */
export const oddTexts: readonly string[] = [
  ...numbers,
  ...largeNumbers,
  ...numberLike,
  ...texts,
  ...structures,
  ...plain,
];

export const oddText = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...oddTexts) },
  { weight: 1, arbitrary: fc.json({ maxDepth: 3 }) },
  { weight: 1, arbitrary: fc.double().map((number) => JSON.stringify(number) ?? 'null') },
  { weight: 1, arbitrary: fc.string({ unit: 'binary' }).map((text) => JSON.stringify(text)) },
);

/** Surprising keys, beside the expected ones. */
export const oddKey = fc.oneof(
  fc.constantFrom('__proto__', 'constructor', 'prototype', 'toString', 'toJSON', 'then', 'status', '', '\0'),
  fc.string({ unit: 'binary', maxLength: 12 }),
);
