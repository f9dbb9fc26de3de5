/**
 * The journal of sync commands (docs/protocol/sockets.md, "The journal"). It makes a command take effect once, by any way and
 * after any number of attempts.
 *
 * Invariants:
 * - A command that changes something is written here in the commit of the change. A crash leaves both or neither.
 * - A command that changes nothing has no row. Memory keeps it for a while, and to run it again does no harm.
 * - A row stays for seven days, or while it is among the user's last ten thousand. A timer removes the others; it is armed
 *   while there are rows.
 *
 * The save writes the head of the collection anyway, so the head counts the commands. A command then costs one row, and a sync
 * without a name costs nothing.
 */
import { z } from 'zod';
import {
  type KeysPlan,
  keys,
  type PlanResults,
  range,
  type Turn,
  timer,
  type View,
} from '../../../runtime/command.ts';
import { slice } from '../../../runtime/slice.ts';
import { table } from '../../../runtime/table.ts';
import { head } from '../../collection/head.ts';
import type { ModernSyncReply, SyncRequest } from '../../collection/sync-contract.ts';
import type { Credentials } from '../../identity/session-tokens.ts';
import type { CommandIdentity } from '../../sync-command.ts';
import { purging } from '../hooks.ts';
import { findSession } from '../sessions/session.ts';
import { SyncLane } from './contract.ts';
import { entryOf, entryText, type JournalEntry, readEntry } from './entry.ts';
import { commandKey, laneMemory } from './memory.ts';

export const syncCommandTable = table({
  name: 'sync_command',
  columns: {
    user_uuid: 'uuid',
    session_uuid: 'uuid',
    command_id: 'text',
    /** The number of the command among all of the user. */
    number: 'int8',
    digest: 'text',
    /** Milliseconds. */
    kept_until: 'int8',
    /** The entry as JSON, without its digest. */
    outcome: 'text',
  },
  key: ['user_uuid', 'session_uuid', 'command_id'],
  order: 'number',
});

const retentionMs = 7 * 86_400_000;
const journaledMax = 10_000;
/** Twice what is kept: more rows mean that the timer is far behind. */
const commandsMax = 2 * journaledMax;
const batchRows = 500;

const { trimSyncJournal } = SyncLane.timers;

export const journalSlice = slice({
  name: 'sync-journal',
  schema: z.object({
    /** The number of the last row that was removed. */
    gone: z.int(),
    /** The timer is armed. */
    trimming: z.boolean(),
  }),
  initial: { gone: 0, trimming: false },
});

export interface CommandPlan {
  readonly [name: string]: KeysPlan<typeof syncCommandTable>;
  readonly command: KeysPlan<typeof syncCommandTable>;
}

/** A command belongs to a session. Without one nothing is found, and the check of the session refuses. */
export function commandPlan(
  view: View,
  { credentials }: { readonly credentials: Credentials },
  commandId: string,
): CommandPlan {
  const session = findSession(view, credentials);
  const key = { user_uuid: view.self.id, session_uuid: session?.uuid ?? '', command_id: commandId };
  return { command: keys(syncCommandTable, session === undefined ? [] : [key]) };
}

export function findEntry(
  view: View,
  { command }: PlanResults<Pick<CommandPlan, 'command'>>,
  sessionUuid: string,
  commandId: string,
): JournalEntry | undefined {
  const row = command.get({ user_uuid: view.self.id, session_uuid: sessionUuid, command_id: commandId });
  if (row !== undefined) return readEntry(row.digest, row.outcome);
  return laneMemory(view).recent(commandKey(sessionUuid, commandId));
}

export function isJournalFull(view: View): boolean {
  return commandsOf(view) - view.get(journalSlice).gone >= commandsMax;
}

interface JournaledCommand {
  readonly sessionUuid: string;
  readonly identity: CommandIdentity;
  readonly request: SyncRequest;
  readonly reply: ModernSyncReply;
}

/** Call in the turn of the last change that the command makes. */
export function journal(turn: Turn, { sessionUuid, identity, request, reply }: JournaledCommand): void {
  const entry = entryOf(identity.digest, request, reply);
  const number = commandsOf(turn) + 1;
  turn.set(head, { ...turn.get(head), commands: number });
  turn.put(syncCommandTable, {
    user_uuid: turn.self.id,
    session_uuid: sessionUuid,
    command_id: identity.id,
    number,
    digest: identity.digest,
    kept_until: turn.nowMs + retentionMs,
    outcome: entryText(entry),
  });
  armTrim(turn, number);
}

function armTrim(turn: Turn, number: number): void {
  const { gone, trimming } = turn.get(journalSlice);
  if (number - gone === journaledMax + 1) turn.arm(trimSyncJournal, turn.nowMs, null);
  if (trimming) return;
  turn.set(journalSlice, { gone, trimming: true });
  turn.arm(trimSyncJournal, turn.nowMs + retentionMs, null);
}

const oldestPlan = (view: View) => ({
  oldest: range(syncCommandTable, {
    after: view.get(journalSlice).gone,
    through: commandsOf(view),
    limit: batchRows,
    columns: ['session_uuid', 'command_id', 'number', 'kept_until'],
  }),
});

export const trimSyncJournalTimer = timer(trimSyncJournal, {
  reads: oldestPlan,
  turn: (turn, _payload, { oldest }) => {
    const beyond = commandsOf(turn) - journaledMax;
    const ended = oldest.rows.filter(
      ({ number, kept_until: untilMs }) => number <= beyond || untilMs <= turn.nowMs,
    );
    removeRows(turn, ended);
    const next = oldest.rows.find((row) => !ended.includes(row));
    const trimming = next !== undefined || !oldest.complete;
    const gone = next === undefined ? Math.min(oldest.upTo, commandsOf(turn)) : next.number - 1;
    turn.set(journalSlice, { gone, trimming });
    if (trimming) turn.arm(trimSyncJournal, next?.kept_until ?? turn.nowMs, null);
  },
});

export const journalPurge = purging({
  reads: oldestPlan,
  turn: (turn, { oldest: { rows } }) => {
    if (rows.length === 0) return { left: 'nothing' };
    removeRows(turn, rows);
    turn.set(journalSlice, { gone: rows.at(-1)?.number ?? 0, trimming: false });
    return { left: 'more' };
  },
});

function removeRows(
  turn: Turn,
  rows: readonly { readonly session_uuid: string; readonly command_id: string }[],
): void {
  for (const { session_uuid, command_id } of rows) {
    turn.remove(syncCommandTable, { user_uuid: turn.self.id, session_uuid, command_id });
  }
}

const commandsOf = (view: View): number => view.get(head).commands ?? 0;
