/**
 * A node that is cut off from the database holds up nobody but the users that it hosts. Those are free as soon as the
 * database names another host for them.
 */
import type { Timed } from '../history.ts';
import type { Report } from './violation.ts';

/** A sync takes milliseconds, but the machine is busy. One that meets a host that must not answer takes up to 25 s. */
const tookMaxMs = 5_000;

export interface Sync {
  readonly user: string;
  readonly status: number;
  readonly tookMs: number;
}

export function checkBystanders(entries: readonly Timed[], report: Report): void {
  for (const { user, status, tookMs } of syncsOfOthers(entries)) {
    if (status === 200 && tookMs <= tookMaxMs) continue;
    report('held-up', user, `a sync was answered ${status} after ${tookMs} ms`);
  }
}

/** The syncs that were sent when another node than the one that is cut off hosted their user. */
export function* syncsOfOthers(entries: readonly Timed[]): Generator<Sync> {
  /** Keyed by user, since when another node is the host, without a break. */
  let sinceMs = new Map<string, number>();
  let healedMs = Number.NEGATIVE_INFINITY;
  for (const entry of entries) {
    if (entry.event === 'cut-off') {
      const former = entry.atMs < healedMs ? sinceMs : new Map<string, number>();
      sinceMs = new Map(entry.others.map((user) => [user, former.get(user) ?? entry.atMs]));
      healedMs = Number.POSITIVE_INFINITY;
    }
    if (entry.event === 'healed') healedMs = entry.atMs;
    if (entry.event !== 'synced') continue;
    const { user, status, tookMs } = entry;
    const sentMs = entry.atMs - tookMs;
    const isOfAnotherHost = sentMs >= (sinceMs.get(user) ?? Number.POSITIVE_INFINITY);
    if (isOfAnotherHost && sentMs <= healedMs) yield { user, status, tookMs };
  }
}
