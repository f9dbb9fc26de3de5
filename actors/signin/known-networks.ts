/**
 * The networks from which an account was signed in to with the right password. They are counted each on its own and
 * never with the strangers, so that its owner gets in from home whatever strangers try. Kept as keyed digests.
 */
import { z } from 'zod';
import type { Turn } from '../../runtime/command.ts';
import { type State, sliceMap } from '../../runtime/slice.ts';

/** Home, work, a phone, a few of the family's. Beyond it the one that was used longest ago goes. */
export const knownNetworksMax = 8;

const knownAgeMs = 180 * 86_400_000;

export const knownNetworkMap = sliceMap<{ readonly usedMs: number }>({
  family: 'known-network',
  format: 1,
  schema: z.object({ usedMs: z.number() }),
  entriesMax: knownNetworksMax,
});

export function isKnownNetwork(state: State & { readonly nowMs: number }, key: string): boolean {
  const known = state.entry(knownNetworkMap, key);
  return known !== undefined && state.nowMs < endOfKnown(known);
}

export const endOfKnown = ({ usedMs }: { readonly usedMs: number }): number => usedMs + knownAgeMs;

export function rememberNetwork(turn: Turn, key: string): void {
  const entries = [...turn.entries(knownNetworkMap)].toSorted(([, a], [, b]) => a.usedMs - b.usedMs);
  const [oldest] = entries;
  const isNew = turn.entry(knownNetworkMap, key) === undefined;
  if (isNew && entries.length >= knownNetworksMax && oldest !== undefined) {
    turn.removeEntry(knownNetworkMap, oldest[0]);
  }
  turn.setEntry(knownNetworkMap, key, { usedMs: turn.nowMs });
}
