/** Pages of the queue, oldest first, and of the log and the audit, newest first. */
import { command, keys, type PlanResults, range, type View } from '../../../runtime/command.ts';
import { type Refused, refuse } from '../../reply.ts';
import { isoTime, isoTimeOrNull } from '../../times.ts';
import type { MailFailure } from '../contract.ts';
import {
  type AttemptOutcome,
  type AuditOperation,
  type AuditRow,
  type LogRow,
  logSlice,
  mailAuditTable,
  mailLogTable,
  outcomes,
} from '../log-table.ts';
import { MailAdministration, queueStates } from '../operator-contract.ts';
import { asMail, isReady, type MailRow, mailTable, queueSlice } from '../queue-table.ts';
import { notInDirectMode } from '../relays.ts';
import { attemptsMaxOf, type MailSource, rulesOf } from '../sources.ts';

const limitUsual = 50;
const limitMax = 200;
/** Entries of the log that one request searches, at most. */
const searchedEntries = 500;

const invalidState = refuse.badRequest('The state must be ready, leased or dead.', 'invalid-queue-state');
const invalidLimit = refuse.badRequest(`The limit must be 1 to ${limitMax}.`, 'invalid-limit');
const invalidCursor = refuse.badRequest('The cursor is not one of this list.', 'invalid-cursor');
const invalidOutcome = refuse.badRequest(
  `The outcome must be one of ${outcomes.join(', ')}.`,
  'invalid-outcome',
);

/** The names that clients know; other sources are of this server alone. */
const publicSources: readonly string[] = [
  'magic-link',
  'dead-man-switch',
  'email-reminder',
  'published-reminder',
  'security-notice',
  'test',
];
const publicSource = (source: string): string => (publicSources.includes(source) ? source : 'other');

export function recordOf(mail: MailRow) {
  const state = isReady(mail) ? ('ready' as const) : mail.state === 'leased' ? 'leased' : 'dead';
  return {
    id: mail.id,
    state,
    source: publicSource(mail.source),
    attempts: mail.attempts,
    maxAttempts: attemptsMaxOf(rulesOf(mail.source as MailSource)) ?? null,
    createdAt: isoTime(mail.created_at),
    updatedAt: isoTime(mail.updated_at),
    nextAttemptAt: isoTimeOrNull(mail.next_attempt_at),
    leaseExpiresAt: isoTimeOrNull(mail.lease_ends_at),
    lastFailure: mail.failure,
  };
}

interface Page {
  readonly limit: number;
  /** The position at which it begins. */
  readonly from: number | undefined;
}

/** An empty parameter counts as absent. */
const parameterOf = (parameter: unknown): unknown => (parameter === '' ? undefined : parameter);

function pageOf(list: string, { limit, cursor }: { limit?: unknown; cursor?: unknown }): Page | Refused {
  const requested = Number(parameterOf(limit) ?? limitUsual);
  if (!Number.isInteger(requested) || requested < 1 || requested > limitMax) return invalidLimit;
  if (parameterOf(cursor) === undefined) return { limit: requested, from: undefined };
  const [name, position] = Buffer.from(String(cursor).slice(0, 64), 'base64url').toString().split(':');
  const from = Number(position);
  if (name !== list || !/^\d{1,15}$/.test(position ?? '')) return invalidCursor;
  return { limit: requested, from };
}

const cursorOf = (list: string, position: number): string =>
  Buffer.from(`${list}:${position}`).toString('base64url');

// --- the queue -----------------------------------------------------------------------------------------------

const stateOf = (state: unknown) => queueStates.find((each) => each === state);

const queuePlan = (view: View, request: { state?: unknown; limit?: unknown; cursor?: unknown }) => {
  const state = stateOf(request.state) ?? 'dead';
  const page = pageOf(state, request);
  const { limit, from = 0 } = 'refused' in page ? { limit: 1 } : page;
  return {
    mails: range(mailTable, {
      after: from,
      through: view.get(queueSlice).position,
      limit,
      subset: state,
      columns: Object.keys(mailTable.columns).filter((name) => name !== 'content') as never,
    }),
  };
};

