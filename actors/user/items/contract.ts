/** What is asked of a user's own items (docs/protocol/sync.md). */
import { z } from 'zod';
import { contract } from '../../../runtime/contract.ts';
import { type Mismatch, mismatchSchema } from '../../collection/integrity.ts';
import { fullItemSchema } from '../../collection/item-fields.ts';
import { syncReplyJson, syncReplySchema } from '../../collection/sync-reply.ts';
import { integrityFields, itemFields, syncFields } from '../../collection/sync-request.ts';
import { finalizePayload } from '../../collection/transfer/transfer.ts';
import { returnToOwnerFields, returnToOwnerReply } from '../../collection/transfer/wire.ts';
import { signedIn } from '../../signed-in.ts';

export { modernReplySchema } from '../../collection/sync-reply.ts';

export const Items = contract({
  name: 'user',
  commands: {
    /** Saves and gives (docs/protocol/sync.md). What a read-only session may not save is that item's conflict. */
    sync: signedIn({ access: 'reads', fields: syncFields, ok: syncReplySchema, json: syncReplyJson }),

    /**
     * Which of the user's items differ from what the client says it has (docs/protocol/sync.md, "Integrity"), without
     * ciphertext.
     */
    checkIntegrity: signedIn({
      access: 'reads',
      fields: integrityFields,
      ok: z.object({ mismatches: z.array(mismatchSchema).readonly() }) as z.ZodType<{
        readonly mismatches: readonly Mismatch[];
      }>,
    }),

    /**
     * One item of the user's own, tombstones included (docs/protocol/sync.md, "A single item"). Any other uuid is 404,
     * no matter whose it is.
     */
    getItem: signedIn({ access: 'reads', fields: itemFields, ok: z.object({ item: fullItemSchema }) }),

    /** By a vault that has ended: these were the user's there. Which of them are here now. */
    takeBack: { request: returnToOwnerFields, reply: returnToOwnerReply },
  },
  timers: {
    /** Keyed by the transfer. */
    finalizeOverdueTransfer: finalizePayload,
  },
});
