/** What the vault is asked about its files with a valet token. */
import { command, keys, sharedRead } from '../../../runtime/command.ts';
import { head } from '../../collection/head.ts';
import { cleanupTimer } from '../../files/cleanup.ts';
import { discardFile, removalJob } from '../../files/garbage.ts';
import { redeem, redeemedOn } from '../../files/redeemed.ts';
import { file } from '../../files/tables.ts';
import { beingMoved, isMoving } from '../../files/transfer.ts';
import { answerOf, refuse } from '../../reply.ts';
import { noSuchVault, Vault } from '../contract.ts';
import { memberListFor, notify } from '../member-list.ts';
import { accessOf, accessPlan, invalidToken, onlyReads, refusalOf } from './access.ts';
import { eraseFilesTimer } from './end.ts';
import { finalizeOverdueFileTimer, moveCommands } from './move.ts';
import { cleanup, vaultFiles } from './own-files.ts';
import { changePlan, fileKey, uploadCommands } from './uploads.ts';

const unknownFile = refuse.notFound('There is no such file.');
/** Clients ask then whether to delete the item all the same. */
const nothingToDelete = refuse.badRequest('There is no such file.');

const mayUseFiles = sharedRead({
  ...Vault.commands.mayUseFiles,
  reads: (view, { by }) => accessPlan(view, by),
  answer: (view, { by, writes }, reads) => {
    const access = accessOf(view, by, reads);
    if (access === undefined) return noSuchVault;
    return writes && !access.mayWrite ? onlyReads : { ok: {} };
  },
});

const deleteFile = command({
  ...Vault.commands.deleteFile,
  reads: changePlan,
  turn: (turn, asked, { files, ...reads }) => {
    const { claims } = asked;
    const memberList = memberListFor(turn, claims.userUuid, reads);
    const refused = refusalOf(
      turn,
      claims,
      memberList && { mayWrite: memberList.asker.permission !== 'read' },
    );
    if (refused !== undefined || memberList === undefined) return refused ?? invalidToken;
    const key = fileKey(turn, asked);
    const row = files.get(key);
    const isRedeemed = redeemedOn(turn, claims) !== undefined;
    if (isRedeemed) return answerOf(row === undefined ? {} : invalidToken);
    if (row === undefined) return nothingToDelete;
    if (isMoving(turn, row)) return beingMoved;
    turn.remove(file, key);
    discardFile(turn, cleanup, row);
    vaultFiles(turn, memberList.vault).quota.grow(-row.bytes);
    redeem(turn, claims, 'delete');
    notify(turn, memberList.members, 'shared_vault_file_removed', turn.get(head).position);
    return { ok: {} };
  },
});

const openFile = sharedRead({
  ...Vault.commands.openFile,
  reads: (view, asked) => ({
    ...accessPlan(view, asked.claims.userUuid),
    files: keys(file, [fileKey(view, asked)]),
  }),
  answer: (view, asked, { files, ...reads }) => {
    const refused = refusalOf(view, asked.claims, accessOf(view, asked.claims.userUuid, reads));
    if (refused !== undefined) return refused;
    const row = files.get(fileKey(view, asked));
    if (row === undefined) return unknownFile;
    const { upload_uuid: uploadUuid, stored_under: storedUnder, bytes, layout } = row;
    return { ok: { uploadUuid, storedUnder, bytes, layout } };
  },
});

const checkToken = sharedRead({
  ...Vault.commands.checkToken,
  reads: (view, asked) => ({
    ...accessPlan(view, asked.claims.userUuid),
    files: keys(file, [fileKey(view, asked)]),
  }),
  answer: (view, { claims, uploadUuid }, { files, ...reads }) => {
    const refused = refusalOf(view, claims, accessOf(view, claims.userUuid, reads));
    if (refused !== undefined) return refused;
    const row = files.get(fileKey(view, { claims }));
    return uploadUuid === undefined || row?.upload_uuid === uploadUuid ? { ok: {} } : unknownFile;
  },
});

export const fileCommands = {
  mayUseFiles,
  ...uploadCommands,
  ...moveCommands,
  deleteFile,
  openFile,
  checkToken,
};
export const fileTimers = {
  cleanUpFiles: cleanupTimer(cleanup, vaultFiles),
  eraseFiles: eraseFilesTimer,
  finalizeOverdueFile: finalizeOverdueFileTimer,
};
export const fileJobs = { removeBlobs: removalJob(cleanup) };
