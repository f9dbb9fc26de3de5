import test from 'ava';
import { OverloadedError } from '../../runtime/errors.ts';
import type { FairnessKey } from '../queue.ts';
import { closedHash } from './imported-password.ts';
import { createPasswordHasher, keyOfKnown, keyOfUnknown, keyOfUser } from './password-hasher.ts';

const key = ['key'];

test('a password is verified by its own hash and by no other', async (t) => {
  const hasher = createPasswordHasher({ concurrent: 1, waiting: 10 });
  const hashed = await hasher.hash('a'.repeat(64), key);
  t.regex(hashed, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  t.not(await hasher.hash('a'.repeat(64), key), hashed);
  t.true(await hasher.verify(hashed, 'a'.repeat(64), key));
  t.false(await hasher.verify(hashed, 'b'.repeat(64), key));
});

test('an unknown account is verified against a hash that no password has', async (t) => {
  const hasher = createPasswordHasher({ concurrent: 1, waiting: 10 });
  t.false(await hasher.verify(undefined, 'a'.repeat(64), key));
  t.false(await hasher.verify(undefined, '', key));
});

test('while imported hashes are left, every account and none cost the same', async (t) => {
  const requests: string[] = [];
  const check = (name: string) => async () => {
    requests.push(name);
    return false;
  };
  const checks = { own: check('own'), imported: check('imported') };
  const hasher = createPasswordHasher({ concurrent: 1, waiting: 10 }, checks);
  const imported = `$2a$11$${'a'.repeat(53)}`;
  for (const hashed of [undefined, closedHash, imported, '$argon2id$…']) {
    requests.length = 0;
    t.false(await hasher.verify(hashed, 'x', key, true));
    t.deepEqual(requests, ['own', 'imported']);
  }
  requests.length = 0;
  t.false(await hasher.verify(undefined, 'x', key));
  t.deepEqual(requests, ['own'], 'without any, none is made up');
});

test('a hash that does not fit the queue is refused, and its slots are free again afterwards', async (t) => {
  const hasher = createPasswordHasher({ concurrent: 1, waiting: 1 });
  const first = hasher.verify(undefined, 'x', key);
  const second = hasher.verify(undefined, 'x', key);
  await t.throwsAsync(hasher.verify(undefined, 'x', key), { instanceOf: OverloadedError });
  t.deepEqual(await Promise.all([first, second]), [false, false]);
  t.false(await hasher.verify(undefined, 'x', key));
});

test('a hash that cannot be read fails alone and keeps no place', async (t) => {
  const hasher = createPasswordHasher({ concurrent: 1, waiting: 0 });
  await t.throwsAsync(hasher.verify('not a hash', 'x', key));
  t.false(await hasher.verify(undefined, 'x', key));
});

test('a key full of guesses delays another by one of them', async (t) => {
  const hasher = createPasswordHasher({ concurrent: 1, waiting: 20 });
  const done: string[] = [];
  const verify = async (name: string) => {
    await hasher.verify(undefined, 'x', [name]);
    done.push(name);
  };
  const guesses = Array.from({ length: 10 }, () => verify('crowd'));
  await verify('owner');
  t.deepEqual(done, ['crowd', 'crowd', 'owner']);
  await Promise.all(guesses);
});

test('strangers of all networks delay the known and the signed-in by one of them', async (t) => {
  const hasher = createPasswordHasher({ concurrent: 1, waiting: 12, waitingPerKey: 4 });
  const done: string[] = [];
  const verify = async (name: string, ofCaller: FairnessKey) => {
    await hasher.verify(undefined, 'x', ofCaller);
    done.push(name);
  };
  const guesses = Array.from({ length: 13 }, (_, n) => verify('stranger', keyOfUnknown(`198.51.100.${n}`)));
  const outcomes = Promise.allSettled(guesses);
  await Promise.all([
    verify('owner', keyOfKnown('203.0.113.7')),
    verify('user', keyOfUser('11111111-1111-4111-8111-111111111111')),
  ]);
  t.deepEqual(done, ['stranger', 'stranger', 'owner', 'user']);
  t.is((await outcomes).filter(({ status }) => status === 'rejected').length, 2);
});

test('all networks of a site have one turn, and those of another make room for it', async (t) => {
  const hasher = createPasswordHasher({ concurrent: 1, waiting: 10, waitingPerKey: 4 });
  const done: string[] = [];
  const verify = async (name: string, address: string) => {
    await hasher.verify(undefined, 'x', keyOfUnknown(address));
    done.push(name);
  };
  const guesses = Array.from({ length: 20 }, (_, n) => verify('crowd', `2001:db8:1:${n.toString(16)}::1`));
  const outcomes = Promise.allSettled(guesses);
  await verify('owner', '2001:db8:2::1');
  t.deepEqual(done, ['crowd', 'crowd', 'owner']);
  await outcomes;
});
