/** Syncs of a user in a hundred vaults, and of one in a single vault, compared with one in none. */
import { runLoad } from '../http-load.ts';
import { type Account, caughtUp, newItem, register, sync } from '../support/api-client.ts';
import { someAtOnce } from '../support/at-once.ts';
import { median } from '../support/figures.ts';
import { cpuTimes } from '../support/machine.ts';
import { firstSync, syncBytes } from '../support/requests.ts';
import type { LoadServer } from '../support/server.ts';
import { makeVault, vaultItem } from '../support/vaults.ts';

const vaultCounts = [0, 1, 100];
const items = 1_000;
const load = { connections: 16, durationMs: 4_000, warmupMs: 1_000 };
const firstSyncs = 7;

export const vaultSyncs = ({ url, pid }: LoadServer) => syncsInVaults(url, pid);

/** If several processes share the work, no single CPU time is that of the syncs. */
export async function syncsInVaults(url: string, pid?: number) {
  const figures: Record<string, number> = {};
  for (const count of vaultCounts) {
    const account = await userIn(url, count);
    const idle = await idleSyncs(url, pid, account);
    for (const [what, value] of Object.entries(idle)) figures[`in ${count} vaults, ${what}`] = value;
    figures[`in ${count} vaults, first sync of 1,000 items, ms`] = await firstSyncMs(url, account);
  }
  const ratio = (what: string) =>
    (figures[`in 100 vaults, ${what}`] ?? Number.NaN) / (figures[`in 0 vaults, ${what}`] ?? Number.NaN);
  const compared = ['idle sync alone, p50 ms', 'idle sync, CPU us each', 'first sync of 1,000 items, ms'];
  return {
    ...figures,
    ...Object.fromEntries(
      compared
        .filter((what) => pid !== undefined || !what.includes('CPU'))
        .map((what) => [`… 100 over none, ${what}`, ratio(what)]),
    ),
  };
}

/** The same number of items for any number of vaults, spread over all of them. */
async function userIn(url: string, count: number): Promise<Account> {
  const account = await register(url);
  const vaults = await someAtOnce(count, 4, () => makeVault(url, account));
  const made = Array.from({ length: items }, (_, index) =>
    vaults.length === 0 ? newItem() : vaultItem(vaults[index % vaults.length] as string),
  );
  for (let from = 0; from < items; from += 100) {
    const { saved_items, conflicts } = await sync(url, account, { items: made.slice(from, from + 100) });
    if (saved_items.length !== 100)
      throw new Error(
        `${saved_items.length} of 100 were saved, in ${count} vaults: ${JSON.stringify(conflicts[0])}`,
      );
  }
  return account;
}

async function idleSyncs(url: string, pid: number | undefined, account: Account) {
  const idle = syncBytes(url, account, { items: [], sync_token: await caughtUp(url, account) });
  const { hostname, port } = new URL(url);
  const target = { host: hostname, port: Number(port), ...load, request: () => idle };
  const alone = await runLoad({ ...target, connections: 1 });
  const before = pid === undefined ? undefined : cpuTimes(pid);
  const many = await runLoad({ ...target, warmupMs: 0 });
  const after = pid === undefined ? undefined : cpuTimes(pid);
  for (const { statuses, replies } of [alone, many])
    if (statuses[200] !== replies) throw new Error(`answers: ${JSON.stringify(statuses)}`);
  const figures = {
    'idle sync alone, p50 ms': alone.p50Ms,
    'idle sync alone, p99 ms': alone.p99Ms,
    'idle syncs/s': many.repliesPerSecond,
  };
  if (before === undefined || after === undefined) return figures;
  return {
    ...figures,
    'idle sync, CPU us each': ((after.ownMs - before.ownMs) * 1_000) / many.replies,
    'idle sync, CPU us of the database each': ((after.belowMs - before.belowMs) * 1_000) / many.replies,
  };
}

async function firstSyncMs(url: string, account: Account): Promise<number> {
  const times: number[] = [];
  for (let run = 0; run < firstSyncs; run += 1) {
    const startMs = performance.now();
    const found = await firstSync(url, account);
    times.push(performance.now() - startMs);
    // Its page also names each vault by a uuid.
    if (found < items) throw new Error(`${found} of ${items} items came`);
  }
  return median(times);
}
