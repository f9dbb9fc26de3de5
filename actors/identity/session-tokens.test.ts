import { createHmac } from 'node:crypto';
import test from 'ava';
import fc from 'fast-check';
import { createSessionTokens, equalInConstantTime } from './session-tokens.ts';

const key = Buffer.alloc(32, 9);
const tokens = createSessionTokens(key);
const userUuid = '11111111-1111-4111-8111-111111111111';
const sessionUuid = '22222222-2222-4222-8222-222222222222';
const privateIdentifier = '3'.repeat(32);
const secret = 's'.repeat(43);

test('a header token carries its user, its session and its secret', (t) => {
  const token = tokens.mintHeaderToken(userUuid, sessionUuid, secret);
  t.deepEqual(tokens.verify(token), {
    userUuid,
    style: 1,
    identifier: sessionUuid,
    secrets: [secret],
  });
});

test('a cookie token carries its user and its session, and its secrets come in cookies', (t) => {
  const token = tokens.mintCookieToken(userUuid, privateIdentifier);
  const expected = { userUuid, style: 2, identifier: privateIdentifier } as const;
  t.deepEqual(tokens.verify(token, ['one', 'two']), { ...expected, secrets: ['one', 'two'] });
  t.deepEqual(tokens.verify(token), { ...expected, secrets: [] });
});

test('the MAC is the first 16 bytes of HMAC-SHA-256 over what stands before it', (t) => {
  const signed = `1:${userUuid}.${sessionUuid}`;
  const mac = createHmac('sha256', key).update(signed).digest().subarray(0, 16).toString('base64url');
  t.is(tokens.mintHeaderToken(userUuid, sessionUuid, secret), `${signed}.${mac}:${secret}`);
});

test('a token of another key is not ours', (t) => {
  const other = createSessionTokens(Buffer.alloc(32, 8));
  t.is(tokens.verify(other.mintHeaderToken(userUuid, sessionUuid, secret)), undefined);
  t.is(tokens.verify(other.mintCookieToken(userUuid, privateIdentifier)), undefined);
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
        if (changed !== token) t.is(tokens.verify(changed), undefined, changed);
      }
    }
    for (let length = 0; length < token.length; length += 1) {
      t.is(tokens.verify(token.slice(0, length)), undefined);
    }
    t.is(tokens.verify(`${token}x`), undefined);
    t.is(tokens.verify(`${token}\n`), undefined);
  }
});

test('no text that was not minted is accepted or throws', (t) => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.string({ unit: 'binary', maxLength: 400 })), (text) => {
      t.is(tokens.verify(text), undefined);
      t.is(tokens.verify(`1:${text}`), undefined);
      t.is(tokens.verify(`2:${text}`), undefined);
    }),
  );
});

test('texts are equal in constant time exactly when they are equal', (t) => {
  fc.assert(
    fc.property(fc.string({ maxLength: 4 }), fc.string({ maxLength: 4 }), (a, b) => {
      t.is(equalInConstantTime(a, b), a === b);
      t.true(equalInConstantTime(a, a));
    }),
  );
});
