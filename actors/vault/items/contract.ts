/** What members ask of the items of a vault, each through their own actor (docs/protocol/sync.md, "Items of vaults"). */
import { z } from 'zod';
import { contract } from '../../../runtime/contract.ts';
import type { Conflict } from '../../collection/conflicts.ts';
import { type ClientItem, fullItemSchema } from '../../collection/item-fields.ts';
import { deletedElsewherePayload } from '../../collection/revisions/deleted-elsewhere.ts';
import { listedSchema, revisionSchema } from '../../collection/revisions/read.ts';
import { revisionTimerShapes } from '../../collection/revisions/timer-payloads.ts';
import type { SavedEntry } from '../../collection/save-items.ts';
import type { PreparedItemTransfer, TransferredItem } from '../../collection/sync-steps.ts';
import { type Answer, answerSchema } from '../../reply.ts';
import { finalizePayload } from '../../transfer.ts';

const by = z.string();
const listOf = <T>() => z.custom<readonly T[]>((value) => Array.isArray(value));

/** The user who saves, with their session and client. Their own actor vouches for all of it, and not for the items. */
const saver = {
  by,
  sessionUuid: z.string(),
  snjsVersion: z.string().nullable(),
  api: z.string().nullish(),
};

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
const saveResultSchema = answerSchema(saveResult) as z.ZodType<Answer<SaveResult>>;

export const VaultItems = contract({
  name: 'vault',
  commands: {
    saveItems: {
      request: z.object({ ...saver, items: listOf<ClientItem>() }),
      reply: saveResultSchema,
    },
    /** Items that come from another collection, which has prepared their transfer. */
    applyItemTransfer: {
      request: z.object({ ...saver, items: listOf<TransferredItem>() }),
      reply: saveResultSchema,
    },
    /** `applied`: the items of the transfer that the target has. */
    finalizeItemTransfer: {
      request: z.object({ id: z.string(), applied: z.array(z.string()).readonly(), by: by.optional() }),
      reply: z.object({}),
    },
    /** One item, given to the member who owns it. */
    getItem: {
      request: z.object({ by, uuid: z.string() }),
      reply: z.object({ item: fullItemSchema.nullable() }),
    },
    /** Leaves out revisions that the caller may not read. */
    listRevisions: {
      request: z.object({ by, itemUuid: z.string() }),
      reply: z.object({ revisions: z.array(listedSchema).readonly() }),
    },
    getRevision: {
      request: z.object({ by, itemUuid: z.string(), id: z.string() }),
      reply: z.object({ revision: revisionSchema.nullable() }),
    },
    /** Called by the owner of the item. For an item that is not theirs, or not there, it does nothing. */
    deleteRevision: {
      request: z.object({ by, itemUuid: z.string(), id: z.string() }),
      reply: z.object({}),
    },
  },
  tells: {
    /** Items were deleted here that had been in other collections. Their history there goes. */
    deletedHere: deletedElsewherePayload,
    /** Items that were here once were deleted in another collection. */
    deletedElsewhere: deletedElsewherePayload,
  },
  timers: {
    finalizeOverdueTransfer: finalizePayload,
    ...revisionTimerShapes,
    /** Rewrites the next items that a survivor has taken over (`hand-on.ts`). */
    handItemsOn: z.object({ after: z.int(), isAwaiting: z.boolean() }),
  },
  jobs: {
    /** Returns the items of a vault that has ended to their owners. */
    returnToOwners: z.null(),
  },
});
