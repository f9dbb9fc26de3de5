/**
 * A reminder by e-mail as it is stored, and what to do when it is due.
 *
 *     waiting  not due, or held back: by the operator, the user or the queue, or because many are late
 *     queued   the queue has its mail, or is told of it
 *     sent     a relay has it
 *     expired  it could not be sent within a week
 *
 * Each mail has a round of its own. The outcome of a recalled mail changes nothing.
 */
import { z } from 'zod';
import type { Turn, View } from '../../../runtime/command.ts';
import { sliceMap } from '../../../runtime/slice.ts';
import { UserSecrets } from '../../identity/user-secrets.ts';

/** A bound for any setting. All reminders are in memory while the account is in use. */
export const remindersMax = 1_000;

const minuteMs = 60_000;
const dayMs = 86_400_000;
const expiryMs = 7 * dayMs;
/** How long a reminder stays in the list after it is sent or expired. */
const retentionMs = 30 * dayMs;
/** How often to try again while the operator or the user has turned reminders off. */
const gatePauseMs = 15 * minuteMs;
/** If reminders are later than this, only a few of them leave in a minute. */
const lateMs = 10 * minuteMs;
const latePerMinute = 5;

const storedSchema = z.object({
  uuid: z.string(),
  /** Sealed. */
  message: z.instanceof(Uint8Array) as z.ZodType<Uint8Array>,
  dueAtMs: z.number(),
  createdAtMs: z.number(),
  state: z.enum(['waiting', 'queued', 'sent', 'expired']),
  round: z.int(),
  /** The queue was asked to give its mail back, and has not reported that it did. */
  isRecalled: z.boolean().default(false),
  /**
   * The message id of a mail of an earlier round, which may have arrived. The next mail has the same id, so that mail programs
   * show both as one.
   */
  messageId: z.string().nullable().default(null),
  /** When to look at it again: it is due, may be sent after all, or leaves the list. */
  nextAtMs: z.number(),
});
export type Reminder = z.infer<typeof storedSchema>;

/** Keyed by uuid. */
export const reminderMap = sliceMap<Reminder>({
  family: 'email-reminder',
  entriesMax: remindersMax,
  schema: storedSchema,
});

const sealedFor = (view: View, uuid: string) => ({ userUuid: view.self.id, purpose: `reminder ${uuid}` });

export const sealMessage = (turn: Turn, uuid: string, message: string): Uint8Array =>
  turn.use(UserSecrets).seal(sealedFor(turn, uuid), message, turn.random);

export const openMessage = (view: View, { uuid, message }: Reminder): string =>
  view.use(UserSecrets).open(sealedFor(view, uuid), message);

export const ended = (before: Reminder, state: 'sent' | 'expired', nowMs: number): Reminder => ({
  ...before,
  state,
  isRecalled: false,
  nextAtMs: nowMs + retentionMs,
});

export const heldBack = (
  before: Reminder,
  nextAtMs: number,
  messageId: string | null = before.messageId,
): Reminder => ({
  ...before,
  state: 'waiting',
  round: before.round + 1,
  isRecalled: false,
  messageId,
  nextAtMs,
});

export const isGone = ({ state, nextAtMs }: Reminder, nowMs: number): boolean =>
  (state === 'sent' || state === 'expired') && nowMs >= nextAtMs;

/** The reminders that are due and their next states, the oldest first. */
export function afterDue(all: Iterable<Reminder>, nowMs: number, isOpen: boolean): readonly Reminder[] {
  const due = [...all]
    .filter(({ state, nextAtMs }) => state === 'waiting' && nowMs >= nextAtMs)
    .toSorted((a, b) => a.dueAtMs - b.dueAtMs);
  let late = 0;
  return due.map((each) => {
    const ageMs = nowMs - Math.max(each.dueAtMs, each.createdAtMs);
    if (ageMs > expiryMs) return ended(each, 'expired', nowMs);
    if (!isOpen) return { ...each, nextAtMs: nowMs + gatePauseMs };
    if (ageMs > lateMs) late += 1;
    return late > latePerMinute && ageMs > lateMs
      ? { ...each, nextAtMs: nowMs + minuteMs }
      : { ...each, state: 'queued' };
  });
}
