/**
 * Bounds the ciphertext that others put into an inbox. Only bytes count. Each entry counts at least some, which bounds their
 * number too.
 *
 * Anyone may write to anyone. If there is no room left, the sender who takes the most room loses the oldest entry. So a few
 * senders cannot push out what others have written.
 */

export function grouped<T>(all: readonly T[], keyOf: (each: T) => string): ReadonlyMap<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const each of all) {
    const group = groups.get(keyOf(each));
    if (group === undefined) groups.set(keyOf(each), [each]);
    else group.push(each);
  }
  return groups;
}

/** The most that one sync may have to return in addition to its page of items. */
export const messageCapacityBytes = 4 * 1024 * 1024;
export const inviteCapacityBytes = 2 * 1024 * 1024;

const entryBytesMin = 4 * 1024;

/** No list of entries is longer. */
export const entriesMax = messageCapacityBytes / entryBytesMin;

export const bytesOf = (text: string): number => Buffer.byteLength(text);

/** The room of an entry with this ciphertext. */
export const countedBytes = (ciphertext: string): number => Math.max(entryBytesMin, bytesOf(ciphertext));

interface InboxEntry {
  readonly sender_uuid: string;
  readonly size: number;
}

export const totalBytes = (entries: readonly InboxEntry[]): number =>
  entries.reduce((sum, { size }) => sum + size, 0);

/** The entries that have to go so that the others fit. `entries` has the oldest first. */
export function surplus<E extends InboxEntry>(entries: readonly E[], capacityBytes: number): readonly E[] {
  const bySender = grouped(entries, (entry) => entry.sender_uuid);
  const gone: E[] = [];
  for (let usedBytes = totalBytes(entries); usedBytes > capacityBytes; ) {
    const [largest] = [...bySender.values()].toSorted((a, b) => totalBytes(b) - totalBytes(a));
    const oldest = largest?.shift();
    if (oldest === undefined) break;
    gone.push(oldest);
    usedBytes -= oldest.size;
  }
  return gone;
}
