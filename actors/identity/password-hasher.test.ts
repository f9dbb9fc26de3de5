import test from 'ava';
import { OverloadedError } from '../../runtime/errors.ts';
import { createPasswordHasher } from './password-hasher.ts';

test('a password is verified by its own hash and by no other', async (t) => {
  const hasher = createPasswordHasher({ concurrent: 1, waiting: 10 });
  const hashed = await hasher.hash('a'.repeat(64), 'lane');
  t.regex(hashed, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  t.not(await hasher.hash('a'.repeat(64), 'lane'), hashed);
  t.true(await hasher.verify(hashed, 'a'.repeat(64), 'lane'));
  t.false(await hasher.verify(hashed, 'b'.repeat(64), 'lane'));
});

test('an unknown account is verified against a hash that no password has', async (t) => {
  const hasher = createPasswordHasher({ concurrent: 1, waiting: 10 });
  t.false(await hasher.verify(undefined, 'a'.repeat(64), 'lane'));
  t.false(await hasher.verify(undefined, '', 'lane'));
});

test('what does not fit the queue is refused, and places are free again afterwards', async (t) => {
  const hasher = createPasswordHasher({ concurrent: 1, waiting: 1 });
  const first = hasher.verify(undefined, 'x', 'lane');
  const second = hasher.verify(undefined, 'x', 'lane');
  await t.throwsAsync(hasher.verify(undefined, 'x', 'lane'), { instanceOf: OverloadedError });
  t.deepEqual(await Promise.all([first, second]), [false, false]);
  t.false(await hasher.verify(undefined, 'x', 'lane'));
});

test('a hash that cannot be read fails alone and keeps no place', async (t) => {
  const hasher = createPasswordHasher({ concurrent: 1, waiting: 0 });
  await t.throwsAsync(hasher.verify('not a hash', 'x', 'lane'));
  t.false(await hasher.verify(undefined, 'x', 'lane'));
});

test('a lane full of guesses delays another lane by one of them', async (t) => {
  const hasher = createPasswordHasher({ concurrent: 1, waiting: 20 });
  const done: string[] = [];
  const verify = async (lane: string) => {
    await hasher.verify(undefined, 'x', lane);
    done.push(lane);
  };
  const guesses = Array.from({ length: 10 }, () => verify('crowd'));
  await verify('owner');
  t.deepEqual(done, ['crowd', 'crowd', 'owner']);
  await Promise.all(guesses);
});
