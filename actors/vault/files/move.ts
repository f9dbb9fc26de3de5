/** A vault as the source or the target of a file that moves (`actors/files/move.ts`). */
import { command, keys, type Turn, tell, timer, type View, workflow } from '../../../runtime/command.ts';
import { head } from '../../collection/head.ts';
import { refusalByGarbage } from '../../files/garbage.ts';
import {
  arrivalPlan,
  arriveFile,
  type Concluding,
  concludeFile,
  concludePlan,
  departFile,
  forgetArrival,
  settleFile,
} from '../../files/move.ts';
import { file } from '../../files/tables.ts';
import { type Answer, answerOf, isRefused } from '../../reply.ts';
import { Files } from '../../user/files/contract.ts';
import { Vault } from '../contract.ts';
import { memberListFor, memberListOf, memberListPlan, notify } from '../member-list.ts';
import { accessOf, accessPlan, invalidToken, refusalOf } from './access.ts';
import { releaseAt, vaultFiles } from './own-files.ts';
import { fileKey, holdAt, ownerChanged, writing } from './uploads.ts';

const { concludeFileMove } = Vault.timers;

const depart = command({
  ...Vault.commands.departFile,
  reads: (view, asked) => ({
    ...accessPlan(view, asked.claims.userUuid),
    files: keys(file, [fileKey(view, asked)]),
  }),
  turn: (turn, asked, { files, ...reads }) => {
    const { claims, to } = asked;
    const access = accessOf(turn, claims.userUuid, reads);
    const refused = refusalOf(turn, claims, access);
    if (refused !== undefined || access === undefined) return refused ?? invalidToken;
    const departed = departFile({
      turn,
      claims,
      row: files.get(fileKey(turn, asked)),
      to,
      timer: concludeFileMove,
    });
    if (isRefused(departed)) return departed;
    return { ok: 'file' in departed ? { ...departed, fromOwnerUuid: access.vault.owner_uuid } : departed };
  },
});

/** Where it has counted for the same owner so far, there is room for it. */
const arrive = workflow({
  ...Vault.commands.arriveFile,
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
      reads: (view) => ({ ...memberListPlan(view), ...arrivalPlan(view, moving) }),
      turn: (turn, reads) => {
        const memberList = memberListFor(turn, claims.userUuid, reads);
        const asker = memberList && { mayWrite: memberList.asker.permission !== 'read' };
        const refused = memberList === undefined ? invalidToken : refusalOf(turn, claims, asker);
        const changed =
          memberList !== undefined && memberList.vault.owner_uuid !== ownerUuid ? ownerChanged : undefined;
        const garbage = () => refusalByGarbage(turn, vaultFiles(turn));
        const arrived = refused ?? changed ?? arriveFile(turn, moving, reads, garbage);
        if (arrived !== 'arrived' || memberList === undefined) {
          if (ownerUuid !== fromOwnerUuid) releaseAt(turn, ownerUuid, claims.id);
          return answerOf(arrived === 'was here' || arrived === 'arrived' ? {} : arrived);
        }
        vaultFiles(turn, memberList.vault).quota.grow(moving.bytes, claims.id);
        notify(turn, memberList.members, 'shared_vault_file_uploaded', turn.get(head).position);
        return { ok: {} };
      },
    });
  },
});

const plansToConclude = (view: View, id: string) => ({ ...memberListPlan(view), ...concludePlan(view, id) });
type Reads = Parameters<typeof memberListOf>[1] & Pick<Concluding, 'files'>;

/** The vault may have ended meanwhile. */
function conclude(
  turn: Turn,
  id: string,
  arrived: Concluding['arrived'],
  { files, ...reads }: Reads,
): boolean {
  const memberList = memberListOf(turn, reads);
  const owner = vaultFiles(turn, memberList?.vault);
  const concluded = concludeFile(turn, { id, arrived, files, owner, timer: concludeFileMove });
  if (concluded === undefined) return false;
  const { kind, uuid } = concluded.to;
  const target = kind === 'user' ? turn.tell(Files, uuid) : turn.tell(Vault, uuid);
  if (concluded.outcome === 'given up') {
    target.fileGivenUp({ id, hop: concluded.hop });
    return false;
  }
  target.fileMoved({ uploadUuid: concluded.uploadUuid });
  notify(turn, memberList?.members ?? [], 'shared_vault_file_removed', turn.get(head).position);
  return true;
}

export const moveCommands = {
  departFile: depart,
  arriveFile: arrive,
  concludeFile: command({
    ...Vault.commands.concludeFile,
    reads: (view, { claims }) => plansToConclude(view, claims.id),
    turn: (turn, { claims, arrived }, reads) => ({
      ok: { moved: conclude(turn, claims.id, arrived, reads) },
    }),
  }),
};

export const concludeFileMoveTimer = timer({
  ...concludeFileMove,
  missed: 'fire-once',
  reads: (view, { id }) => plansToConclude(view, id),
  turn: (turn, { id }, reads) => {
    conclude(turn, id, 'unknown', reads);
  },
});

export const fileMoveTells = {
  fileMoved: tell({
    ...Vault.tells.fileMoved,
    turn: (turn, { uploadUuid }) => forgetArrival(turn, uploadUuid),
  }),
  fileGivenUp: tell({
    ...Vault.tells.fileGivenUp,
    turn: (turn, givenUp, { address: { kind, id } }) => {
      const source = kind === 'user' ? turn.tell(Files, id) : turn.tell(Vault, id);
      source.fileSettled(givenUp);
    },
  }),
  fileSettled: tell({
    ...Vault.tells.fileSettled,
    turn: (turn, givenUp) => settleFile(turn, givenUp, concludeFileMove),
  }),
};
