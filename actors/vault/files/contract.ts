/** What members ask of the files of a vault, each through their own actor (docs/protocol/files.md, "Files of shared vaults"). */
import { z } from 'zod';
import { contract } from '../../../runtime/contract.ts';
import {
  byToken,
  byTokenShapes,
  fileJobShapes,
  fileMoveTellShapes,
  fileTimerShapes,
} from '../../files/messages.ts';
import { movingFileSchema, ownerSchema } from '../../files/transfer.ts';
import { answerSchema } from '../../reply.ts';

const by = z.string();
const done = answerSchema(z.object({}));

export const VaultFiles = contract({
  name: 'vault',
  commands: {
    /** Whether the member may have a token. Only to say so early: each use of it is looked at by itself. */
    mayUseFiles: { request: z.object({ by, writes: z.boolean() }), reply: done },
    ...byTokenShapes,
    /** See `actors/files/transfer.ts`. */
    prepareFileTransfer: byToken(
      { to: ownerSchema },
      z.union([
        z.object({ file: movingFileSchema, fromOwnerUuid: z.string() }),
        z.object({ isOver: z.literal(true) }),
      ]),
    ),
    /** `fromOwnerUuid`: in whose quota it has counted so far. */
    applyFileTransfer: byToken({ file: movingFileSchema, fromOwnerUuid: z.string() }, z.object({})),
    /** Whether it has moved by this. */
    finalizeFileTransfer: byToken({ applied: z.boolean() }, z.object({ moved: z.boolean() })),
  },
  tells: fileMoveTellShapes,
  timers: {
    ...fileTimerShapes,
    /** The next of the files of a vault that has ended. */
    eraseFiles: z.null(),
  },
  jobs: fileJobShapes,
});
