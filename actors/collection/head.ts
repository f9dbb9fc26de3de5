/**
 * The head of a collection: its last position, and how much it holds. The collection's actor keeps it in memory. So the question "is
 * there anything new since this token?" only compares two numbers.
 */
import { z } from 'zod';
import { slice } from '../../runtime/slice.ts';
import { type Refused, refuse } from '../reply.ts';
import { type ItemRow, isForwardingTombstone } from './item.ts';
import type { ItemSettings } from './settings.ts';

export interface Head {
  /** The last position that was assigned; 0 before the first save. */
  readonly position: number;
  /** The last `updated_at_timestamp` that was assigned, in microseconds. */
  readonly updatedAtMicros: number;
  /** Rows, tombstones included. */
  readonly items: number;
  /** The sum of the rows' sizes. */
  readonly sizeBytes: number;
  /** The position of the item that was written last. Other rows of a vault take positions too. */
  readonly itemsThrough?: number | undefined;
  /** In a user's own collection: how many sync commands have changed something (actors/user/sync-lane/journal.ts). */
  readonly commands?: number | undefined;
}

export const head = slice<Head>({
  name: 'items',
  schema: z.object({
    position: z.int(),
    updatedAtMicros: z.int(),
    items: z.int(),
    sizeBytes: z.int(),
    commands: z.int().optional(),
    itemsThrough: z.int().optional(),
  }),
  initial: { position: 0, updatedAtMicros: 0, items: 0, sizeBytes: 0, itemsThrough: 0 },
});

/** Earlier releases did not store it. Without it, the last item may have any position up to the head's. */
export const itemsThrough = (of: Head): number => of.itemsThrough ?? of.position;

type CountedRow = Pick<ItemRow, 'size' | 'moved_to'>;

const countOf = (row: CountedRow | undefined): number =>
  row === undefined || isForwardingTombstone(row) ? 0 : 1;

/** The head once `row`, with the next position, is written over `existing`. Forwarding tombstones count nowhere. */
export function headAfterWrite(
  before: Head,
  row: CountedRow & Pick<ItemRow, 'position' | 'updated_at_timestamp'>,
  existing: CountedRow | undefined,
): Head {
  const { commands } = before;
  // A new optional field of the head would be lost here without this type.
  const after: Required<Omit<Head, 'commands'>> = {
    position: row.position,
    itemsThrough: row.position,
    updatedAtMicros: Math.max(before.updatedAtMicros, row.updated_at_timestamp),
    items: before.items + countOf(row) - countOf(existing),
    sizeBytes: before.sizeBytes + row.size - (existing?.size ?? 0),
  };
  return commands === undefined ? after : { ...after, commands };
}

/** The head once `row` is removed. A removal takes no position. */
export function without(before: Head, row: CountedRow): Head {
  return { ...before, items: before.items - countOf(row), sizeBytes: before.sizeBytes - row.size };
}

/**
 * The next position, and an updated_at_timestamp later than every one given before. If a deleted item is saved again, its time is in a
 * later millisecond than the deletion. Revisions store only milliseconds, and these must show which revisions are older than the
 * deletion (revisions/deleted-elsewhere.ts).
 */
export function stamp(
  before: Head,
  existing: ItemRow | undefined,
  nowMicros: number,
): Pick<ItemRow, 'position' | 'updated_at_timestamp'> {
  return {
    position: before.position + 1,
    updated_at_timestamp: Math.max(nowMicros, before.updatedAtMicros + 1, earliestOver(existing)),
  };
}

function earliestOver(existing: ItemRow | undefined): number {
  if (existing === undefined) return 0;
  const { deleted, updated_at_timestamp: at } = existing;
  return deleted ? (Math.floor(at / 1_000) + 1) * 1_000 : at + 1;
}

// --- the quota (docs/protocol/sync.md, "Quotas") -------------------------------------------------------------

export const quotaExceeded: Refused = refuse.tooLarge(
  'This account holds as much as this server allows. Please delete something, or ask its operator for more room.',
);

/** A save that does not make the account larger is always accepted, even beyond the limits. */
export function outgrows(before: Head, after: Head, quota: ItemSettings['quota']): boolean {
  return (
    isBeyond(before.items, after.items, quota.items) ||
    isBeyond(before.sizeBytes, after.sizeBytes, quota.bytes)
  );
}

const isBeyond = (before: number, after: number, limit: number): boolean =>
  limit > 0 && after > limit && after > before;

/** Whether the collection has reached its quota. */
export const isCollectionFull = (
  { items, sizeBytes }: Head,
  { items: itemsMax, bytes: bytesMax }: ItemSettings['quota'],
) => (itemsMax > 0 && items >= itemsMax) || (bytesMax > 0 && sizeBytes >= bytesMax);
