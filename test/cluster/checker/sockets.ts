/** No socket tells a user about saves in a vault after they were removed from it. */
import { countLeading } from '../../kit/sorted.ts';
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
    const savedBy = countLeading(entries, ({ atMs }) => atMs <= savedAtMs - slackMs);
    const from = Math.min(at, savedBy);
    // Saves by several members are announced together, as the vault's.
    const saves = (vault: string) => vault === by || memberships.mayBelong(by, vault, 0, at);
    if (vaults.some((vault) => memberships.mayBelong(user, vault, from, at) && saves(vault))) continue;
    report('overheard', user, `entry ${at}: ${by} saved something at ${Math.round(savedAtMs)}`);
  }
}
