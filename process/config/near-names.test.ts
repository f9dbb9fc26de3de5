import test from 'ava';
import fc from 'fast-check';
import { editDistance, nearNames } from './near-names.ts';

const known = ['HOST', 'PORT', 'ACCESS_TOKEN_AGE', 'COOKIE_SECURE'];

test('a mistyped name is recognised, in any case', (t) => {
  t.deepEqual(nearNames(['ACESS_TOKEN_AGE', 'COOKIE_SECRUE', 'access_token_age', 'PROT'], known), [
    { variable: 'ACESS_TOKEN_AGE', meant: 'ACCESS_TOKEN_AGE' },
    { variable: 'COOKIE_SECRUE', meant: 'COOKIE_SECURE' },
    { variable: 'access_token_age', meant: 'ACCESS_TOKEN_AGE' },
    { variable: 'PROT', meant: 'PORT' },
  ]);
});

test('settings themselves and the usual variables of a machine are not', (t) => {
  const usual = ['PATH', 'HOME', 'HOSTNAME', 'PWD', 'TERM', 'LANG', 'USER', 'SHELL', 'SHLVL', 'TZ', '_'];
  t.deepEqual(nearNames([...known, ...usual], known), []);
});

test('the distance is symmetric, zero for equals alone, and at most the longer length', (t) => {
  const name = fc.string({ unit: fc.constantFrom('A', 'B', '_'), maxLength: 8 });
  fc.assert(
    fc.property(name, name, (left, right) => {
      const distance = editDistance(left, right);
      t.is(distance, editDistance(right, left));
      t.is(distance === 0, left === right);
      t.true(distance <= Math.max(left.length, right.length));
    }),
  );
});

test('one edit is a distance of one', (t) => {
  for (const edited of ['XABCD', 'ABC', 'ABXD', 'BACD', 'ABCDX'])
    t.is(editDistance('ABCD', edited), 1, edited);
});
