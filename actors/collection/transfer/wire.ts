/**
 * What the actor of a user asks the collections of vaults, and what they answer. Between actors alone: what a client has
 * sent comes unchecked, as it came.
 */
import { z } from 'zod';
import { type Answer, answerSchema } from '../../reply.ts';
import type { Conflict } from '../conflicts.ts';
import type { ItemRow } from '../item.ts';
import type { ClientItem } from '../item-fields.ts';
import type { SavedEntry } from '../save-items.ts';
import type { PreparedTransfer, TransferredItem } from '../sync-steps.ts';

const listOf = <T>() => z.custom<readonly T[]>((value) => Array.isArray(value));

/** The user who saves, and how, as that user's own actor has found. */
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

/** What has become of the items that a collection was sent: each is in one of these. */
export interface SaveResult {
  readonly saved: readonly SavedEntry[];
  readonly conflicts: readonly Conflict[];
  readonly transfers: readonly PreparedTransfer[];
  readonly notHere: readonly ClientItem[];
  /** Tombstones for items of a vault that has ended, which are not there any more. */
  readonly orphaned?: readonly ClientItem[] | undefined;
  readonly passed?: Passed | undefined;
}

/**
 * Up to where a collection had items before this, and has after it. A client that had everything up to the former has
 * everything up to the latter: between them is what it has just sent.
 */
export interface Passed {
  readonly collection: string;
  readonly before: number;
  readonly after: number;
}

const saveResult = z.object({
  saved: listOf<SavedEntry>(),
  conflicts: listOf<Conflict>(),
  transfers: listOf<PreparedTransfer>(),
  notHere: listOf<ClientItem>(),
  orphaned: listOf<ClientItem>().optional(),
  passed: z.object({ collection: z.string(), before: z.number(), after: z.number() }).optional(),
});

/** Refusals: 413. */
export const saveResultSchema = answerSchema(saveResult) as z.ZodType<Answer<SaveResult>>;
