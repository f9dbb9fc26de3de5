import test from 'ava';
import { OverloadedError } from '../../runtime/errors.ts';
import { rememberLastHash } from './last-hash.ts';
import type { PasswordHasher } from './password-hasher.ts';

const key = ['key'];

function countingHasher(outcomes: readonly (string | Error)[]) {
  const hashed: string[] = [];
  const hasher: PasswordHasher = {
    async hash(password) {
      const outcome = outcomes[hashed.push(password) - 1];
      if (typeof outcome === 'string') return outcome;
      throw outcome;
    },
    verify: async (of, password) => of === 'hash' && password === 'right',
  };
  return { hasher: rememberLastHash(hasher), hashed };
}

test('the password that was hashed last is not hashed again, and any other is', async (t) => {
  const { hasher, hashed } = countingHasher(['first', 'second', 'third']);
  t.deepEqual(await Promise.all([hasher.hash('a', key), hasher.hash('a', key)]), ['first', 'first']);
  t.is(await hasher.hash('a', key), 'first');
  t.is(await hasher.hash('b', key), 'second');
  t.is(await hasher.hash('a', key), 'third');
  t.deepEqual(hashed, ['a', 'b', 'a']);
});

test('a hash that failed is tried again', async (t) => {
  const { hasher } = countingHasher([new OverloadedError('too many'), 'second']);
  await t.throwsAsync(hasher.hash('a', key), { instanceOf: OverloadedError });
  t.is(await hasher.hash('a', key), 'second');
});

test('a sign-in is verified every time', async (t) => {
  const { hasher } = countingHasher(['hash']);
  const hash = await hasher.hash('right', key);
  t.true(await hasher.verify(hash, 'right', key));
  t.false(await hasher.verify(hash, 'wrong', key));
});
