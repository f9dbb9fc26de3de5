import test from 'ava';
import { createSessionTokens } from '../../actors/identity/session-tokens.ts';
import { createVerifyBearer } from './bearer.ts';

const user = '8d0b6a4e-0f3c-4a53-9c4b-0d8b7a9c1e2f';
const session = '1c9e4b6a-5d0e-4f3b-8a6d-2f1b0c9d8e7f';
const secret = 'A'.repeat(43);
const tokens = createSessionTokens(Buffer.alloc(32, 7));
const headerToken = tokens.mintHeaderToken(user, session, secret);
const cookieToken = tokens.mintCookieToken(user, '0'.repeat(32));

test('a bearer of this server says who it is for, first and every later time', (t) => {
  const verify = createVerifyBearer(tokens);
  const first = verify(`Bearer ${headerToken}`, '');
  t.like(first, { userUuid: user, style: 1, identifier: session, secrets: [secret] });
  t.is(verify(`Bearer ${headerToken}`, 'other=cookie'), first);
  t.like(verify(`bearer  ${headerToken}`, ''), { userUuid: user });
});

test('a cookie-style bearer is read with the cookies of this very request', (t) => {
  const verify = createVerifyBearer(tokens);
  const secretsWith = (cookies: string) => verify(`Bearer ${cookieToken}`, cookies)?.secrets;
  t.deepEqual(secretsWith(`access_token_${session}=one; access_token_${session}=two`), [
    `${session}=one`,
    `${session}=two`,
  ]);
  t.deepEqual(secretsWith(`access_token_${session}=three`), [`${session}=three`]);
  t.deepEqual(secretsWith(''), []);
  t.deepEqual(secretsWith(`access_token_${session}=one; access_token_${session}=two`), [
    `${session}=one`,
    `${session}=two`,
  ]);
});

test('no bearer, or one that was altered anywhere, is not accepted', (t) => {
  const verify = createVerifyBearer(tokens);
  verify(`Bearer ${headerToken}`, '');
  t.is(verify('', ''), undefined);
  t.is(verify('Bearer ', ''), undefined);
  t.is(verify(`Basic ${headerToken}`, ''), undefined);
  const signed = headerToken.lastIndexOf(':');
  for (let at = 0; at < signed; at++) {
    const changed = `${headerToken.slice(0, at)}${headerToken[at] === '0' ? '1' : '0'}${headerToken.slice(at + 1)}`;
    t.is(verify(`Bearer ${changed}`, ''), undefined, changed);
  }
  t.is(verify(`Bearer ${headerToken.slice(0, -1)}`, ''), undefined);
});

test('a session takes one place, whatever its bearers look like', (t) => {
  let verified = 0;
  const verify = createVerifyBearer({
    verify: (token, secrets) => {
      verified += 1;
      return tokens.verify(token, secrets);
    },
  });
  const other = tokens.mintHeaderToken(user, '0'.repeat(36), secret);
  verify(`Bearer ${other}`, '');
  const signed = headerToken.slice(0, headerToken.lastIndexOf(':') + 1);
  for (let i = 0; i < 10_000; i++) {
    const spelled = `${i % 2 ? 'bearer' : 'BEARER'}${' '.repeat(1 + (i % 9))}`;
    t.truthy(verify(`${spelled}${signed}${String(i).padStart(43, 'x')}`, ''));
  }
  const before = verified;
  verify(`Bearer ${other}`, '');
  t.is(verified, before, 'the other was pushed out');
});

test('another secret is never taken for the one that is remembered', (t) => {
  const verify = createVerifyBearer(tokens);
  const signed = headerToken.slice(0, headerToken.lastIndexOf(':') + 1);
  for (const each of [secret, 'B'.repeat(43), secret]) {
    t.deepEqual(verify(`Bearer ${signed}${each}`, '')?.secrets, [each]);
  }
});

test('a header that is odd or overlong is no bearer', (t) => {
  const verify = createVerifyBearer(tokens);
  t.truthy(verify(headerToken, ''));
  for (const odd of [
    `bearer${' '.repeat(300)}${headerToken}`,
    `Bearer ${headerToken} `,
    `Bearer ${headerToken} ${headerToken}`,
    `Bearer Bearer ${headerToken}`,
    ` ${headerToken}`,
  ]) {
    t.is(verify(odd, ''), undefined, odd);
  }
});

test('the cache of tokens is bounded, and drops unused ones first', (t) => {
  let verified = 0;
  const verify = createVerifyBearer({
    verify: (token) => {
      verified += 1;
      return { userUuid: user, style: 1, identifier: token, secrets: [] };
    },
  });
  verify('Bearer kept', '');
  for (let i = 0; i < 20_000; i++) {
    verify(`Bearer ${i}`, '');
    if (i % 1_000 === 0) verify('Bearer kept', '');
  }
  t.is(verified, 20_001);
  verify('Bearer 0', '');
  t.is(verified, 20_002);
});
