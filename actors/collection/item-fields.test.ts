import test from 'ava';
import { fingerprintedFields, sentFields } from './item-fields.ts';

test('every field that clients send counts in the fingerprint, so that no change of one passes for a repeat', (t) => {
  t.deepEqual([...fingerprintedFields].sort(), [...sentFields].sort());
});
