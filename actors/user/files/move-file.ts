/**
 * Moves a file between the account and a shared vault, or between two vaults (`actors/files/transfer.ts`). The user's actor
 * asks for the steps. Where the account is the source or the target, the actor runs them itself. The token says where the file
 * is, whatever the client says of the item.
 */
import { keys, type Turn, tell, timer, type Workflow, workflow } from '../../../runtime/command.ts';
import { invalidToken } from '../../files/by-token.ts';
import { refusalForGarbage } from '../../files/garbage.ts';
import { noSpace } from '../../files/owner.ts';
import { file } from '../../files/tables.ts';
import {
  applyFileTransfer,
  applyPlan,
  type Finalizing,
  finalizeFileTransfer,
  finalizePlan,
  forgetIncoming,
  type MovingFile,
  type OwnerOfFiles,
  type PreparedFileTransfer,
  prepareFileTransfer,
  settleFile,
} from '../../files/transfer.ts';
import { heldBytes } from '../../files/uploads.ts';
import type { ValetClaims } from '../../identity/valet-tokens.ts';
import { type Answer, isRefused, type Refused } from '../../reply.ts';
import { VaultFiles } from '../../vault/files/contract.ts';
import { askIfThere } from '../vaults/ask.ts';
import { refusalOfToken } from './access.ts';
import { Files } from './contract.ts';
import { ownFiles } from './own-files.ts';

const { finalizeOverdueFile } = Files.timers;

interface MovedFile {
  readonly file: MovingFile;
  readonly fromOwnerUuid: string;
}

interface Side {
  readonly owner: OwnerOfFiles;
  prepare(to: OwnerOfFiles): Promise<MovedFile | { readonly isOver: true } | Refused>;
  apply(moved: MovedFile): Promise<object | Refused>;
  /** True: the file has moved by this. */
  finalize(applied: boolean): Promise<boolean>;
}

function ownSide(steps: Workflow, claims: ValetClaims): Side {
  const { id } = steps.self;
  const key = { owner_uuid: id, remote_identifier: claims.remoteIdentifier };
  return {
    owner: { kind: 'user', uuid: id },
    prepare: async (to) => {
      const prepared = await steps.turn({
        reads: () => ({ files: keys(file, [key]) }),
        turn: (turn, { files }): PreparedFileTransfer | Refused =>
          refusalOfToken(turn, claims, 'move') ??
          prepareFileTransfer({ turn, claims, row: files.get(key), to, timer: finalizeOverdueFile }),
      });
      return 'file' in prepared ? { ...prepared, fromOwnerUuid: id } : prepared;
    },
    apply: ({ file: moving, fromOwnerUuid }) =>
      steps.turn({
        reads: (view) => applyPlan(view, moving),
        turn: (turn, reads) => {
          const refused = refusalOfToken(turn, claims, 'move');
          if (refused !== undefined) return refused;
          const own = ownFiles(turn);
          const { quota } = own;
          const requested = { uploadUuid: moving.uploadUuid, bytes: moving.bytes };
          const hasCapacity = () => fromOwnerUuid === id || quota.hasCapacity(requested, heldBytes(turn));
          const refusalForCapacity = () =>
            refusalForGarbage(turn, own) ?? (hasCapacity() ? undefined : noSpace);
          const applied = applyFileTransfer(turn, moving, reads, refusalForCapacity);
          if (applied === 'applied') quota.grow(moving.bytes);
          return isRefused(applied) ? applied : {};
        },
      }),
    finalize: (applied) =>
      steps.turn({
        reads: (view) => finalizePlan(view, claims.id),
        turn: (turn, reads) => finalize(turn, claims.id, applied, reads),
      }),
  };
}

function vaultSide(steps: Workflow, claims: ValetClaims, uuid: string): Side {
  const okOf = <Ok extends object>(answer: Answer<Ok> | undefined): Ok | Refused => {
    if (answer === undefined) return invalidToken;
    return isRefused(answer) ? answer : answer.ok;
  };
  return {
    owner: { kind: 'vault', uuid },
    prepare: async (to) =>
      okOf(await askIfThere(steps, VaultFiles, uuid, (vault) => vault.prepareFileTransfer({ claims, to }))),
    apply: async (moved) =>
      okOf(
        await askIfThere(steps, VaultFiles, uuid, (vault) => vault.applyFileTransfer({ claims, ...moved })),
      ),
    finalize: async (applied) => {
      const answer = okOf(
        await askIfThere(steps, VaultFiles, uuid, (vault) => vault.finalizeFileTransfer({ claims, applied })),
      );
      return 'moved' in answer && answer.moved;
    },
  };
}

function sidesOf(steps: Workflow, claims: ValetClaims): readonly [Side, Side] | undefined {
  const { sharedVaultUuid, move } = claims;
  if (sharedVaultUuid === undefined || move === undefined) return undefined;
  const vault = vaultSide(steps, claims, sharedVaultUuid);
  if (move.type === 'user-to-shared-vault') return [ownSide(steps, claims), vault];
  if (move.type === 'shared-vault-to-user') return [vault, ownSide(steps, claims)];
  const { targetVaultUuid } = move;
  return targetVaultUuid === undefined ? undefined : [vault, vaultSide(steps, claims, targetVaultUuid)];
}

export const moveFile = workflow({
  ...Files.commands.moveFile,
  run: async (steps, { claims }): Promise<Answer<Record<string, never>>> => {
    const refused = await steps.turn({ turn: (turn) => refusalOfToken(turn, claims, 'move') });
    if (refused !== undefined) return refused;
    const sides = sidesOf(steps, claims);
    if (sides === undefined) return invalidToken;
    const [source, target] = sides;
    const prepared = await source.prepare(target.owner);
    if (isRefused(prepared)) return prepared;
    if ('isOver' in prepared) return { ok: {} };
    const applied = await target.apply(prepared);
    const hasMoved = await source.finalize(!isRefused(applied));
    return isRefused(applied) && !hasMoved ? applied : { ok: {} };
  },
});

type Reads = Pick<Finalizing, 'files'>;
type AppliedTransfer = Finalizing['applied'];

function finalize(turn: Turn, id: string, applied: AppliedTransfer, { files }: Reads): boolean {
  const finalized = finalizeFileTransfer(turn, {
    id,
    applied,
    files,
    owner: ownFiles(turn),
    timer: finalizeOverdueFile,
  });
  if (finalized === undefined) return false;
  const target = turn.tell(VaultFiles, finalized.to.uuid);
  if (finalized.outcome === 'moved') target.fileMoved({ uploadUuid: finalized.uploadUuid });
  else target.fileGivenUp({ id, hop: finalized.hop });
  return finalized.outcome === 'moved';
}

export const finalizeOverdueFileTimer = timer({
  ...finalizeOverdueFile,
  reads: (view, { id }) => finalizePlan(view, id),
  turn: (turn, { id }, reads) => {
    finalize(turn, id, 'unknown', reads);
  },
});

export const fileMoveTells = {
  fileMoved: tell({
    ...Files.tells.fileMoved,
    turn: (turn, { uploadUuid }) => forgetIncoming(turn, uploadUuid),
  }),
  fileGivenUp: tell({
    ...Files.tells.fileGivenUp,
    turn: (turn, givenUp, { address }) => turn.tell(VaultFiles, address.id).fileSettled(givenUp),
  }),
  fileSettled: tell({
    ...Files.tells.fileSettled,
    turn: (turn, givenUp) => settleFile(turn, givenUp, finalizeOverdueFile),
  }),
};
