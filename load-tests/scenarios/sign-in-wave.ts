/**
 * Everybody signs in at once, as after an outage of a company's identity provider. Who waits, and do signed-in users
 * notice?
 */
import { sha256 } from 'k6/crypto';
import { b64encode } from 'k6/encoding';
import { peaking, steadily } from '../support/arrivals.ts';
import { api, call, dataOf } from '../support/call.ts';
import { profile } from '../support/environment.ts';
import { optionsOf, summaryOf } from '../support/load-test.ts';
import { idleUsers, nextOf, password } from '../support/users.ts';
import { uuid } from '../support/uuid.ts';

export { setup } from '../support/load-test.ts';
export { idleSync } from '../support/mix.ts';
export { watch } from '../support/watch.ts';

const { perSecond } = profile;

export const options = optionsOf(
  {
    idleSync: steadily('idleSync', perSecond),
    signIn: peaking('signIn', perSecond / 100, perSecond / 5, 2),
  },
  { operations: ['idle-sync', 'login-params', 'login', 'logout'] },
);

/** Signs in like a client, and out again, so that sessions do not pile up. */
export function signIn(): void {
  const { email } = nextOf(idleUsers);
  const verifier = `${uuid()}${uuid()}`;
  const challenge = b64encode(sha256(verifier, 'hex'), 'rawurl');
  const known = call(
    { operation: 'login-params', path: '/v2/login-params', body: { api, email, code_challenge: challenge } },
    (reply) => dataOf(reply),
  );
  if (known === undefined) return;
  const body = { api, email, password: password(), code_verifier: verifier, ephemeral: false };
  const token = call(
    { operation: 'login', path: '/v2/login', body },
    (reply) => dataOf<{ session: { access_token: string } }>(reply)?.session.access_token,
  );
  if (token === undefined) return;
  call({ operation: 'logout', path: '/v1/logout', token, body: {}, status: 204 }, () => true);
}

export const handleSummary = summaryOf('sign-in-wave');
