/** The files of a vault (docs/protocol/files.md, "Files of shared vaults"). */

import { range, type Turn, timer, type View } from '../../../runtime/command.ts';
import { garbageMax, garbageOf, removalJob, removeFile } from '../../files/garbage.ts';
import { forgetRedeemed, redeemedMap } from '../../files/redeemed.ts';
import { FileSettings } from '../../files/settings.ts';
import { change, filesSlice } from '../../files/state.ts';
import { FileStore } from '../../files/store.ts';
import { file, fileGarbage } from '../../files/tables.ts';
import { incomingFileMap, isMoving, outgoingFileMap } from '../../files/transfer.ts';
import { cleanupTimer, endUploads, uploadMap } from '../../files/uploads.ts';
import { Files } from '../../user/files/contract.ts';
import { vaultPart } from '../hooks.ts';
import { nextChangeStamp } from '../state.ts';
import type { VaultRow } from '../tables.ts';
import { fileCommands } from './by-token.ts';
import { VaultFiles } from './contract.ts';
import { vaultFileMoves } from './move.ts';
import { cleanup, grantMap, vaultFiles } from './own-files.ts';

const { eraseFiles } = VaultFiles.timers;

/** Each row may name thousands of blobs. */
const eraseBatchMax = 10;
const pauseMs = 60_000;

/** In the commit that ends the vault: ends all uploads, counts no bytes any more and begins to remove the files. */
function endFiles(turn: Turn, { owner_uuid, file_bytes }: VaultRow): void {
  endUploads(turn, vaultFiles(turn), 'all');
  forgetRedeemed(turn);
  if (file_bytes > 0) {
    const { position: at } = nextChangeStamp(turn);
    turn.tell(Files, owner_uuid).vaultFiles({ bytes: { used: 0, at }, ended: [] });
  }
  turn.arm(eraseFiles, turn.nowMs, null);
}

/** From now on the files count in the new owner's quota. Open uploads end, as that quota has no room held for them. */
function transferFiles(turn: Turn, { file_bytes, position: at, owner_uuid }: VaultRow): void {
  endUploads(turn, vaultFiles(turn), 'all');
  turn.tell(Files, owner_uuid).vaultFiles({ bytes: { used: file_bytes, at }, ended: [] });
}

const eraseFilesTimer = timer(eraseFiles, {
  reads: (view) => ({
    files: range(file, { after: 0, through: view.get(filesSlice).sequence, limit: eraseBatchMax }),
  }),
  turn: (turn, _nothing, { files }) => {
    const isBusy = garbageOf(turn) + eraseBatchMax > garbageMax;
    const erased = isBusy ? [] : files.rows.filter((row) => !isMoving(turn, row));
    for (const row of erased) removeFile(turn, cleanup, row);
    const pause = erased.length > 0 ? 0 : pauseMs;
    if (isBusy || files.rows.length > 0) turn.arm(eraseFiles, turn.nowMs + pause, null);
    else change(turn, { sequence: 0 });
  },
});

/** Whether all files are gone, from the database and from the store. */
const areFilesGone = (view: View): boolean => view.get(filesSlice).sequence === 0 && garbageOf(view) === 0;

export const filesOfVault = vaultPart(VaultFiles, {
  name: 'files',
  uses: [FileSettings, FileStore],
  slices: [filesSlice, uploadMap, redeemedMap, grantMap, outgoingFileMap, incomingFileMap],
  tables: [file, fileGarbage],
  commands: fileCommands,
  tells: vaultFileMoves.tells,
  timers: {
    cleanUpFiles: cleanupTimer(cleanup, vaultFiles),
    eraseFiles: eraseFilesTimer,
    finalizeOverdueFile: vaultFileMoves.timer,
  },
  jobs: { removeBlobs: removalJob(cleanup) },
  on: { ended: endFiles, ownerChanged: transferFiles, hasRemains: (view) => !areFilesGone(view) },
});
