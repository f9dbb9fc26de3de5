import test from 'ava';
import { CommandFailure } from '../../failure.ts';
import { serverPasswordOf } from './server-password.ts';

const keyParams = { identifier: 'ada@example.org', version: '004', pw_nonce: 'b'.repeat(64) };

test('the server password is the one that the client library makes', async (t) => {
  t.is(
    await serverPasswordOf('correct horse battery stäple', keyParams),
    // By sncrypto-web 1.14.11.
    'cf5f6cd8bef3c6ad162300fbe020fb23e48386bb915dbd6d4ab8228fbe4fd491',
  );
});

test('an account of an older protocol is refused, and its owner told what to do', async (t) => {
  const refused = await t.throwsAsync(serverPasswordOf('x', { ...keyParams, version: '003' }));
  t.true(refused instanceof CommandFailure);
  t.regex(refused?.message ?? '', /protocol 003/);
});
