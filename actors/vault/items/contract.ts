/**
 * What the actors of members ask a vault to do with its items (docs/protocol/sync.md, "Items of vaults"). Every request names
 * the member as `by`, the uuid of a user.
 */
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

/**
 * The user who saves, with their session and client. The vault may trust these fields, because the user's own actor has checked
 * them. It must check the items itself.
 */
const saver = {
  by,
  sessionUuid: z.string(),
  snjsVersion: z.string().nullable(),
  api: z.string().nullish(),
};

/** What became of the items that were sent to a collection. Each item is in exactly one of these lists. */
export interface SaveResult {
  readonly saved: readonly SavedEntry[];
  readonly conflicts: readonly Conflict[];
  /** Items that leave for another collection, which has to apply the transfer next. */
  readonly transfers: readonly PreparedItemTransfer[];
  /** Items that are not in this collection. The caller looks for them elsewhere. */
  readonly notHere: readonly ClientItem[];
  /** Deletions of items that have left this vault since it ended. */
  readonly orphaned?: readonly ClientItem[] | undefined;
  readonly passed?: PositionRange | undefined;
}

/**
 * The positions of a collection's last item before and after a save. A client that had everything up to `before` now has
 * everything up to `after`, because only what it has just sent lies between them.
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
    /** Saves items that come from another collection, which has prepared their transfer. */
    applyItemTransfer: {
      request: z.object({ ...saver, items: listOf<TransferredItem>() }),
      reply: saveResultSchema,
    },
    /** Ends a transfer out of this vault. `applied` names the items of the transfer that the target has saved. */
    finalizeItemTransfer: {
      request: z.object({ id: z.string(), applied: z.array(z.string()).readonly(), by: by.optional() }),
      reply: z.object({}),
    },
    /** Returns an item to the member who owns it, and null to anyone else. */
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
    /** Items were deleted here that had been in other collections before. Their history there has to be removed. */
    deletedHere: deletedElsewherePayload,
    /** Items that had been here before were deleted in another collection. Their history here has to be removed. */
    deletedElsewhere: deletedElsewherePayload,
  },
  timers: {
    finalizeOverdueTransfer: finalizePayload,
    ...revisionTimerShapes,
    /** Writes the new owner into the next items that a member has taken over from a deleted one (`hand-on.ts`). */
    handItemsOn: z.object({ after: z.int(), isAwaiting: z.boolean() }),
  },
  jobs: {
    /** Returns the items of a vault that has ended to their owners. */
    returnToOwners: z.null(),
  },
});
