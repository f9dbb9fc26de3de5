/**
 * Messages between the actor of a user and the collections of vaults. Fields that a client has sent are in them unchecked.
 */
import { z } from 'zod';
import { type Answer, answerSchema } from '../../reply.ts';
import type { Conflict } from '../conflicts.ts';
import type { ItemRow } from '../item.ts';
import type { ClientItem } from '../item-fields.ts';
import type { SavedEntry } from '../save-items.ts';
import type { PreparedItemTransfer, TransferredItem } from '../sync-steps.ts';

const listOf = <T>() => z.custom<readonly T[]>((value) => Array.isArray(value));

/** The user who saves, with their session and client. The user's own actor vouches for all of it. */
const bySaver = {
  by: z.string(),
  sessionUuid: z.string(),
  snjsVersion: z.string().nullable(),
  api: z.string().nullish(),
};

export const saveItemsFields = z.object({ ...bySaver, items: listOf<ClientItem>() });
export const applyItemTransferFields = z.object({ ...bySaver, items: listOf<TransferredItem>() });
export const finalizeItemTransferFields = z.object({
  id: z.string(),
  applied: z.array(z.string()).readonly(),
  by: z.string().optional(),
});

export const returnToOwnerFields = z.object({ items: listOf<ItemRow>() });
export const returnToOwnerReply = z.object({
  /** The account was deleted. */
  isGone: z.boolean(),
  applied: z.array(z.string()).readonly(),
});

/** The result for the items that a collection was sent. Each is in one of these lists. */
export interface SaveResult {
  readonly saved: readonly SavedEntry[];
  readonly conflicts: readonly Conflict[];
  readonly transfers: readonly PreparedItemTransfer[];
  readonly notHere: readonly ClientItem[];
  /** Deletions of items that are no longer in this ended vault. */
  readonly orphaned?: readonly ClientItem[] | undefined;
  readonly passed?: PositionRange | undefined;
}

/**
 * The positions of a collection's last items before and after a save. A client that had everything up to `before` has
 * everything up to `after`: between them is only what it has just sent.
 */
export interface PositionRange {
  readonly collection: string;
  readonly before: number;
  readonly after: number;
}

const saveResult = z.object({
  saved: listOf<SavedEntry>(),
  conflicts: listOf<Conflict>(),
  transfers: listOf<PreparedItemTransfer>(),
  notHere: listOf<ClientItem>(),
  orphaned: listOf<ClientItem>().optional(),
  passed: z.object({ collection: z.string(), before: z.number(), after: z.number() }).optional(),
});

/** Refusals: 413. */
export const saveResultSchema = answerSchema(saveResult) as z.ZodType<Answer<SaveResult>>;
