/** The vault's side of the transfer of a file, as its source or its target. `actors/files/transfer.ts` has the protocol. */
import { command, keys, workflow } from '../../../runtime/command.ts';
import { head } from '../../collection/head.ts';
import { invalidToken } from '../../files/by-token.ts';
import { refusalForGarbage } from '../../files/garbage.ts';
import { file, fileKey } from '../../files/tables.ts';
import { applyFileTransfer, applyPlan, fileMoves, finalizePlan } from '../../files/transfer.ts';
import { type Answer, answerOf, isRefused } from '../../reply.ts';
import { Files } from '../../user/files/contract.ts';
import { addNotifications, memberListFor, memberListOf, memberListPlan } from '../member-list.ts';
import { accessOf, accessPlan, refusalOfToken, rightsOf } from './access.ts';
import { VaultFiles } from './contract.ts';
import { releaseAt, vaultFiles } from './own-files.ts';
import { holdAt, ownerChanged, writing } from './uploads.ts';

export const vaultFileMoves = fileMoves({
  ...VaultFiles,
  plan: (view, id) => ({ ...memberListPlan(view), ...finalizePlan(view, id) }),
  // The vault may have ended meanwhile.
  owner: (turn, reads) => vaultFiles(turn, memberListOf(turn, reads)?.vault),
  tellsOf: (turn, { kind, uuid }) => (kind === 'user' ? turn.tell(Files, uuid) : turn.tell(VaultFiles, uuid)),
  hasLeft: (turn, reads) => {
    const members = memberListOf(turn, reads)?.members ?? [];
    addNotifications(turn, members, 'shared_vault_file_removed', turn.get(head).position);
  },
});

const prepare = command(VaultFiles.commands.prepareFileTransfer, {
  reads: (view, request) => ({
    ...accessPlan(view, request.claims.userUuid),
    files: keys(file, [fileKey(view, request.claims.remoteIdentifier)]),
  }),
  turn: (turn, request, { files, ...reads }) => {
    const { claims, to } = request;
    const access = accessOf(turn, claims.userUuid, reads);
    const refused = refusalOfToken(turn, claims, access);
    if (refused !== undefined || access === undefined) return refused ?? invalidToken;
    const row = files.get(fileKey(turn, claims.remoteIdentifier));
    const prepared = vaultFileMoves.prepare(turn, claims, row, to);
    if (isRefused(prepared)) return prepared;
    return { ok: 'file' in prepared ? { ...prepared, fromOwnerUuid: access.vault.owner_uuid } : prepared };
  },
});

/** Reserves quota at the vault's owner, unless the file counts in that user's quota already. */
const apply = workflow(VaultFiles.commands.applyFileTransfer, {
  run: async (steps, { claims, file: moving, fromOwnerUuid }): Promise<Answer<Record<string, never>>> => {
    const first = await steps.turn(writing(claims, (_turn, vault) => ({ ownerUuid: vault.owner_uuid })));
    if (isRefused(first)) return first;
    const { ownerUuid } = first;
    const held = { holdUuid: claims.id, bytes: moving.bytes };
    if (ownerUuid !== fromOwnerUuid) {
      const refused = await holdAt(steps, ownerUuid, held);
      if (refused !== undefined) return refused;
    }
    return steps.turn({
      reads: (view) => ({ ...memberListPlan(view), ...applyPlan(view, moving) }),
      turn: (turn, reads) => {
        const memberList = memberListFor(turn, claims.userUuid, reads);
        const refused =
          memberList === undefined ? invalidToken : refusalOfToken(turn, claims, rightsOf(memberList));
        const changed =
          memberList !== undefined && memberList.vault.owner_uuid !== ownerUuid ? ownerChanged : undefined;
        const garbage = () => refusalForGarbage(turn, vaultFiles(turn));
        const applied = refused ?? changed ?? applyFileTransfer(turn, moving, reads, garbage);
        if (applied !== 'applied' || memberList === undefined) {
          if (ownerUuid !== fromOwnerUuid) releaseAt(turn, ownerUuid, claims.id);
          return answerOf(applied === 'was here' || applied === 'applied' ? {} : applied);
        }
        vaultFiles(turn, memberList.vault).quota.grow(moving.bytes, claims.id);
        addNotifications(turn, memberList.members, 'shared_vault_file_uploaded', turn.get(head).position);
        return { ok: {} };
      },
    });
  },
});

export const moveCommands = {
  prepareFileTransfer: prepare,
  applyFileTransfer: apply,
  finalizeFileTransfer: command(VaultFiles.commands.finalizeFileTransfer, {
    reads: (view, { claims }) => vaultFileMoves.plan(view, claims.id),
    turn: (turn, { claims, applied }, reads) => ({
      ok: { moved: vaultFileMoves.finalize(turn, claims.id, applied, reads) },
    }),
  }),
};
