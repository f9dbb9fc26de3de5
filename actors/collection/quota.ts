/** How much an account may hold (docs/protocol/sync.md, "Quotas"). */
import { type Refused, refuse } from '../reply.ts';
import type { Head } from './head.ts';
import type { ItemSettings } from './settings.ts';

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

/** Nothing more fits. */
export const isFull = (
  { items, sizeBytes }: Head,
  { items: itemsMax, bytes: bytesMax }: ItemSettings['quota'],
) => (itemsMax > 0 && items >= itemsMax) || (bytesMax > 0 && sizeBytes >= bytesMax);
