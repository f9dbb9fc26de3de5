import { sentBytes } from './incoming.ts';
import type { ClientItem } from './item-fields.ts';
import type { ItemSettings } from './settings.ts';

type TurnLimits = ItemSettings['turnLimits'];

export function fitsOneTurn(items: readonly ClientItem[], limits: TurnLimits): boolean {
  if (items.length > limits.items) return false;
  return items.length <= 1 || sum(items) <= limits.bytes;
}

/** The items in order, cut into what one turn saves. A batch is over the byte limit only by being one item. */
export function batchesOf(
  items: readonly ClientItem[],
  limits: TurnLimits,
): readonly (readonly ClientItem[])[] {
  const batches: ClientItem[][] = [];
  let batch: ClientItem[] = [];
  let bytes = 0;
  for (const item of items) {
    const size = sentBytes(item);
    const full = batch.length >= limits.items || bytes + size > limits.bytes;
    if (full && batch.length > 0) {
      batches.push(batch);
      batch = [];
      bytes = 0;
    }
    batch.push(item);
    bytes += size;
  }
  if (batch.length > 0) batches.push(batch);
  return batches;
}

function sum(items: readonly ClientItem[]): number {
  return items.reduce((bytes, item) => bytes + sentBytes(item), 0);
}
