import test from 'ava';
import { isUsableEscrow } from './known.ts';

test('a recovery uses JSON of a version above 1, and nothing of the first version', (t) => {
  t.true(isUsableEscrow('{"version":2,"ciphertext":"c"}'));
  for (const text of ['', '{', 'null', '[]', '"2"', '{"version":1}', '{"version":"2"}']) {
    t.false(isUsableEscrow(text), text);
  }
});
