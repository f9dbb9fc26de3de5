/** The sync lane of an account (docs/protocol/sockets.md, "The sync lane"). */

import type { z } from 'zod';
import { command, type Turn, type View } from '../../../runtime/command.ts';
import { refuse } from '../../reply.ts';
import { userPart } from '../hooks.ts';
import { getSyncCommand } from '../items/sync.ts';
import { isInUse } from '../profile.ts';
import { checkSession, pairName, sessionMap } from '../sessions/session.ts';
import { settingValue } from '../settings/stored.ts';
import { type SignedIn, signedInRead, signedInTurn } from '../signed-in.ts';
import { membershipsOf } from '../vaults/memberships.ts';
import { SyncLane } from './contract.ts';
import { journalPurge, journalSlice, syncCommandTable, trimSyncJournalTimer } from './journal.ts';
import { commandKey, laneMemory } from './memory.ts';

const ticketMs = 30_000;

const syncDisabled = 'SYNC_DISABLED';

/** Clients look for `code`. Without `Retry-After` they stop asking for tickets. */
const switchedOff = refuse.unavailable(
  'An administrator has switched the sync lane off for this account. Items sync over HTTP.',
  syncDisabled,
  { payload: { code: syncDisabled } },
);

const isSwitchedOff = (view: View): boolean => settingValue(view, 'LIVE_SYNC_ENABLED') === 'false';

const mintSyncTicket = signedInRead(
  SyncLane.commands.mintSyncTicket,
  (view, _request, _reads, { session }) =>
    isSwitchedOff(view)
      ? switchedOff
      : {
          sessionUuid: session.uuid,
          pair: pairName(session.current),
          activation: view.activation.id,
          issuedAtMs: view.nowMs,
          expiresAtMs: view.nowMs + ticketMs,
        },
);

const spendSyncTicket = command(SyncLane.commands.spendSyncTicket, (turn, request) => {
  const { activation, nonce, attempt, expiresAtMs } = request;
  const isCurrent = activation === turn.activation.id && turn.nowMs < expiresAtMs;
  if (!isCurrent || !laneMemory(turn).spend(nonce, attempt, expiresAtMs, turn.nowMs)) {
    return { verdict: 'spent' as const };
  }
  return verdictOn(turn, request);
});

type Spend = typeof SyncLane.commands.spendSyncTicket;

function verdictOn(
  turn: Turn,
  { sessionUuid, pair, gateway }: z.infer<Spend['request']>,
): z.infer<Spend['reply']> {
  const session = turn.entry(sessionMap, sessionUuid);
  if (session === undefined || turn.nowMs >= session.keptUntilMs || !isInUse(turn))
    return { verdict: 'gone' };
  const credentials = {
    userUuid: turn.self.id,
    style: 'lane',
    identifier: sessionUuid,
    secrets: [pair],
  } as const;
  const verdict = 'session' in checkSession(turn, credentials, turn.nowMs) ? 'good' : 'stale';
  if (gateway === undefined) return { verdict };
  return { verdict, host: turn.subscribe(gateway), endsInMs: session.keptUntilMs - turn.nowMs };
}

const holdSyncCommand = signedInTurn(SyncLane.commands.holdSyncCommand, (turn, request, _reads, by) => ({
  verdict: holdVerdict(turn, request, by),
}));

type Hold = typeof SyncLane.commands.holdSyncCommand;

function holdVerdict(
  turn: Turn,
  { commandId, hold, saves, vaults }: z.infer<Hold['fields']>,
  { session, readonly }: SignedIn,
): z.infer<Hold['ok']>['verdict'] {
  if (isSwitchedOff(turn)) return 'disabled';
  if (saves && readonly) return 'read-only';
  const memberships = membershipsOf(turn);
  if (!vaults.every((uuid) => memberships.has(uuid.toLowerCase()))) return 'not-authorized';
  const isHeld = laneMemory(turn).hold(commandKey(session.uuid, commandId), hold, turn.nowMs);
  return isHeld ? 'held' : 'busy';
}

const releaseSyncCommand = command(
  SyncLane.commands.releaseSyncCommand,
  (turn, { sessionUuid, commandId, hold }) => {
    laneMemory(turn).release(commandKey(sessionUuid, commandId), hold);
    return {};
  },
);

export const syncLane = userPart(SyncLane, {
  name: 'sync-lane',
  slices: [journalSlice],
  tables: [syncCommandTable],
  commands: { mintSyncTicket, spendSyncTicket, holdSyncCommand, releaseSyncCommand, getSyncCommand },
  timers: { trimSyncJournal: trimSyncJournalTimer },
  on: { purgeFirst: journalPurge },
});
