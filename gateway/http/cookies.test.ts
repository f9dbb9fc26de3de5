import test from 'ava';
import { clearedSessionCookies, parseCookies, secretsMax, secretsOf, sessionCookies } from './cookies.ts';

const session = {
  sessionUuid: '1c9e4b6a-5d0e-4f3b-8a6d-2f1b0c9d8e7f',
  accessSecret: 'access',
  refreshSecret: 'refresh',
  refreshExpirationMs: Date.UTC(2027, 0, 2, 3, 4, 5),
};

test('every value of a name is kept, in order', (t) => {
  const cookies = parseCookies('a=1; b=2; a=3;a=1');
  t.deepEqual(
    [...cookies],
    [
      ['a', ['1', '3', '1']],
      ['b', ['2']],
    ],
  );
});

test('values may hold an equals sign, be empty or quoted; nonsense is skipped', (t) => {
  const cookies = parseCookies(' a = x=y== ; b=; c="q r"; d; =e; ;; __proto__=p; f="');
  t.deepEqual(
    [...cookies],
    [
      ['a', ['x=y==']],
      ['b', ['']],
      ['c', ['q r']],
      ['__proto__', ['p']],
      ['f', ['"']],
    ],
  );
  t.is(parseCookies('').size, 0);
});

test('a header full of cookies is read up to a bound', (t) => {
  t.is(parseCookies('a=1;'.repeat(10_000)).get('a')?.length, 256);
});

test('session cookies carry the attributes of the configuration, and end with the refresh expiry', (t) => {
  const browser = { sameSite: 'None', secure: true, partitioned: true, domain: '' } as const;
  t.deepEqual(sessionCookies(browser, session), [
    `access_token_${session.sessionUuid}=access; HttpOnly; Secure; Path=/; Partitioned; SameSite=None; Expires=Sat, 02 Jan 2027 03:04:05 GMT`,
    `refresh_token_${session.sessionUuid}=refresh; HttpOnly; Secure; Path=/v1/sessions/refresh; Partitioned; SameSite=None; Expires=Sat, 02 Jan 2027 03:04:05 GMT`,
  ]);
  const plain = { sameSite: 'Lax', secure: false, partitioned: false, domain: 'example.org' } as const;
  t.is(
    sessionCookies(plain, session)[0],
    `access_token_${session.sessionUuid}=access; HttpOnly; Path=/; SameSite=Lax; Domain=example.org; Expires=Sat, 02 Jan 2027 03:04:05 GMT`,
  );
});

test('clearing sets both to 0 with an expiry in 1970, on the same paths', (t) => {
  const options = { sameSite: 'Lax', secure: false, partitioned: false, domain: '' } as const;
  t.deepEqual(clearedSessionCookies(options, 's'), [
    'access_token_s=0; HttpOnly; Path=/; SameSite=Lax; Expires=Thu, 01 Jan 1970 00:00:00 GMT',
    'refresh_token_s=0; HttpOnly; Path=/v1/sessions/refresh; SameSite=Lax; Expires=Thu, 01 Jan 1970 00:00:00 GMT',
  ]);
});

test('different secrets are tried up to a bound', (t) => {
  const values = Array.from({ length: secretsMax * 4 }, (_, index) => `${index >> 1}`);
  const secrets = secretsOf(new Map([['access_token_x', values]]), 'access_token_');
  t.is(secrets.length, secretsMax);
  t.deepEqual(secrets.slice(0, 2), ['x=0', 'x=1']);
});

test('the cookie of a living session is found behind those of all that ended', (t) => {
  const ended = Array.from({ length: 179 }, (_, index): [string, string[]] => [
    `access_token_${index}`,
    [`ended ${index}`],
  ]);
  const cookies = new Map([...ended, ['access_token_living', ['living']]]);
  t.true(secretsOf(cookies, 'access_token_').includes('living=living'));
});

test('the secrets of each kind of cookie are the values of all of its name, each with its session', (t) => {
  const cookies = new Map([
    ['access_token_a', ['one', 'two']],
    ['refresh_token_a', ['three']],
    ['other', ['four']],
    ['access_token_b', ['five', 'one']],
  ]);
  t.deepEqual(secretsOf(cookies, 'access_token_'), ['a=one', 'a=two', 'b=five', 'b=one']);
  t.deepEqual(secretsOf(cookies, 'refresh_token_'), ['a=three']);
});
