/**
 * Moves a file between the account and a shared vault, or between two vaults (`actors/files/move.ts`). The user's actor asks
 * for the steps. Where the account is the source or the target, the actor runs them itself. The token says where the file is,
 * whatever the client says of the item.
 */
import { keys, type Turn, tell, timer, type Workflow, workflow } from '../../../runtime/command.ts';
import { refusalByGarbage } from '../../files/garbage.ts';
import {
  arrivalPlan,
  arriveFile,
  type Concluding,
  concludeFile,
  concludePlan,
  type Departed,
  departFile,
  forgetArrival,
  type MovingFile,
  type OwnerOfFiles,
  settleFile,
} from '../../files/move.ts';
import { noSpace } from '../../files/quota.ts';
import { file } from '../../files/tables.ts';
import { heldBytes } from '../../files/uploads.ts';
import type { ValetClaims } from '../../identity/valet-tokens.ts';
import { type Answer, isRefused, type Refused } from '../../reply.ts';
import { Vault } from '../../vault/contract.ts';
import { askIfThere } from '../vaults/ask.ts';
import { invalidToken, refusalOf } from './access.ts';
import { Files } from './contract.ts';
import { ownFiles } from './own-files.ts';

const { concludeFileMove } = Files.timers;

interface Moved {
  readonly file: MovingFile;
  readonly fromOwnerUuid: string;
}

interface Side {
  readonly owner: OwnerOfFiles;
  depart(to: OwnerOfFiles): Promise<Moved | { readonly isOver: true } | Refused>;
  arrive(moved: Moved): Promise<object | Refused>;
  /** True: the file has moved by this. */
  conclude(arrived: boolean): Promise<boolean>;
}

function ownSide(steps: Workflow, claims: ValetClaims): Side {
  const { id } = steps.self;
  const key = { owner_uuid: id, remote_identifier: claims.remoteIdentifier };
  return {
    owner: { kind: 'user', uuid: id },
    depart: async (to) => {
      const departed = await steps.turn({
        reads: () => ({ files: keys(file, [key]) }),
        turn: (turn, { files }): Departed | Refused =>
          refusalOf(turn, claims, 'move') ??
          departFile({ turn, claims, row: files.get(key), to, timer: concludeFileMove }),
      });
      return 'file' in departed ? { ...departed, fromOwnerUuid: id } : departed;
    },
    arrive: ({ file: moving, fromOwnerUuid }) =>
      steps.turn({
        reads: (view) => arrivalPlan(view, moving),
        turn: (turn, reads) => {
          const refused = refusalOf(turn, claims, 'move');
          if (refused !== undefined) return refused;
          const own = ownFiles(turn);
          const { quota } = own;
          const wanted = { uploadUuid: moving.uploadUuid, bytes: moving.bytes };
          const hasRoom = () => fromOwnerUuid === id || quota.hasRoom(wanted, heldBytes(turn));
          const lacksRoom = () => refusalByGarbage(turn, own) ?? (hasRoom() ? undefined : noSpace);
          const arrived = arriveFile(turn, moving, reads, lacksRoom);
          if (arrived === 'arrived') quota.grow(moving.bytes);
          return isRefused(arrived) ? arrived : {};
        },
      }),
    conclude: (arrived) =>
      steps.turn({
        reads: (view) => concludePlan(view, claims.id),
        turn: (turn, reads) => conclude(turn, claims.id, arrived, reads),
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
    depart: async (to) => okOf(await askIfThere(steps, uuid, (vault) => vault.departFile({ claims, to }))),
    arrive: async (moved) =>
      okOf(await askIfThere(steps, uuid, (vault) => vault.arriveFile({ claims, ...moved }))),
    conclude: async (arrived) => {
      const answer = okOf(await askIfThere(steps, uuid, (vault) => vault.concludeFile({ claims, arrived })));
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
    const refused = await steps.turn({ turn: (turn) => refusalOf(turn, claims, 'move') });
    if (refused !== undefined) return refused;
    const sides = sidesOf(steps, claims);
    if (sides === undefined) return invalidToken;
    const [source, target] = sides;
    const departed = await source.depart(target.owner);
    if (isRefused(departed)) return departed;
    if ('isOver' in departed) return { ok: {} };
    const arrived = await target.arrive(departed);
    const hasMoved = await source.conclude(!isRefused(arrived));
    return isRefused(arrived) && !hasMoved ? arrived : { ok: {} };
  },
});

type Reads = Pick<Concluding, 'files'>;
type Arrived = Concluding['arrived'];

function conclude(turn: Turn, id: string, arrived: Arrived, { files }: Reads): boolean {
  const concluded = concludeFile(turn, {
    id,
    arrived,
    files,
    owner: ownFiles(turn),
    timer: concludeFileMove,
  });
  if (concluded === undefined) return false;
  const target = turn.tell(Vault, concluded.to.uuid);
  if (concluded.outcome === 'moved') target.fileMoved({ uploadUuid: concluded.uploadUuid });
  else target.fileGivenUp({ id, hop: concluded.hop });
  return concluded.outcome === 'moved';
}

export const concludeFileMoveTimer = timer({
  ...concludeFileMove,
  missed: 'fire-once',
  reads: (view, { id }) => concludePlan(view, id),
  turn: (turn, { id }, reads) => {
    conclude(turn, id, 'unknown', reads);
  },
});

export const fileMoveTells = {
  fileMoved: tell({
    ...Files.tells.fileMoved,
    turn: (turn, { uploadUuid }) => forgetArrival(turn, uploadUuid),
  }),
  fileGivenUp: tell({
    ...Files.tells.fileGivenUp,
    turn: (turn, givenUp, { address }) => turn.tell(Vault, address.id).fileSettled(givenUp),
  }),
  fileSettled: tell({
    ...Files.tells.fileSettled,
    turn: (turn, givenUp) => settleFile(turn, givenUp, concludeFileMove),
  }),
};
