/** What clients ask of the history of an item (docs/protocol/sync.md, "Revisions"). */
import { z } from 'zod';
import { contract } from '../../../runtime/contract.ts';
import { deletedElsewherePayload } from '../../collection/revisions/deleted-elsewhere.ts';
import { listedSchema, revisionSchema } from '../../collection/revisions/read.ts';
import { revisionTimerShapes } from '../../collection/revisions/timer-payloads.ts';
import { reads, writes } from '../../signed-in.ts';

const uuid = z.string().max(64);

export const Revisions = contract({
  name: 'user',
  commands: {
    /** Without content. Empty for an item that is not the user's. Refusals: 400 for an invalid uuid. */
    listRevisions: reads({
      fields: z.object({ itemUuid: uuid }),
      ok: z.object({ revisions: z.array(listedSchema).readonly() }),
    }),
    /** Refusals: 400 for an invalid uuid, 404 for a revision that does not exist or is not the user's. */
    getRevision: reads({
      fields: z.object({ itemUuid: uuid, id: uuid }),
      ok: z.object({ revision: revisionSchema }),
    }),
    /** Succeeds also if the revision is gone already. Refusals: 400 for an invalid uuid. */
    deleteRevision: writes({
      fields: z.object({ itemUuid: uuid, id: uuid }),
      ok: z.object({ message: z.string() }),
    }),
  },
  timers: revisionTimerShapes,
  tells: {
    /** Items were deleted here that had been in other collections before. Their history there has to be removed. */
    deletedHere: deletedElsewherePayload,
    /** Items that had been here before were deleted in another collection. Their history here has to be removed. */
    deletedElsewhere: deletedElsewherePayload,
  },
});
