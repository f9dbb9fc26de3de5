/**
 * What operators ask of a user (operator-contract.ts): to show the account, to end its sessions, to make and
 * unmake administrators.
 */
import { command, sharedRead } from '../../runtime/command.ts';
import { NotFoundError } from '../../runtime/errors.ts';
import type { State } from '../../runtime/slice.ts';
import { head } from '../collection/head.ts';
import { AccountSettings } from '../settings.ts';
import { callerOf } from './caller.ts';
import { UserAdministration } from './operator-contract.ts';
import { type Profile, profileSlice } from './profile.ts';
import { isAdministrator, rankSlice } from './rank.ts';
import { endAllSessions } from './sessions/end.ts';
import { type Session, sessionMap } from './sessions/session.ts';

export const operatorCommands = {
  operatorShow: sharedRead({
    ...UserAdministration.commands.operatorShow,
    answer: (view) => {
      const { state, email, workspace, protocolVersion, createdAtMs } = existing(view);
      const { items, sizeBytes } = view.get(head);
      return {
        ...{ state, email, workspace, protocolVersion, createdAtMs, items },
        itemBytes: sizeBytes,
        sessions: [...view.entries(sessionMap).values()].filter(isKept(view.nowMs)).length,
        roles: callerOf(view).roles.map(({ name }) => name),
        readonly: view.use(AccountSettings).readonlyUsers.has(email),
      };
    },
  }),

  operatorEndSessions: command({
    ...UserAdministration.commands.operatorEndSessions,
    repeat: 'recorded',
    turn: (turn) => {
      existing(turn);
      const ended = [...turn.entries(sessionMap).values()].filter(isKept(turn.nowMs)).length;
      endAllSessions(turn);
      return { ended };
    },
  }),

  operatorSetAdministrator: command({
    ...UserAdministration.commands.operatorSetAdministrator,
    repeat: 'recorded',
    turn: (turn, { administrator }) => {
      if (existing(turn).state !== 'active') throw new NotFoundError('the account was deleted');
      const changed = isAdministrator(turn) !== administrator;
      turn.set(rankSlice, { ...turn.get(rankSlice), administrator });
      return { changed };
    },
  }),
};

const isKept =
  (nowMs: number) =>
  ({ keptUntilMs }: Session): boolean =>
    nowMs < keptUntilMs;

/** @throws NotFoundError */
function existing(state: State): Profile & { readonly state: 'active' | 'deleted' } {
  const profile = state.get(profileSlice);
  if (profile.state === 'none') throw new NotFoundError('there is no account here');
  return { ...profile, state: profile.state };
}