export const listQueue = command(MailAdministration.commands.listQueue, {
  creates: true,
  reads: queuePlan,
  turn: (view, request, { mails }: PlanResults<ReturnType<typeof queuePlan>>) => {
    const state = stateOf(request.state);
    const refused = notInDirectMode(view);
    if (refused !== undefined) return refused;
    if (state === undefined) return invalidState;
    const page = pageOf(state, request);
    if ('refused' in page) return page;
    const rows = mails.rows.map((row) => asMail(row)).filter((row) => row !== undefined);
    const last = rows.at(-1);
    const nextCursor = mails.complete || last === undefined ? null : cursorOf(state, last.position);
    return { ok: { records: rows.map(recordOf), nextCursor } };
  },
});

// --- the log and the audit -----------------------------------------------------------------------------------

type PageRequest = { limit?: unknown; cursor?: unknown };

/** The positions that a request goes through, newest first. */
function searched(view: View, list: 'log' | 'audit', request: PageRequest): readonly number[] {
  const page = pageOf(list, request);
  if ('refused' in page) return [];
  const { last, gone } = view.get(logSlice)[list];
  const first = Math.min(last, (page.from ?? last + 1) - 1);
  const most = list === 'log' ? searchedEntries : page.limit;
  const length = Math.max(0, Math.min(most, first - gone));
  return Array.from({ length }, (_, index) => first - index);
}

/** Where the next page begins; null if this one reached the oldest entry. */
function cursorAfter(view: View, list: 'log' | 'audit', reached: number | undefined): string | null {
  const isMore = reached !== undefined && reached - 1 > view.get(logSlice)[list].gone;
  return isMore ? cursorOf(list, reached) : null;
}

const entryKey = (view: View, position: number) => ({ mailer: view.self.id, position });

const keysOf = (view: View, list: 'log' | 'audit', request: PageRequest) =>
  searched(view, list, request).map((position) => entryKey(view, position));

type LogRequest = PageRequest & { relayId?: unknown; outcome?: unknown };

const logPlan = (view: View, request: LogRequest) => ({
  entries: keys(mailLogTable, keysOf(view, 'log', request)),
});

export const listLog = command(MailAdministration.commands.listLog, {
  creates: true,
  reads: logPlan,
  turn: (view, request, { entries }: PlanResults<ReturnType<typeof logPlan>>) => {
    const relayId = parameterOf(request.relayId);
    const outcome = parameterOf(request.outcome);
    const refused = notInDirectMode(view);
    if (refused !== undefined) return refused;
    const page = pageOf('log', request);
    if ('refused' in page) return page;
    if (outcome !== undefined && !outcomes.some((each) => each === outcome)) return invalidOutcome;
    const found: LogRow[] = [];
    const positions = searched(view, 'log', request);
    let reached: number | undefined;
    for (const position of positions) {
      if (found.length === page.limit) break;
      reached = position;
      const entry = entries.get(entryKey(view, position));
      if (entry === undefined) continue;
      const matches =
        (relayId === undefined || entry.relay_id === relayId) &&
        (outcome === undefined || entry.outcome === outcome);
      if (matches) found.push(entry);
    }
    return { ok: { entries: found.map(entryOf), nextCursor: cursorAfter(view, 'log', reached) } };
  },
});

const entryOf = (row: LogRow) => ({
  id: String(row.position),
  queueId: row.queue_id,
  relayId: row.relay_id,
  relayKind: row.relay_kind,
  source: publicSource(row.source),
  attempt: row.attempt,
  outcome: row.outcome as AttemptOutcome,
  failure: row.failure as MailFailure | null,
  startedAt: isoTime(row.started_at),
  durationMs: row.duration_ms,
});

const auditPlan = (view: View, request: PageRequest) => ({
  entries: keys(mailAuditTable, keysOf(view, 'audit', request)),
});

export const listAudit = command(MailAdministration.commands.listAudit, {
  creates: true,
  reads: auditPlan,
  turn: (view, request, { entries }: PlanResults<ReturnType<typeof auditPlan>>) => {
    const page = pageOf('audit', request);
    if ('refused' in page) return page;
    const positions = searched(view, 'audit', request);
    const found = positions.map((position) => entries.get(entryKey(view, position)));
    return {
      ok: {
        entries: found.filter((row) => row !== undefined).map(auditEntryOf),
        nextCursor: cursorAfter(view, 'audit', positions.at(-1)),
      },
    };
  },
});

const auditEntryOf = (row: AuditRow) => ({
  id: String(row.position),
  actor: row.user_uuid,
  operation: row.operation as AuditOperation,
  target: row.target,
  at: isoTime(row.at),
});
