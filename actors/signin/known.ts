/**
 * The networks and devices from which the account was signed in to with the right password. A device is known by the cookies of the
 * sessions opened on it. Each is counted on its own and never with unknown networks. So the owner can sign in whatever others try: at
 * home by the network, and elsewhere by the device. They are stored as keyed digests.
 */
import { z } from 'zod';
import type { Turn } from '../../runtime/command.ts';
import { type SliceMap, type SliceSource, sliceMap } from '../../runtime/slice.ts';

const knownAgeMs = 180 * 86_400_000;
const schema = z.object({ usedMs: z.number() });
type KnownEntry = z.infer<typeof schema>;

/** Enough for home, work, a phone and a few networks of the family. */
export const knownNetworkMap = sliceMap<KnownEntry>({
  family: 'known-network',
  schema,
  entriesMax: 8,
});

/** Each sign-in on a device adds one, as it opens another session. */
export const knownDeviceMap = sliceMap<KnownEntry>({
  family: 'known-device',
  schema,
  entriesMax: 16,
});

const maps: readonly SliceMap<KnownEntry>[] = [knownNetworkMap, knownDeviceMap];

export const isKnown = (state: SliceSource & { readonly nowMs: number }, key: string): boolean =>
  maps.some((map) => state.nowMs < endOfKnown(state.entry(map, key)));

/** If there are too many, the least recently used one is dropped. */
export function remember(turn: Turn, map: SliceMap<KnownEntry>, key: string): void {
  const [oldest, ...others] = [...turn.entries(map)].toSorted(([, a], [, b]) => a.usedMs - b.usedMs);
  const isFull = others.length + 1 >= map.entriesMax;
  if (isFull && oldest !== undefined && turn.entry(map, key) === undefined) turn.removeEntry(map, oldest[0]);
  turn.setEntry(map, key, { usedMs: turn.nowMs });
}

/** When the last of them is forgotten; 0 if there is none. */
export function endOfKnowing(turn: Turn): number {
  return Math.max(0, ...maps.flatMap((map) => [...turn.entries(map).values()].map(endOfKnown)));
}

/** Removes those that have expired, or all. */
export function forgetKnown(turn: Turn, which: 'ended' | 'all'): void {
  for (const map of maps) {
    for (const [key, known] of turn.entries(map)) {
      if (which === 'all' || endOfKnown(known) <= turn.nowMs) turn.removeEntry(map, key);
    }
  }
}

const endOfKnown = (known: KnownEntry | undefined): number =>
  known === undefined ? 0 : known.usedMs + knownAgeMs;
