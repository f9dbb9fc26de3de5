import { createHmac } from 'node:crypto';
import test from 'ava';
import fc from 'fast-check';
import { createSessionTokens, equalInConstantTime, secretsMax, secretsOf } from './credentials.ts';

const key = Buffer.alloc(32, 9);
const tokens = createSessionTokens(key);
const userUuid = '11111111-1111-4111-8111-111111111111';
const sessionUuid = '22222222-2222-4222-8222-222222222222';
const privateIdentifier = '3'.repeat(32);
const secret = 's'.repeat(43);
const noCookies = new Map<string, readonly string[]>();

test('a header token carries its user, its session and its secret', (t) => {
  const token = tokens.mintHeaderToken(userUuid, sessionUuid, secret);
  t.deepEqual(tokens.verify(token, noCookies), {
    userUuid,
    style: 1,
    identifier: sessionUuid,
    secrets: [secret],
  });
});

test('a cookie token carries its user and its session, and its secrets come in cookies', (t) => {
  const token = tokens.mintCookieToken(userUuid, privateIdentifier);
  const cookies = new Map([
    ['access_token_a', ['one', 'two']],
    ['refresh_token_a', ['three']],
    ['other', ['four']],
    ['access_token_b', ['five', 'one']],
  ]);
  const expected = { userUuid, style: 2, identifier: privateIdentifier } as const;
  t.deepEqual(tokens.verify(token, cookies), { ...expected, secrets: ['one', 'two', 'five'] });
  t.deepEqual(tokens.verify(token, cookies, 'refresh_token_'), { ...expected, secrets: ['three'] });
  t.deepEqual(tokens.verify(token, noCookies), { ...expected, secrets: [] });
});

test('the MAC is the first 16 bytes of HMAC-SHA-256 over what stands before it', (t) => {
  const signed = `1:${userUuid}.${sessionUuid}`;
  const mac = createHmac('sha256', key).update(signed).digest().subarray(0, 16).toString('base64url');
  t.is(tokens.mintHeaderToken(userUuid, sessionUuid, secret), `${signed}.${mac}:${secret}`);
});

test('a token of another key is not ours', (t) => {
  const other = createSessionTokens(Buffer.alloc(32, 8));
  t.is(tokens.verify(other.mintHeaderToken(userUuid, sessionUuid, secret), noCookies), undefined);
  t.is(tokens.verify(other.mintCookieToken(userUuid, privateIdentifier), noCookies), undefined);
});

test('a token with any one character changed before its secret, cut or grown is not ours', (t) => {
  const header = tokens.mintHeaderToken(userUuid, sessionUuid, secret);
  const cookie = tokens.mintCookieToken(userUuid, privateIdentifier);
  for (const [token, signedCharacters] of [
    [header, header.length - secret.length],
    [cookie, cookie.length],
  ] as const) {
    for (let index = 0; index < signedCharacters; index += 1) {
      for (const character of ['0', 'A', 'é', ':', '.']) {
        const changed = token.slice(0, index) + character + token.slice(index + 1);
        if (changed !== token) t.is(tokens.verify(changed, noCookies), undefined, changed);
      }
    }
    for (let length = 0; length < token.length; length += 1) {
      t.is(tokens.verify(token.slice(0, length), noCookies), undefined);
    }
    t.is(tokens.verify(`${token}x`, noCookies), undefined);
    t.is(tokens.verify(`${token}\n`, noCookies), undefined);
  }
});

test('no text that was not minted is accepted or throws', (t) => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.string({ unit: 'binary', maxLength: 400 })), (text) => {
      t.is(tokens.verify(text, noCookies), undefined);
      t.is(tokens.verify(`1:${text}`, noCookies), undefined);
      t.is(tokens.verify(`2:${text}`, noCookies), undefined);
    }),
  );
});

test('different secrets are tried up to a bound', (t) => {
  const values = Array.from({ length: secretsMax * 4 }, (_, index) => `${index >> 1}`);
  const secrets = secretsOf(new Map([['access_token_x', values]]), 'access_token_');
  t.is(secrets.length, secretsMax);
  t.deepEqual(secrets.slice(0, 2), ['0', '1']);
});

test('the cookie of a living session is found behind those of all that ended', (t) => {
  const ended = Array.from({ length: 179 }, (_, index): [string, string[]] => [
    `access_token_${index}`,
    [`ended ${index}`],
  ]);
  const cookies = new Map([...ended, ['access_token_living', ['living']]]);
  t.true(secretsOf(cookies, 'access_token_').includes('living'));
});

test('texts are equal in constant time exactly when they are equal', (t) => {
  fc.assert(
    fc.property(fc.string({ maxLength: 4 }), fc.string({ maxLength: 4 }), (a, b) => {
      t.is(equalInConstantTime(a, b), a === b);
      t.true(equalInConstantTime(a, a));
    }),
  );
});
