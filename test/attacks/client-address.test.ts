/** Clients that claim another address, and crowds at one address. */
import test, { type ExecutionContext } from 'ava';
import { refresh, register, registerStranger } from '../kit/account.ts';
import { openRaw } from '../kit/gateway.ts';
import { call } from '../kit/http.ts';
import { startServer, type TestServer } from '../kit/server.ts';

const limits = { publicPerMinute: 5, sessionPerMinute: 20 };

/** The status of a request that has these lines of `X-Forwarded-For`. */
async function statusFrom(t: ExecutionContext, server: TestServer, lines: readonly string[]) {
  const connection = await openRaw(t, server.port);
  const headers = lines.map((line) => `X-Forwarded-For: ${line}\r\n`).join('');
  connection.send(`GET /v1/meta HTTP/1.1\r\nHost: a\r\n${headers}\r\n`);
  const [, status] = /^HTTP\/1\.1 (\d+)/.exec(await connection.received('\r\n')) ?? [];
  connection.socket.destroy();
  return Number(status);
}

test('a line added by a trusted proxy counts, and not what its client wrote before', async (t) => {
  const server = await startServer(t, { gateway: { rateLimits: limits } });
  const statuses: number[] = [];
  for (let n = 0; n < 7; n += 1) {
    statuses.push(await statusFrom(t, server, [`192.0.2.${n}`, '203.0.113.66']));
  }
  t.deepEqual(statuses, [200, 200, 200, 200, 200, 429, 429]);
});

test('a proxy of the private network is trusted only if the operator says so', async (t) => {
  const server = await startServer(t, { gateway: { rateLimits: limits } });
  for (let n = 0; n < 5; n += 1) t.is(await statusFrom(t, server, [`192.0.2.${n}, 10.0.0.1`]), 200);
  t.is(await statusFrom(t, server, ['192.0.2.9, 10.0.0.1']), 429);
  const trusting = await server.another({ rateLimits: limits, trustProxy: 'loopback, uniquelocal' });
  for (let n = 0; n < 7; n += 1) {
    const headers = { 'x-forwarded-for': `192.0.2.${n}, 10.0.0.1` };
    t.is((await call(trusting.url, 'GET', '/v1/meta', { headers })).status, 200);
  }
});

test('a device refreshes while a crowd at its address is refused', async (t) => {
  const server = await startServer(t, { gateway: { rateLimits: limits } });
  const account = await register(server);
  const crowd = () => call(server.url, 'GET', '/v1/meta');
  for (let n = 0; n < 10; n += 1) await crowd();
  t.is((await crowd()).status, 429);
  const guesses = await Promise.all(
    Array.from({ length: 10 }, () => refresh(server, { ...account, access: 'made up', refresh: 'made up' })),
  );
  t.deepEqual([...new Set(guesses.map(({ status }) => status))].toSorted(), [400, 429]);
  t.is((await refresh(server, account)).status, 200);
});

test('a client that refreshes without end is told to wait, and does not affect others', async (t) => {
  const server = await startServer(t, { gateway: { rateLimits: limits } });
  const [account, other] = [await register(server), await registerStranger(server)];
  const statuses = [];
  for (let n = 0; n < 21; n += 1) statuses.push((await refresh(server, account)).status);
  t.deepEqual(statuses, [...Array(20).fill(200), 429]);
  t.is((await refresh(server, other)).status, 200);
  await server.advance(60_000);
  t.is((await refresh(server, account)).status, 200);
});
