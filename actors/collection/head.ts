/**
 * The head of a collection: how far it has come. Held by the collection's actor, so "anything new since this
 * token?" compares two numbers in memory.
 */
import { z } from 'zod';
import { slice } from '../../runtime/slice.ts';
import type { ItemRow } from './item.ts';

export interface Head {
  /** The last position given; 0 before the first save. */
  readonly position: number;
  /** The last updated_at_timestamp given, microseconds. */
  readonly updatedAtMicros: number;
  /** Rows, tombstones included. */
  readonly items: number;
  /** The sum of the rows' sizes. */
  readonly sizeBytes: number;
}

export const head = slice<Head>({
  name: 'items',
  format: 1,
  schema: z.object({
    position: z.int(),
    updatedAtMicros: z.int(),
    items: z.int(),
    sizeBytes: z.int(),
  }),
  initial: { position: 0, updatedAtMicros: 0, items: 0, sizeBytes: 0 },
});

/** The head once `row`, stamped by `stamp` from `before`, is written over `existing`. */
export function advance(before: Head, row: ItemRow, existing: ItemRow | undefined): Head {
  return {
    position: row.position,
    updatedAtMicros: row.updated_at_timestamp,
    items: before.items + (existing === undefined ? 1 : 0),
    sizeBytes: before.sizeBytes + row.size - (existing?.size ?? 0),
  };
}

/** The next position, and an updated_at_timestamp later than every one given before. */
export function stamp(
  before: Head,
  existing: ItemRow | undefined,
  nowMicros: number,
): Pick<ItemRow, 'position' | 'updated_at_timestamp'> {
  return {
    position: before.position + 1,
    updated_at_timestamp: Math.max(
      nowMicros,
      before.updatedAtMicros + 1,
      (existing?.updated_at_timestamp ?? 0) + 1,
    ),
  };
}
