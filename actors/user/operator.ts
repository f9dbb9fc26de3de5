/** Answers operators, and administrators who ask through their own actor (`operator-contract.ts`). No session is checked here. */
import { command, sharedRead, type Turn } from '../../runtime/command.ts';
import { NotFoundError } from '../../runtime/errors.ts';
import type { SliceSource } from '../../runtime/slice.ts';
import { head } from '../collection/head.ts';
import { answerOf } from '../reply.ts';
import { AccountSettings } from '../settings.ts';
import { ban, banStatus, unban } from './account/set-ban.ts';
import { flagsOf, setFlag } from './admin/flags.ts';
import { audit, auditPages, readTrail } from './audit/trail.ts';
import { revokeAllCalendarTokens } from './calendar/tokens.ts';
import { rolesChanged, User } from './contract.ts';
import { factorsOn, resetFactors } from './factors/restore.ts';
import { limitBytesOf, usedBytesOf } from './files/own-files.ts';
import { type RaisedHooks, userPart } from './hooks.ts';
import { noteFactorReset } from './notices.ts';
import { UserAdministration } from './operator-contract.ts';
import { adminRoleSlice, callerOf, isAdministrator, type Profile, profileSlice } from './profile.ts';
import { exportPieces } from './requests/export-pieces.ts';
import { endAllSessions, lastUseMs, type Session, sessionMap } from './sessions/session.ts';

const operatorShow = sharedRead(UserAdministration.commands.operatorShow, (view) => {
  const { state, email, workspace, protocolVersion, createdAtMs } = existing(view);
  const { items, sizeBytes } = view.get(head);
  const { banned, bannedAtMs, banReason } = banStatus(view);
  const sessions = [...view.entries(sessionMap).values()].filter(isLive(view.nowMs));
  const lastUses = sessions.map((session) => lastUseMs(view.activation, session));
  const limitBytes = limitBytesOf(view);
  return {
    state,
    email,
    workspace,
    protocolVersion,
    createdAtMs,
    items,
    itemBytes: sizeBytes,
    fileBytes: usedBytesOf(view),
    fileBytesMax: Number.isFinite(limitBytes) ? limitBytes : null,
    lastUsedAtMs: lastUses.length === 0 ? null : Math.max(...lastUses),
    factors: factorsOn(view),
    sessions: sessions.length,
    roles: callerOf(view).roles.map(({ name }) => name),
    readonly: view.use(AccountSettings).readonlyUsers.has(email),
    banned,
    bannedAtMs,
    banReason,
  };
});

const operatorCommands = (hooks: RaisedHooks) => ({
  operatorShow,

  operatorEndSessions: command(UserAdministration.commands.operatorEndSessions, {
    repeat: 'recorded',
    turn: (turn) => {
      existing(turn);
      const ended = [...turn.entries(sessionMap).values()].filter(isLive(turn.nowMs)).length;
      endAllSessions(turn);
      if (ended > 0) audit(turn, 'signed-out-by-operator');
      return { ended };
    },
  }),

  operatorSetAdministrator: command(UserAdministration.commands.operatorSetAdministrator, {
    repeat: 'recorded',
    turn: (turn, { administrator }) => {
      active(turn);
      const changed = isAdministrator(turn) !== administrator;
      turn.set(adminRoleSlice, { ...turn.get(adminRoleSlice), administrator });
      if (changed) {
        audit(turn, administrator ? 'made-administrator' : 'unmade-administrator');
        publishRoles(turn);
      }
      return { changed };
    },
  }),

  operatorBanStatus: sharedRead(UserAdministration.commands.operatorBanStatus, (view) => {
    active(view);
    return banStatus(view);
  }),

  operatorSetBan: command(UserAdministration.commands.operatorSetBan, {
    repeat: 'recorded',
    turn: (turn, { banned, reason, by }) => {
      active(turn);
      const outcome = banned ? ban(turn, hooks, by, reason) : unban(turn, hooks);
      return { outcome, status: banStatus(turn) };
    },
  }),

  operatorFlags: sharedRead(UserAdministration.commands.operatorFlags, (view) => {
    active(view);
    return flagsOf(view);
  }),

  operatorSetFlag: command(UserAdministration.commands.operatorSetFlag, (turn, { name, value, by }) => {
    active(turn);
    return answerOf(setFlag(turn, name, value, by));
  }),

  operatorResetFactors: command(UserAdministration.commands.operatorResetFactors, {
    repeat: 'recorded',
    turn: (turn) => {
      active(turn);
      const before = resetFactors(turn);
      if (Object.values(before).some(Boolean)) noteFactorReset(turn, turn.get(profileSlice).email);
      return before;
    },
  }),

  operatorRevokeCalendarTokens: command(UserAdministration.commands.operatorRevokeCalendarTokens, {
    repeat: 'recorded',
    turn: (turn) => {
      active(turn);
      const revoked = revokeAllCalendarTokens(turn);
      if (revoked > 0) audit(turn, 'calendar-tokens-revoked-by-operator');
      return { revoked };
    },
  }),

  operatorExport: sharedRead(UserAdministration.commands.operatorExport, {
    reads: exportPieces.reads,
    answer: (view, request, reads) => {
      active(view);
      return exportPieces.answer(view, request, reads);
    },
  }),

  operatorAuditTrail: sharedRead(UserAdministration.commands.operatorAuditTrail, {
    reads: auditPages,
    answer: (view, request, pages) => {
      active(view);
      return readTrail(view, pages, request);
    },
  }),
});

export const operators = (hooks: RaisedHooks) =>
  userPart(UserAdministration, { name: 'operators', commands: operatorCommands(hooks) });

function publishRoles(turn: Turn): void {
  const currentRoles = callerOf(turn).roles.map(({ name }) => name);
  const { email } = turn.get(profileSlice);
  turn.publish(
    User,
    rolesChanged({ userUuid: turn.self.id, email, currentRoles, timestamp: turn.nowMicros }),
  );
}

const isLive =
  (nowMs: number) =>
  ({ keptUntilMs }: Session): boolean =>
    nowMs < keptUntilMs;

/** @throws NotFoundError */
function active(state: SliceSource): void {
  if (existing(state).state !== 'active') throw new NotFoundError('the account was deleted');
}

/** @throws NotFoundError */
function existing(state: SliceSource): Profile & { readonly state: 'active' | 'deleted' } {
  const profile = state.get(profileSlice);
  if (profile.state === 'none') throw new NotFoundError('there is no account here');
  return { ...profile, state: profile.state };
}
