/** What members ask of the items of a vault, each through their own actor (docs/protocol/sync.md, "Items of vaults"). */
import { z } from 'zod';
import { contract } from '../../../runtime/contract.ts';
import { fullItemSchema } from '../../collection/item-fields.ts';
import { deletedElsewherePayload } from '../../collection/revisions/deleted-elsewhere.ts';
import { listedSchema, revisionSchema } from '../../collection/revisions/read.ts';
import { revisionTimerShapes } from '../../collection/revisions/timer-payloads.ts';
import { finalizePayload } from '../../collection/transfer/transfer.ts';
import {
  applyItemTransferFields,
  finalizeItemTransferFields,
  saveItemsFields,
  saveResultSchema,
} from '../../collection/transfer/wire.ts';

const by = z.string();

export const VaultItems = contract({
  name: 'vault',
  commands: {
    saveItems: { request: saveItemsFields, reply: saveResultSchema },
    /** Items that come from another collection, which has prepared their transfer. */
    applyItemTransfer: { request: applyItemTransferFields, reply: saveResultSchema },
    /** `applied`: the items of the transfer that the target has. */
    finalizeItemTransfer: { request: finalizeItemTransferFields, reply: z.object({}) },
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
