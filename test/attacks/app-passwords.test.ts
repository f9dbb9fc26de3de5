/** The cost of a sign-in attempt for an account with as many app passwords as it may have. */
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import test from 'ava';
import { challengeOf, headerSessions } from '../kit/account.ts';
import { addAuthenticatorApp } from '../kit/authenticator-app.ts';
import type { Device } from '../kit/device.ts';
import { startServer, type TestServer, unknownAddress } from '../kit/server.ts';

const appPasswordsMax = 100;

/** Needs a code of an authenticator app, or one of these app passwords. */
async function withAppPasswords(server: TestServer): Promise<{ phone: Device; password: string }> {
  const phone = await server.device();
  await addAuthenticatorApp(server, phone);
  let password = '';
  for (let made = 0; made < appPasswordsMax; made += 1) {
    const answer = await phone.call('POST', '/v1/app-passwords', { body: { label: `program ${made}` } });
    password = answer.body.password;
  }
  return { phone, password };
}

/** How often the work makes the SHA-256 of this secret and compares it with another one. */
async function hashesOf(
  secret: string,
  work: () => Promise<unknown>,
): Promise<{ readonly hashes: number; readonly comparisons: number }> {
  const { hash } = crypto;
  const { charCodeAt } = String.prototype;
  const secretHash = hash('sha256', secret, 'hex');
  let [hashes, comparisons] = [0, 0];
  // A comparison in constant time looks at every character, and so once at the first.
  String.prototype.charCodeAt = function (index) {
    if (index === 0 && String(this) === secretHash) comparisons += 1;
    return charCodeAt.call(this, index);
  };
  crypto.hash = ((...args: Parameters<typeof hash>) => {
    if (args[1] === secret) hashes += 1;
    return hash(...args);
  }) as typeof hash;
  syncBuiltinESMExports();
  try {
    await work();
    return { hashes, comparisons };
  } finally {
    crypto.hash = hash;
    String.prototype.charCodeAt = charCodeAt;
    syncBuiltinESMExports();
  }
}

test.serial(
  'an attempt costs the same few hashes, however many app passwords there are and whether one is right',
  async (t) => {
    const server = await startServer(t);
    const { phone, password } = await withAppPasswords(server);
    const { email } = phone.account;
    const other = await server.device('without-app-passwords@example.org');
    const costOf = async (address: string, appPassword: string, accountPassword: string) => {
      const before = server.hasher.verifications;
      const statuses: number[] = [];
      const cost = await hashesOf(appPassword, async () => {
        const request = { api: headerSessions, email: address };
        const parameters = await server.call('POST', '/v2/login-params', {
          body: { ...request, code_challenge: challengeOf('verifier'), app_password: appPassword },
        });
        const signedIn = await server.call('POST', '/v2/login', {
          body: { ...request, password: accountPassword, code_verifier: 'verifier' },
        });
        statuses.push(parameters.status, signedIn.status);
      });
      return { statuses, slow: server.hasher.verifications - before, ...cost };
    };
    const right = await costOf(email, password, phone.account.password);
    t.deepEqual(right.statuses, [200, 200]);
    const wrongAccountPassword = await costOf(email, password, 'x'.repeat(64));
    t.deepEqual(wrongAccountPassword.statuses, [200, 401]);
    const wrong = await costOf(email, 'x'.repeat(43), phone.account.password);
    t.deepEqual(wrong.statuses, [401, 401]);
    const unknown = await costOf(unknownAddress('totp'), 'y'.repeat(43), 'x'.repeat(64));
    t.deepEqual(unknown.statuses, [401, 401]);
    t.log({ right, wrongAccountPassword, wrong, unknown });
    t.deepEqual([right.slow, wrongAccountPassword.slow], [1, 1]);
    t.is(wrong.slow, unknown.slow);
    for (const { hashes } of [right, wrongAccountPassword]) t.is(hashes, 2);
    const few = await costOf(other.account.email, 'z'.repeat(43), 'x'.repeat(64));
    for (const { hashes, comparisons } of [wrong, unknown, few]) {
      t.is(hashes, 1);
      t.is(comparisons, appPasswordsMax);
    }
  },
);
