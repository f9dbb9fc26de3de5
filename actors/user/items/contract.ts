/** The commands for a user's own items (docs/protocol/sync.md). */
import { z } from 'zod';
import { contract } from '../../../runtime/contract.ts';
import { type Mismatch, mismatchSchema } from '../../collection/integrity.ts';
import type { ItemRow } from '../../collection/item.ts';
import { fullItemSchema } from '../../collection/item-fields.ts';
import {
  integrityFields,
  itemFields,
  syncFields,
  syncReplyJson,
  syncReplySchema,
} from '../../collection/sync-contract.ts';
import { reads } from '../../signed-in.ts';
import { finalizePayload } from '../../transfer.ts';
import { Revisions } from '../revisions/contract.ts';

export const Items = contract({
  name: 'user',
  commands: {
    /** Saves items and gives new ones. An item that a read-only session may not save is a conflict of its own. */
    sync: reads({ fields: syncFields, ok: syncReplySchema, json: syncReplyJson }),

    /** Finds the items that differ from what the client says it has, without ciphertext (docs/protocol/sync.md, "Integrity"). */
    checkIntegrity: reads({
      fields: integrityFields,
      ok: z.object({ mismatches: z.array(mismatchSchema).readonly() }) as z.ZodType<{
        readonly mismatches: readonly Mismatch[];
      }>,
    }),

    /**
     * One item of the user's own, tombstones included (docs/protocol/sync.md, "A single item"). Any other uuid is 404, even if
     * another user has it.
     */
    getItem: reads({ fields: itemFields, ok: z.object({ item: fullItemSchema }) }),

    /** Sent by a vault that has ended, with the user's items there. `isGone`: the account was deleted. `applied`: here now. */
    takeBack: {
      request: z.object({ items: z.custom<readonly ItemRow[]>((value) => Array.isArray(value)) }),
      reply: z.object({ isGone: z.boolean(), applied: z.array(z.string()).readonly() }),
    },
  },
  timers: {
    /** The key is the transfer. */
    finalizeOverdueTransfer: finalizePayload,
  },
});

/** The timers of the user's collection. */
export const collectionTimers = { ...Items.timers, ...Revisions.timers };
