/** Sign-ins per second, and their effect on idle syncs. */

import { runLoad } from '../http-load.ts';
import { register, signIn, sync } from '../support/api-client.ts';
import { syncBytes } from '../support/requests.ts';
import type { LoadServer } from '../support/server.ts';

const users = 16;
const durationMs = 6_000;
/** Few, so that the figure shows the delay and not a saturated machine. */
const syncConnections = 2;

export async function signIns(server: LoadServer) {
  const accounts = await Promise.all(Array.from({ length: users }, () => register(server.url)));
  const [first] = accounts;
  if (first === undefined) throw new Error('no account');
  const { sync_token } = await sync(server.url, first, {});
  const idle = syncBytes(server.url, first, { items: [], sync_token });
  const { hostname, port } = new URL(server.url);
  const load = {
    host: hostname,
    port: Number(port),
    connections: syncConnections,
    durationMs,
    request: () => idle,
  };
  const alone = await runLoad({ ...load, warmupMs: 500 });
  let done = 0;
  const endMs = performance.now() + durationMs;
  const [beside] = await Promise.all([
    runLoad(load),
    ...accounts.map(async (account) => {
      while (performance.now() < endMs) {
        await signIn(server.url, account);
        done += 1;
      }
    }),
  ]);
  return {
    'sign-ins/s': (done * 1_000) / durationMs,
    'idle sync alone, p50 ms': alone.p50Ms,
    'idle sync alone, p99 ms': alone.p99Ms,
    'idle sync beside sign-ins, p50 ms': beside?.p50Ms ?? Number.NaN,
    'idle sync beside sign-ins, p99 ms': beside?.p99Ms ?? Number.NaN,
  };
}
