/** No socket tells a user about saves in a vault after they were removed from it. */
import type { Timed } from '../history.ts';
import type { Memberships } from './memberships.ts';
import type { Report } from './violation.ts';

/** The servers' clocks match that of the history, but not to the millisecond. */
const slackMs = 250;

export function checkSockets(entries: readonly Timed[], memberships: Memberships, report: Report): void {
  const vaults = [...memberships.vaults];
  for (const [at, entry] of entries.entries()) {
    if (entry.event !== 'heard' || entry.user === entry.by) continue;
    const { user, by, savedAtMs } = entry;
    const from = Math.min(at, indexAt(entries, savedAtMs - slackMs));
    // Saves by several members are announced together, as the vault's.
    const saves = (vault: string) => vault === by || memberships.mayBelong(by, vault, 0, at);
    if (vaults.some((vault) => memberships.mayBelong(user, vault, from, at) && saves(vault))) continue;
    report('overheard', user, `entry ${at}: ${by} saved something at ${Math.round(savedAtMs)}`);
  }
}

/** The first entry after that moment. */
function indexAt(entries: readonly Timed[], atMs: number): number {
  let [low, high] = [0, entries.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((entries[middle]?.atMs ?? 0) > atMs) high = middle;
    else low = middle + 1;
  }
  return low;
}
