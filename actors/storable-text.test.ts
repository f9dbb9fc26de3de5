import test from 'ava';
import { isStorableText } from './storable-text.ts';

test('text is storable unless it holds a NUL or half of a surrogate pair', (t) => {
  for (const text of ['', 'plain', 'ünïcödé', '\u{1f4a9}', '\u0001\ufeff\uffff'])
    t.true(isStorableText(text));
  for (const text of ['\0', 'a\0b', '\ud800', '\udc00\ud800', 'a\udfff']) t.false(isStorableText(text));
});
