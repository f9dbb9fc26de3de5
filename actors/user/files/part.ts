/** The files of an account (docs/protocol/files.md). */
import { range, type Turn } from '../../../runtime/command.ts';
import { garbageOf, removalJob, removeFile } from '../../files/garbage.ts';
import { forgetRedeemed, redeemedMap } from '../../files/redeemed.ts';
import { FileSettings } from '../../files/settings.ts';
import { filesSlice } from '../../files/state.ts';
import { FileStore } from '../../files/store.ts';
import { file, fileGarbage } from '../../files/tables.ts';
import { incomingFileMap, isMoving, outgoingFileMap } from '../../files/transfer.ts';
import { cleanupTimer, endUploads, uploadMap } from '../../files/uploads.ts';
import { ValetTokens } from '../../identity/valet-tokens.ts';
import { purging, userPart } from '../hooks.ts';
import { fileCommands } from './by-token.ts';
import { Files } from './contract.ts';
import { ownFileMoves } from './move-file.ts';
import { cleanup, ownFiles, vaultHoldMap } from './own-files.ts';
import { vaultBytesMap, vaultFilesTell } from './vault-bytes.ts';

/** Each row may name thousands of blobs. */
const purgeBatchMax = 10;

/** Voids all tokens, and ends all uploads. */
function forgetFiles(turn: Turn): void {
  endUploads(turn, ownFiles(turn), 'all');
  forgetRedeemed(turn);
}

export const files = userPart(Files, {
  name: 'files',
  uses: [FileSettings, FileStore, ValetTokens],
  slices: [filesSlice, uploadMap, redeemedMap, vaultBytesMap, vaultHoldMap, outgoingFileMap, incomingFileMap],
  tables: [file, fileGarbage],
  commands: fileCommands,
  tells: { vaultFiles: vaultFilesTell, ...ownFileMoves.tells },
  timers: { cleanUpFiles: cleanupTimer(cleanup, ownFiles), finalizeOverdueFile: ownFileMoves.timer },
  jobs: { removeBlobs: removalJob(cleanup) },
  on: {
    accountDeleted: forgetFiles,
    purge: purging({
      reads: (view) => ({
        files: range(file, { after: 0, through: view.get(filesSlice).sequence, limit: purgeBatchMax }),
      }),
      turn: (turn, { files: { rows } }) => {
        const settled = rows.filter((row) => !isMoving(turn, row));
        for (const row of settled) removeFile(turn, cleanup, row);
        if (settled.length > 0) return { left: 'more' };
        // What moves, and what is garbage, waits for others to be done with it.
        return { left: rows.length > 0 || garbageOf(turn) > 0 ? 'later' : 'nothing' };
      },
    }),
  },
});
