/** Saves of one new 1 KB item each: 64 connections, 32 users; and where the CPU went. */

import { runLoad } from '../http-load.ts';
import { newItem, register, sync } from '../support/api-client.ts';
import { cpuTimes } from '../support/machine.ts';
import { syncBytes } from '../support/requests.ts';
import type { LoadServer } from '../support/server.ts';

const connections = 64;
const users = 32;
const durationMs = 8_000;

export async function saves(server: LoadServer) {
  const accounts = await Promise.all(
    Array.from({ length: users }, async () => {
      const account = await register(server.url);
      const { sync_token } = await sync(server.url, account, {});
      return { account, token: sync_token };
    }),
  );
  // As a client does, every sync goes on from the token of the one before.
  const tokens = accounts.map(({ token }) => token);
  const { hostname, port } = new URL(server.url);
  const options = {
    host: hostname,
    port: Number(port),
    connections,
    request: (connection: number) => {
      const user = accounts[connection % users];
      if (user === undefined) throw new Error('no such account');
      return syncBytes(server.url, user.account, {
        items: [newItem()],
        sync_token: tokens[connection % users],
      });
    },
    onReply: (connection: number, _status: number, body: string) => {
      tokens[connection % users] = /"sync_token":"([^"]+)"/.exec(body)?.[1] ?? '';
    },
  };
  await runLoad({ ...options, durationMs: 1_500 });
  const before = { ...cpuTimes(server.pid), generator: process.cpuUsage() };
  const result = await runLoad({ ...options, durationMs });
  const after = { ...cpuTimes(server.pid), generator: process.cpuUsage(before.generator) };
  if (result.statuses[200] !== result.replies) throw new Error(`answers: ${JSON.stringify(result.statuses)}`);
  const share = (ms: number) => ms / durationMs;
  return {
    'saves/s': result.repliesPerSecond,
    'p50 ms': result.p50Ms,
    'p99 ms': result.p99Ms,
    'cores used by the server process': share(after.ownMs - before.ownMs),
    'cores used by the database': share(after.belowMs - before.belowMs),
    'cores used by the load generator': share((after.generator.user + after.generator.system) / 1_000),
  };
}
