/** The end of a vault, and the change of its owner, as they concern its files. */
import { range, type Turn, timer, type View } from '../../../runtime/command.ts';
import { garbageMax, garbageOf, removeFile } from '../../files/garbage.ts';
import { forgetRedeemed } from '../../files/redeemed.ts';
import { change, filesSlice } from '../../files/state.ts';
import { file } from '../../files/tables.ts';
import { isMoving } from '../../files/transfer.ts';
import { endUploads } from '../../files/uploads.ts';
import { Files } from '../../user/files/contract.ts';
import { nextChangeStamp } from '../state.ts';
import type { VaultRow } from '../tables.ts';
import { VaultFiles } from './contract.ts';
import { cleanup, vaultFiles } from './own-files.ts';

const { eraseFiles } = VaultFiles.timers;

/** Each row may name thousands of blobs. */
const eraseBatchMax = 10;
const pauseMs = 60_000;

/** In the commit that ends the vault: ends all uploads, counts no bytes any more and begins to remove the files. */
export function endFiles(turn: Turn, { owner_uuid, file_bytes }: VaultRow): void {
  endUploads(turn, vaultFiles(turn), 'all');
  forgetRedeemed(turn);
  if (file_bytes > 0) {
    const { position: at } = nextChangeStamp(turn);
    turn.tell(Files, owner_uuid).vaultFiles({ bytes: { used: 0, at }, ended: [] });
  }
  turn.arm(eraseFiles, turn.nowMs, null);
}

/** From now on the files count in the new owner's quota. Open uploads end, as that quota has no room held for them. */
export function transferFiles(turn: Turn, { file_bytes, position: at, owner_uuid }: VaultRow): void {
  endUploads(turn, vaultFiles(turn), 'all');
  turn.tell(Files, owner_uuid).vaultFiles({ bytes: { used: file_bytes, at }, ended: [] });
}

export const eraseFilesTimer = timer({
  ...eraseFiles,
  missed: 'fire-once',
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

/** In the database and in the store. */
export const areFilesGone = (view: View): boolean =>
  view.get(filesSlice).sequence === 0 && garbageOf(view) === 0;
