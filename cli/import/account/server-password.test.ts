import test from 'ava';
import { CommandFailure } from '../../failure.ts';
import { isEasyToGuess, type ReceivedKeyParams, serverPasswordOf } from './server-password.ts';

const typed = 'correct horse battery stäple';
const keyParams = { identifier: 'ada@example.org', version: '004', pw_nonce: 'b'.repeat(64) };
const oldest = { identifier: 'ada@example.org', version: '001', pw_salt: '5a'.repeat(20), pw_cost: 5_000 };

test('the server password of an account of 004 is the one that the client library makes', async (t) => {
  t.is(
    await serverPasswordOf(typed, keyParams),
    // By sncrypto-web 1.14.11.
    'cf5f6cd8bef3c6ad162300fbe020fb23e48386bb915dbd6d4ab8228fbe4fd491',
  );
});

// Python's hashlib made these. `test/browser/old-accounts.test.ts` compares with the client library.
const vectors: readonly [string, ReceivedKeyParams, string][] = [
  ['001', oldest, 'b306618d72c7284ce7b69d36f9b4ceba8360d2499034c4b7b0f819a0a20449f3'],
  ['002', { ...oldest, version: '002' }, 'b306618d72c7284ce7b69d36f9b4ceba8360d2499034c4b7b0f819a0a20449f3'],
  [
    '003',
    { ...keyParams, version: '003', pw_cost: 110_000 },
    '30e8712d47fbfeeef2b1280e75e137a1a3370fa9d1a14a3b696cef1c1049fab1',
  ],
  [
    '003 whose server does not know the cost',
    { ...keyParams, version: '003' },
    '30e8712d47fbfeeef2b1280e75e137a1a3370fa9d1a14a3b696cef1c1049fab1',
  ],
  [
    '003 of another cost',
    { ...keyParams, version: '003', pw_cost: 101_000 },
    '62dcabf4a4a457941739ea0499cc28727557db405c4f00525956892b3f2d7abe',
  ],
];
for (const [name, params, expected] of vectors) {
  test(`the server password of an account of ${name} is derived as its protocol says`, async (t) => {
    t.is(await serverPasswordOf(typed, params), expected);
  });
}

const refusals: readonly [string, object, RegExp][] = [
  ['an unknown protocol', { ...keyParams, version: '005' }, /protocol 005, which this command does not know/],
  ['no protocol', { ...keyParams, version: undefined }, /none named/],
  ['004 without a nonce', { ...keyParams, pw_nonce: undefined }, /sent no pw_nonce/],
  ['003 without a nonce', { ...keyParams, version: '003', pw_nonce: null }, /sent no pw_nonce/],
  ['002 without a salt', { ...oldest, version: '002', pw_salt: '' }, /sent no pw_salt/],
  ['001 without a cost', { ...oldest, pw_cost: undefined }, /sent no pw_cost/],
  ['too cheap a cost of 001', { ...oldest, pw_cost: 2_999 }, /2999 rounds .* 3000 to 1000000 are allowed/],
  ['too cheap a cost of 003', { ...keyParams, version: '003', pw_cost: 99_999 }, /99999 rounds/],
  ['a cost that would take minutes', { ...oldest, pw_cost: 1_000_001 }, /1000001 rounds/],
  ['a cost that is no number', { ...oldest, pw_cost: '5000' }, /5000 rounds/],
];
for (const [name, params, message] of refusals) {
  test(`key params of ${name} are refused`, async (t) => {
    const refused = await t.throwsAsync(serverPasswordOf('x', params as ReceivedKeyParams));
    t.true(refused instanceof CommandFailure);
    t.regex(refused?.message ?? '', message);
  });
}

test('accounts of 001 and 002 have passwords that are easy to guess', (t) => {
  const versions = ['001', '002', '003', '004'].filter((version) => isEasyToGuess({ version }));
  t.deepEqual(versions, ['001', '002']);
});
