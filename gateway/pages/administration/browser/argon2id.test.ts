import test from 'ava';
import { serverPassword } from '../../../../actors/identity/client-sign-in.ts';
import { argon2idInBrowser } from './argon2id.ts';

test('the page derives the password that the client library sends to a server', async (t) => {
  const typed = {
    password: 'correct horse battery stäple',
    identifier: 'ada@example.org',
    nonce: 'b'.repeat(64),
  };
  // By sncrypto-web 1.14.11.
  const expected = 'cf5f6cd8bef3c6ad162300fbe020fb23e48386bb915dbd6d4ab8228fbe4fd491';
  t.is(await serverPassword(typed, argon2idInBrowser), expected);
});
