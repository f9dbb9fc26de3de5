/** The commands of a vault for its files. All but `mayUseFiles` are authorized by a valet token. */
import { command, keys, sharedRead, type View } from '../../../runtime/command.ts';
import { head } from '../../collection/head.ts';
import { answerIfUnchanged, deleteByToken, fileAnswer, invalidToken } from '../../files/by-token.ts';
import { file, fileKey } from '../../files/tables.ts';
import type { ValetClaims } from '../../identity/valet-tokens.ts';
import { noSuchVault } from '../contract.ts';
import { addNotifications, memberListFor } from '../member-list.ts';
import { accessOf, accessPlan, readOnlyMember, refusalOfToken, rightsOf } from './access.ts';
import { VaultFiles } from './contract.ts';
import { moveCommands } from './move.ts';
import { vaultFiles } from './own-files.ts';
import { membersAndFilePlan, uploadCommands } from './uploads.ts';

const mayUseFiles = sharedRead(VaultFiles.commands.mayUseFiles, {
  reads: (view, { by }) => accessPlan(view, by),
  answer: (view, { by, writes }, reads) => {
    const access = accessOf(view, by, reads);
    if (access === undefined) return noSuchVault;
    return writes && !access.mayWrite ? readOnlyMember : { ok: {} };
  },
});

const deleteFile = command(VaultFiles.commands.deleteFile, {
  reads: membersAndFilePlan,
  turn: (turn, request, { files, ...reads }) => {
    const { claims } = request;
    const memberList = memberListFor(turn, claims.userUuid, reads);
    if (memberList === undefined) return invalidToken;
    const refused = refusalOfToken(turn, claims, rightsOf(memberList));
    if (refused !== undefined) return refused;
    const row = files.get(fileKey(turn, claims.remoteIdentifier));
    const deleted = deleteByToken(turn, vaultFiles(turn, memberList.vault), claims, row);
    if (deleted !== 'deleted') return deleted;
    addNotifications(turn, memberList.members, 'shared_vault_file_removed', turn.get(head).position);
    return { ok: {} };
  },
});

const accessAndFilePlan = (view: View, { claims }: { readonly claims: ValetClaims }) => ({
  ...accessPlan(view, claims.userUuid),
  files: keys(file, [fileKey(view, claims.remoteIdentifier)]),
});

const openFile = sharedRead(VaultFiles.commands.openFile, {
  reads: accessAndFilePlan,
  answer: (view, { claims }, { files, ...reads }) => {
    const refused = refusalOfToken(view, claims, accessOf(view, claims.userUuid, reads));
    return refused ?? fileAnswer(files.get(fileKey(view, claims.remoteIdentifier)));
  },
});

const checkToken = sharedRead(VaultFiles.commands.checkToken, {
  reads: accessAndFilePlan,
  answer: (view, { claims, uploadUuid }, { files, ...reads }) => {
    const refused = refusalOfToken(view, claims, accessOf(view, claims.userUuid, reads));
    return refused ?? answerIfUnchanged(files.get(fileKey(view, claims.remoteIdentifier)), uploadUuid);
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
