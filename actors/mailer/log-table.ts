/** The log of attempts, and the audit of administrators. Neither has a recipient, a text or words of a relay. */
import { z } from 'zod';
import type { Turn } from '../../runtime/command.ts';
import { slice } from '../../runtime/slice.ts';
import { type RowOf, table } from '../../runtime/table.ts';
import type { MailFailure } from './contract.ts';
import type { Relay } from './relays.ts';
import type { SendResult } from './sender.ts';

/** Entries are numbered without a gap, and the oldest are removed first. */
export const mailLogTable = table({
  name: 'mail_log',
  columns: {
    mailer: 'text',
    position: 'int8',
    queue_id: 'text?',
    relay_id: 'text',
    relay_kind: 'text',
    source: 'text',
    attempt: 'int8',
    outcome: 'text',
    failure: 'text?',
    started_at: 'int8',
    duration_ms: 'int8',
  },
  key: ['mailer', 'position'],
});
export type LogRow = RowOf<typeof mailLogTable>;

/** The operation, its target, the time and the administrator, without the changed values. Also numbered without a gap. */
export const mailAuditTable = table({
  name: 'mail_audit',
  columns: {
    mailer: 'text',
    position: 'int8',
    user_uuid: 'text',
    operation: 'text',
    target: 'text',
    at: 'int8',
  },
  key: ['mailer', 'position'],
});

export type AuditRow = RowOf<typeof mailAuditTable>;

export const auditOperations = ['replace-relays', 'move-credentials', 'test', 'retry', 'discard'] as const;
export type AuditOperation = (typeof auditOperations)[number];

/** The position of the last entry, and the position up to which entries are removed. */
const span = z.object({ last: z.int(), gone: z.int() });
type PositionSpan = z.infer<typeof span>;

export const logSlice = slice<{ readonly log: PositionSpan; readonly audit: PositionSpan }>({
  name: 'log',
  schema: z.object({ log: span, audit: span }),
  initial: { log: { last: 0, gone: 0 }, audit: { last: 0, gone: 0 } },
});

const entriesMax = 10_000;
/** Old entries that a new one removes, at most. One is enough unless the limit was lowered. */
const removedPerEntry = 2;

export const outcomes = [
  'sent',
  'rejected',
  'transient-failure',
  'permanent-failure',
  'rate-limited',
] as const;
export type AttemptOutcome = (typeof outcomes)[number];

export function attemptOutcomeOf(result: SendResult): AttemptOutcome {
  switch (result.result) {
    case 'sent':
    case 'rejected':
      return result.result;
    case 'unable':
      if (result.failure === 'rate-limited') return 'rate-limited';
      return ['authentication', 'provider'].includes(result.failure)
        ? 'permanent-failure'
        : 'transient-failure';
    default:
      return 'transient-failure';
  }
}

const failureOf = (result: SendResult): MailFailure | null =>
  result.result === 'sent' ? null : result.failure;

interface AttemptRecord {
  readonly queueId: string | null;
  readonly relay: Relay;
  readonly source: string;
  readonly attempt: number;
  readonly startedAtMs: number;
}

export function logAttempt(turn: Turn, attempted: AttemptRecord, result: SendResult): void {
  const spans = turn.get(logSlice);
  const position = spans.log.last + 1;
  turn.put(mailLogTable, {
    mailer: turn.self.id,
    position,
    queue_id: attempted.queueId,
    relay_id: attempted.relay.id,
    relay_kind: attempted.relay.kind,
    source: attempted.source,
    attempt: attempted.attempt,
    outcome: attemptOutcomeOf(result),
    failure: failureOf(result),
    started_at: attempted.startedAtMs,
    duration_ms: Math.max(0, turn.nowMs - attempted.startedAtMs),
  });
  turn.set(logSlice, {
    ...spans,
    log: { last: position, gone: trimmed(turn, mailLogTable, { ...spans.log, last: position }) },
  });
}

/** Call it in the turn of the operation, so that both are in one commit. */
export function auditOperation(
  turn: Turn,
  userUuid: string,
  operation: AuditOperation,
  target: string,
): void {
  const spans = turn.get(logSlice);
  const position = spans.audit.last + 1;
  turn.put(mailAuditTable, {
    mailer: turn.self.id,
    position,
    user_uuid: userUuid,
    operation,
    target,
    at: turn.nowMs,
  });
  turn.set(logSlice, {
    ...spans,
    audit: { last: position, gone: trimmed(turn, mailAuditTable, { ...spans.audit, last: position }) },
  });
}

function trimmed(
  turn: Turn,
  of: typeof mailLogTable | typeof mailAuditTable,
  { last, gone }: PositionSpan,
): number {
  const until = Math.min(last - entriesMax, gone + removedPerEntry);
  for (let position = gone + 1; position <= until; position += 1) {
    turn.remove<typeof mailLogTable>(of as typeof mailLogTable, { mailer: turn.self.id, position });
  }
  return Math.max(gone, until);
}
