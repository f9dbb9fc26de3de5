import { hashSync } from '@node-rs/bcrypt';
import test from 'ava';
import { createImportedPasswords, isImportedHash, verifyImported } from './imported-password.ts';

const hashed = hashSync('password', 4).replace(/^\$2y/, '$2a');

test('a hash of each form and cost is known, and nothing else', (t) => {
  for (const form of ['$2a$', '$2b$', '$2y$']) t.true(isImportedHash(hashed.replace('$2a$', form)));
  for (const text of [
    undefined,
    '',
    'closed',
    '$argon2id$v=19$m=8',
    hashed.slice(1),
    `${hashed}x`,
    '$2x$04$'.padEnd(60, 'a'),
  ]) {
    t.false(isImportedHash(text));
  }
});

test('a password is right or wrong, and nobody’s is wrong', async (t) => {
  t.true(await verifyImported(hashed, 'password'));
  t.false(await verifyImported(hashed, 'Password'));
  t.false(await verifyImported(undefined, 'password'));
  t.false(await verifyImported(`$2a$11$${'a'.repeat(53)}`, 'password'), 'a text that is no hash');
});

test('whether any is left is asked once in half a minute', async (t) => {
  const passwords = createImportedPasswords();
  let calls = 0;
  const ask = async () => {
    calls += 1;
    return calls === 1;
  };
  t.true(await passwords.areLeft(0, ask));
  t.true(await passwords.areLeft(29_999, ask));
  t.is(calls, 1);
  t.false(await passwords.areLeft(30_000, ask));
  t.is(calls, 2);
});
