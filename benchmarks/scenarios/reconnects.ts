/**
 * A process with 10,000 sockets is killed. All their clients are back when the next one listens, and ask for a token
 * and a socket until they have one, while others sync.
 */
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { requestBytes } from '../http-load.ts';
import { type Account, newItem, register } from '../support/api-client.ts';
import { someAtOnce } from '../support/at-once.ts';
import { median } from '../support/figures.ts';
import { residentBytes } from '../support/machine.ts';
import { answerOn, RawClient } from '../support/raw-client.ts';
import { syncBytes } from '../support/requests.ts';
import type { LoadServer } from '../support/server.ts';
import { byToken, type OpenSocket, openSocket, upgraded } from '../support/socket.ts';
import { SteadyLoad, summary } from '../support/steady-load.ts';

const users = 1_000;
const socketsOfEach = 10;
const syncUsers = 50;
const syncsPerSecond = 100;
const atOnce = 16;
const retryMs = 1_000;
const quietMs = 5_000;
const limitMs = 60_000;

export async function reconnects(server: LoadServer) {
  const accounts = await someAtOnce(users, atOnce, () => register(server.url));
  const others = await someAtOnce(syncUsers, atOnce, () => register(server.url));
  const devices = Array.from(
    { length: users * socketsOfEach },
    (_, index) => accounts[index % users] as Account,
  );
  await someAtOnce(devices.length, atOnce, (index) => openSocket(server.url, devices[index] as Account));
  const fresh = await server.restart();
  try {
    return await storm(fresh, devices, others);
  } finally {
    await fresh.stop();
  }
}

async function storm(server: LoadServer, devices: readonly Account[], others: readonly Account[]) {
  const client = new RawClient(server.url);
  const syncs = new SteadyLoad({
    ratePerSecond: syncsPerSecond,
    request: async (index) => {
      const items = index % 2 === 0 ? [newItem()] : [];
      const account = others[index % others.length] as Account;
      return (await client.send(syncBytes(server.url, account, { items, limit: 1 }))).status;
    },
  });
  await pause(quietMs);
  const idleBytes = residentBytes(server.pid);
  let mostBytes = idleBytes;
  const watch = setInterval(() => {
    mostBytes = Math.max(mostBytes, residentBytes(server.pid));
  }, 50);
  const beganMs = syncs.nowMs;
  const openedMs: number[] = [];
  const failures: Record<string, number> = {};
  const reopened = devices.map(async (account) => {
    for (;;) {
      const outcome = await dial(server.url, account).catch((error: Error) => error.message);
      if (typeof outcome !== 'string') {
        openedMs.push(syncs.nowMs - beganMs);
        return outcome;
      }
      failures[outcome] = (failures[outcome] ?? 0) + 1;
      if (syncs.nowMs > beganMs + limitMs)
        throw new Error(`not open after a minute: ${JSON.stringify(failures)}`);
      await pause(retryMs);
    }
  });
  const open = await Promise.all(reopened).finally(() => clearInterval(watch));
  const allMs = syncs.nowMs - beganMs;
  await pause(quietMs);
  await syncs.stop();
  const before = summary(syncs.samples, 1_000, beganMs - 100);
  const during = summary(syncs.samples, beganMs, beganMs + allMs);
  const after = { bytes: residentBytes(server.pid) };
  for (const socket of open) socket.close();
  client.close();
  return {
    'sockets open again': open.length,
    'ms until half of them were': median(openedMs),
    'ms until all of them were': allMs,
    ...Object.fromEntries(Object.entries(failures).map(([what, count]) => [`tried again: ${what}`, count])),
    'syncs before, p99 ms': before.p99Ms,
    'syncs meanwhile': during.requests,
    'syncs meanwhile, failed': during.failed,
    'syncs meanwhile, p50 ms': during.p50Ms,
    'syncs meanwhile, p99 ms': during.p99Ms,
    'MB before': idleBytes / 1e6,
    'MB at most': mostBytes / 1e6,
    'MB with all open': after.bytes / 1e6,
  };
}

/** Token and socket over one connection, because this process may have no more connections than the server. */
async function dial(url: string, { accessToken }: Account): Promise<OpenSocket> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  const headers = { authorization: `Bearer ${accessToken}` };
  const ask = requestBytes('POST', new URL('/v1/sockets/tokens', url), headers, '{}');
  const { status, body } = await answerOn(socket, ask);
  const token = /"token":"([^"]+)"/.exec(body)?.[1];
  if (status === 200 && token !== undefined) return upgraded(socket, byToken(token, url));
  socket.destroy();
  throw new Error(`a token was refused: ${status}`);
}
