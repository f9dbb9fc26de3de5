/** What members ask of the files of a vault, each through their own actor (docs/protocol/files.md, "Files of shared vaults"). */
import { z } from 'zod';
import { contract } from '../../../runtime/contract.ts';
import {
  fileJobShapes,
  fileMoveTellShapes,
  fileTimerShapes,
  valetTokenCommand,
  valetTokenCommands,
} from '../../files/messages.ts';
import { movingFileSchema, ownerSchema } from '../../files/transfer.ts';
import { answerSchema } from '../../reply.ts';

const by = z.string();
const done = answerSchema(z.object({}));

export const VaultFiles = contract({
  name: 'vault',
  commands: {
    /** Whether the member may have a token. This only refuses early: the vault checks each use of the token again. */
    mayUseFiles: { request: z.object({ by, writes: z.boolean() }), reply: done },
    ...valetTokenCommands,
    /** See `actors/files/transfer.ts`. */
    prepareFileTransfer: valetTokenCommand(
      { to: ownerSchema },
      z.union([
        z.object({ file: movingFileSchema, fromOwnerUuid: z.string() }),
        z.object({ isOver: z.literal(true) }),
      ]),
    ),
    /** `fromOwnerUuid`: the user in whose quota the file has counted so far. */
    applyFileTransfer: valetTokenCommand({ file: movingFileSchema, fromOwnerUuid: z.string() }, z.object({})),
    /** Answers whether this has moved the file. */
    finalizeFileTransfer: valetTokenCommand({ applied: z.boolean() }, z.object({ moved: z.boolean() })),
  },
  tells: fileMoveTellShapes,
  timers: {
    ...fileTimerShapes,
    /** Removes the next files of a vault that has ended. */
    eraseFiles: z.null(),
  },
  jobs: fileJobShapes,
});
