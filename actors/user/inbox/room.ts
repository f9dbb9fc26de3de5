/**
 * Bounds what an inbox holds of others' ciphertext. It counts bytes alone: each entry takes at least some, which bounds their
 * number too. Anyone may write to anyone, so where there is no room left, the sender who takes the most loses the oldest entry. A
 * few strangers cannot push out what others have written.
 */

import { grouped } from './grouped.ts';

/** What one sync may have to give of them besides its page of items. */
export const messageRoomBytes = 4 * 1024 * 1024;
export const inviteRoomBytes = 2 * 1024 * 1024;

const entryBytesMin = 4 * 1024;

/** No list of entries is longer. */
export const entriesMax = messageRoomBytes / entryBytesMin;

export const bytesOf = (text: string): number => Buffer.byteLength(text);

/** The room that an entry with this ciphertext takes. */
export const roomOf = (ciphertext: string): number => Math.max(entryBytesMin, bytesOf(ciphertext));

interface Entry {
  readonly sender_uuid: string;
  readonly size: number;
}

export const roomTaken = (entries: readonly Entry[]): number =>
  entries.reduce((sum, { size }) => sum + size, 0);

/** Those that have to go so that `entries`, the oldest first, fit. */
export function surplus<E extends Entry>(entries: readonly E[], roomBytes: number): readonly E[] {
  const kept = grouped(entries, (entry) => entry.sender_uuid);
  const gone: E[] = [];
  for (let taken = roomTaken(entries); taken > roomBytes; ) {
    const [largest] = [...kept.values()].toSorted((a, b) => roomTaken(b) - roomTaken(a));
    const oldest = largest?.shift();
    if (oldest === undefined) break;
    gone.push(oldest);
    taken -= oldest.size;
  }
  return gone;
}
