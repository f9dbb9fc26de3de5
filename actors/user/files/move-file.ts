/**
 * Moves a file between the account and a shared vault, or between two vaults (`actors/files/transfer.ts`). The user's actor
 * asks for the steps. Where the account is the source or the target, the actor runs them itself. The token says where the file
 * is, whatever the client says of the item.
 */
import { keys, type Workflow, workflow } from '../../../runtime/command.ts';
import type { Ask } from '../../../runtime/handles.ts';
import { invalidToken } from '../../files/by-token.ts';
import { refusalForGarbage } from '../../files/garbage.ts';
import { noSpace } from '../../files/owner.ts';
import { file } from '../../files/tables.ts';
import {
  applyFileTransfer,
  applyPlan,
  fileMoves,
  finalizePlan,
  type MovingFile,
  type OwnerOfFiles,
  type PreparedFileTransfer,
} from '../../files/transfer.ts';
import { heldBytes } from '../../files/uploads.ts';
import type { ValetClaims } from '../../identity/valet-tokens.ts';
import { type Answer, isRefused, type Refused } from '../../reply.ts';
import { VaultFiles } from '../../vault/files/contract.ts';
import { askIfThere } from '../vaults/ask.ts';
import { refusalOfToken } from './access.ts';
import { Files } from './contract.ts';
import { ownFiles } from './own-files.ts';

export const ownFileMoves = fileMoves({
  ...Files,
  plan: finalizePlan,
  owner: ownFiles,
  tellsOf: (turn, { uuid }) => turn.tell(VaultFiles, uuid),
});

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
          refusalOfToken(turn, claims, 'move') ?? ownFileMoves.prepare(turn, claims, files.get(key), to),
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
        reads: (view) => ownFileMoves.plan(view, claims.id),
        turn: (turn, reads) => ownFileMoves.finalize(turn, claims.id, applied, reads),
      }),
  };
}

function vaultSide(steps: Workflow, claims: ValetClaims, uuid: string): Side {
  const ask = async <Ok extends object>(
    question: (vault: Ask<typeof VaultFiles.commands>) => Promise<Answer<Ok>>,
  ): Promise<Ok | Refused> => {
    const answer = await askIfThere(steps, VaultFiles, uuid, question);
    if (answer === undefined) return invalidToken;
    return isRefused(answer) ? answer : answer.ok;
  };
  return {
    owner: { kind: 'vault', uuid },
    prepare: (to) => ask((vault) => vault.prepareFileTransfer({ claims, to })),
    apply: (moved) => ask((vault) => vault.applyFileTransfer({ claims, ...moved })),
    finalize: async (applied) => {
      const answer = await ask((vault) => vault.finalizeFileTransfer({ claims, applied }));
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

export const moveFile = workflow(Files.commands.moveFile, {
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
