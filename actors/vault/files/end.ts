/** What becomes of the files of a vault that ends, or whose owner's account is deleted. */
import { range, type Turn, timer, type View } from '../../../runtime/command.ts';
import { discardFile, garbageMax, garbageOf } from '../../files/garbage.ts';
import { change, filesSlice } from '../../files/ledger.ts';
import { forgetRedeemed } from '../../files/redeemed.ts';
import { file } from '../../files/tables.ts';
import { isMoving } from '../../files/transfer.ts';
import { endUploads } from '../../files/uploads.ts';
import { Files } from '../../user/files/contract.ts';
import { nextChangeStamp } from '../change-stamp.ts';
import { Vault } from '../contract.ts';
import type { VaultRow } from '../tables.ts';
import { cleanup, vaultFiles } from './own-files.ts';

const { eraseFiles } = Vault.timers;

/** Each row may name thousands of blobs. */
const erasedAtOnce = 10;
const pauseMs = 60_000;

/** With the commit that ends the vault: nothing counts any more, no upload goes on, and the files are about to go. */
export function endFiles(turn: Turn, { owner_uuid, file_bytes }: VaultRow): void {
  endUploads(turn, vaultFiles(turn), 'all');
  forgetRedeemed(turn);
  if (file_bytes > 0) {
    const { position: at } = nextChangeStamp(turn);
    turn.tell(Files, owner_uuid).vaultFiles({ bytes: { used: 0, at }, ended: [] });
  }
  turn.arm(eraseFiles, turn.nowMs, null);
}

/** What is there counts for the survivor from now on, who has no room for what others have begun. */
export function transferFiles(
  turn: Turn,
  { file_bytes, position: at }: VaultRow,
  survivorUuid: string,
): void {
  endUploads(turn, vaultFiles(turn), 'all');
  turn.tell(Files, survivorUuid).vaultFiles({ bytes: { used: file_bytes, at }, ended: [] });
}

export const eraseFilesTimer = timer({
  ...eraseFiles,
  missed: 'fire-once',
  reads: (view) => ({
    files: range(file, { after: 0, through: view.get(filesSlice).sequence, limit: erasedAtOnce }),
  }),
  turn: (turn, _nothing, { files }) => {
    const isBusy = garbageOf(turn) + erasedAtOnce > garbageMax;
    const erased = isBusy ? [] : files.rows.filter((row) => !isMoving(turn, row));
    for (const row of erased) {
      turn.remove(file, { owner_uuid: row.owner_uuid, remote_identifier: row.remote_identifier });
      discardFile(turn, cleanup, row);
    }
    const pause = erased.length > 0 ? 0 : pauseMs;
    if (isBusy || files.rows.length > 0) turn.arm(eraseFiles, turn.nowMs + pause, null);
    else change(turn, { sequence: 0 });
  },
});

/** Also in the store. */
export const areFilesGone = (view: View): boolean =>
  view.get(filesSlice).sequence === 0 && garbageOf(view) === 0;
