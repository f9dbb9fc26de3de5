import { createHash } from 'node:crypto';
import test from 'ava';
import fc from 'fast-check';
import {
  fingerprintedFields,
  fingerprintOfSave,
  formatMicros,
  fullItem,
  fullItemSchema,
  parseMicros,
  savedFieldNames,
  savedItem,
  savedItemJson,
  sentFields,
} from './item-fields.ts';

test('every field that clients send counts in the fingerprint, so that no change of one passes for a repeat', (t) => {
  t.deepEqual([...fingerprintedFields].sort(), [...sentFields].sort());
});

test('a time is written in UTC with exactly six fraction digits', (t) => {
  t.is(formatMicros(1_708_942_272_345_678), '2024-02-26T10:11:12.345678Z');
  t.is(formatMicros(0), '1970-01-01T00:00:00.000000Z');
  t.is(formatMicros(1), '1970-01-01T00:00:00.000001Z');
  t.is(formatMicros(-1), '1969-12-31T23:59:59.999999Z');
});

test('ISO times of any precision and zone are read to the microsecond', (t) => {
  t.is(parseMicros('2024-02-26T10:11:12.345678Z'), 1_708_942_272_345_678);
  t.is(parseMicros('2024-02-26T10:11:12.345Z'), 1_708_942_272_345_000);
  t.is(parseMicros('2024-02-26T10:11:12.345678999Z'), 1_708_942_272_345_678);
  t.is(parseMicros('2024-02-26T12:11:12+02:00'), 1_708_942_272_000_000);
  t.is(parseMicros('2024-02-26T12:11:12+0200'), 1_708_942_272_000_000);
  t.is(parseMicros('2024-02-26 10:11'), 1_708_942_260_000_000);
  t.is(parseMicros('2024-02-26'), 1_708_905_600_000_000);
});

test('a text that is no ISO time, or exceeds exact numbers, is rejected', (t) => {
  const wrong = [
    '',
    'yesterday',
    '2024-13-01',
    '2024-02-26T25:00:00Z',
    '9999-12-31T23:59:59Z',
    'x'.repeat(1e6),
  ];
  for (const text of [...wrong, 5, null, undefined, {}]) t.is(parseMicros(text), undefined);
});

test('every written time is read back as the same microsecond', (t) => {
  const micros = fc.integer({ min: -8_000_000_000_000_000, max: 8_000_000_000_000_000 });
  fc.assert(fc.property(micros, (n) => t.is(parseMicros(formatMicros(n)), n)));
});

test('milliseconds are written as the platform writes them', (t) => {
  const millis = fc.integer({ min: -8_000_000_000_000, max: 8_000_000_000_000 });
  const platform = (ms: number) => new Date(ms).toISOString().replace('Z', '000Z');
  fc.assert(fc.property(millis, (ms) => t.is(formatMicros(ms * 1_000), platform(ms))));
});

test('an item as given has the fields of the table, in their order', (t) => {
  const row = { uuid: 'u', created_at_timestamp: 0, updated_at_timestamp: 0 } as Parameters<
    typeof fullItem
  >[0];
  const { shape } = fullItemSchema as unknown as { readonly shape: object };
  t.deepEqual(Object.keys(fullItem(row)), Object.keys(shape));
  t.deepEqual(Object.keys(savedItem(row)), savedFieldNames);
});

test('a fingerprint is the SHA-256 of the JSON of session and fields, whatever they contain', (t) => {
  const value = fc.oneof(fc.string({ unit: 'binary' }), fc.jsonValue(), fc.constant(undefined));
  const session = '0d1f7a3e-5b1c-4c57-9d6f-0a2b4c6d8e90';
  fc.assert(
    fc.property(fc.record(Object.fromEntries(fingerprintedFields.map((name) => [name, value]))), (sent) => {
      const counted = fingerprintedFields.map((name) =>
        name === 'shared_vault_uuid' && sent['deleted'] === true ? null : sent[name],
      );
      const expected = createHash('sha256').update(JSON.stringify([session, ...counted]));
      t.deepEqual(fingerprintOfSave(session, sent), expected.digest());
    }),
  );
});

test('the JSON of a saved item says what the item says, whatever it contains', (t) => {
  const text = fc.option(fc.string({ unit: 'binary' }));
  const uuid = fc.uuid();
  const time = fc.constant('2026-01-01T00:00:00.000000Z');
  const saved = fc.record({
    uuid,
    duplicate_of: text,
    content_type: text,
    auth_hash: text,
    deleted: fc.boolean(),
    created_at: time,
    created_at_timestamp: fc.maxSafeInteger(),
    updated_at: time,
    updated_at_timestamp: fc.maxSafeInteger(),
    key_system_identifier: text,
    shared_vault_uuid: fc.option(uuid),
    user_uuid: uuid,
    last_edited_by_uuid: fc.option(uuid),
  });
  fc.assert(fc.property(saved, (item) => t.is(savedItemJson(item), JSON.stringify(item))));
});
