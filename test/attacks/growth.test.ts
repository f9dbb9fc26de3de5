/** Attacks on storage: a flood of unknown names, day after day. */
import test from 'ava';
import { challengeOf } from '../kit/account.ts';
import { startServer, type TestServer } from '../kit/server.ts';

const dayMs = 86_400_000;
const addressesADay = 40;
const days = 8;

/** Asks how each of these would sign in, and tries a password. */
async function guess(server: TestServer, day: number): Promise<void> {
  for (let at = 0; at < addressesADay; at += 1) {
    const email = `nobody-${day}-${at}@example.org`;
    const body = { email, code_challenge: challengeOf('verifier') };
    await server.call('POST', '/v2/login-params', { body });
    const password = { email, password: 'x'.repeat(64), code_verifier: 'verifier', api: '20200115' };
    await server.call('POST', '/v2/login', { body: password });
  }
}

test('addresses that nobody has leave nothing behind after some days, however many there are', async (t) => {
  const server = await startServer(t);
  const rows: number[] = [];
  for (let day = 0; day < days; day += 1) {
    await guess(server, day);
    // After a day that passed at once, the server handles everything due in the following minute.
    for (const partMs of [dayMs / 2, dayMs / 2]) await server.advance(partMs);
    rows.push([...server.host.database.sizes.values()].reduce((sum, size) => sum + size, 0));
  }
  const worst = Math.max(...rows.slice(days / 2));
  const early = Math.max(...rows.slice(0, days / 2));
  t.log(`rows by day: ${rows}`);
  // Not the same every day: the server makes up a second factor for some of these addresses.
  t.true(worst <= 1.25 * early, `rows by day: ${rows}`);
  t.true(rows[0] !== undefined && rows[0] >= addressesADay, `rows by day: ${rows}`);
});
