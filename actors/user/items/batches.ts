import { type ClientItem, sentBytes } from '../../collection/incoming.ts';

export interface BatchLimits {
  readonly turnLimitBytes: number;
  readonly turnItemsMax: number;
}

/** Whether these items are saved in one turn. */
export function fitsOneTurn(items: readonly ClientItem[], limits: BatchLimits): boolean {
  return items.length <= limits.turnItemsMax && sum(items) <= limits.turnLimitBytes;
}

/** The items in order, cut into what one turn saves. A batch is over the byte limit only by being one item. */
export function batchesOf(
  items: readonly ClientItem[],
  limits: BatchLimits,
): readonly (readonly ClientItem[])[] {
  const batches: ClientItem[][] = [];
  let batch: ClientItem[] = [];
  let bytes = 0;
  for (const item of items) {
    const size = sentBytes(item);
    const full = batch.length >= limits.turnItemsMax || bytes + size > limits.turnLimitBytes;
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
