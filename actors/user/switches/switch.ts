/**
 * A dead man's switch as it is stored, and what time does to it.
 *
 *     armed    the deadline is to come, or nobody has looked since it passed
 *     queued   the deadline has passed; the queue has its mail, or is told of it
 *     waiting  the queue could not take it, and is told again at `nextAttemptAtMs`
 *     sent     a relay has it
 *
 *              check-in                     deadline             accepted
 *     (any) ------------> armed, anew     ----------> queued ---------------> sent
 *                           ^  | away                  |  ^
 *                           '--' moves on      refused v  | later
 *                                                     waiting
 *
 * Invariants:
 * - Check-ins, deadlines and deletion are turns of one mailbox, so a check-in before the deadline always wins.
 * - Each deadline is a round, and a mail belongs to a round. The outcome of an earlier mail changes nothing.
 * - In the last day before a deadline the timer looks at the switch several times, and every few minutes in the last hour. A
 *   late look shows that the server was away and could take no check-in. The owner then gets the lost time back.
 */
import { z } from 'zod';
import type { View } from '../../../runtime/command.ts';
import { sliceMap } from '../../../runtime/slice.ts';
import { sealedValues } from '../../identity/user-secrets.ts';

export const switchesMax = 100;

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

const watchEveryMs = 5 * minuteMs;
/** So long before a deadline, the timer looks every five minutes. */
const closeMs = hourMs;
/** So long before a deadline, the timer begins to look. */
const watchMs = dayMs;
/** On a running server, a look is less late than this. */
const lateMs = 10 * minuteMs;
/** The least time that an owner gets after an outage: enough for a warning to reach them. */
const graceMinMs = hourMs;

const storedSchema = z.object({
  uuid: z.string(),
  /** `Contents`, sealed. */
  contents: z.instanceof(Uint8Array) as z.ZodType<Uint8Array>,
  intervalDays: z.int(),
  createdAtMs: z.number(),
  lastCheckInAtMs: z.number().nullable(),
  deadlineMs: z.number(),
  round: z.int(),
  state: z.enum(['armed', 'queued', 'waiting', 'sent']),
  /** When to warn the owner. Null: that is done. */
  warnAtMs: z.number().nullable(),
  /** The last time that showed the server running: a check-in, or a look shortly before the deadline. */
  seenAtMs: z.number(),
  sendAttempts: z.int(),
  nextAttemptAtMs: z.number().nullable(),
  lastAttemptAtMs: z.number().nullable(),
  /** The message id of an earlier mail about this deadline, which may have arrived. */
  messageId: z.string().nullable().default(null),
});
export type Switch = z.infer<typeof storedSchema>;

/** Keyed by uuid. */
export const switchMap = sliceMap<Switch>({
  family: 'dead-man-switch',
  entriesMax: switchesMax,
  schema: storedSchema,
});

const contentsSchema = z.object({
  recipient: z.string(),
  /** Anyone who has this link can read what is shared. */
  shareUrl: z.string(),
  message: z.string().nullable(),
});

/** Contents are sealed under the uuid of their switch. */
export const sealedContents = sealedValues(contentsSchema, 'switch');

export const contentsOf = (view: View, { uuid, contents }: Switch) =>
  sealedContents.open(view, uuid, contents);

/** A round begins. The warning comes a day before the deadline, or half-way if it is less than two days away. */
export function armed(nowMs: number, deadlineMs: number) {
  return {
    deadlineMs,
    state: 'armed',
    warnAtMs: deadlineMs - Math.min(dayMs, Math.floor((deadlineMs - nowMs) / 2)),
    seenAtMs: nowMs,
    sendAttempts: 0,
    nextAttemptAtMs: null,
    lastAttemptAtMs: null,
    messageId: null,
  } as const;
}

export const checkedIn = (before: Switch, nowMs: number): Switch => ({
  ...before,
  ...armed(nowMs, nowMs + before.intervalDays * dayMs),
  round: before.round + 1,
  lastCheckInAtMs: nowMs,
});

/** `warn`: a mail to the owner. `fire`: the mail to the recipient. */
type Telling = 'warn' | 'fire';

export interface CheckedSwitch {
  readonly after: Switch;
  readonly telling?: Telling;
}

/** What a look at this moment finds. `graceMaxMs` is the longest time that an owner gets after an outage. */
export function watched(before: Switch, nowMs: number, graceMaxMs: number): CheckedSwitch {
  const { state, deadlineMs, warnAtMs, nextAttemptAtMs } = before;
  if (state === 'waiting' && nextAttemptAtMs !== null && nowMs >= nextAttemptAtMs) {
    return { after: { ...before, state: 'queued', nextAttemptAtMs: null }, telling: 'fire' };
  }
  if (state !== 'armed') return { after: before };
  const graceUntilMs = nowMs + graceOf(before, nowMs, graceMaxMs);
  if (graceUntilMs > Math.max(nowMs, deadlineMs)) {
    const again = { ...armed(nowMs, graceUntilMs), warnAtMs: null, round: before.round + 1 };
    return { after: { ...before, ...again }, telling: 'warn' };
  }
  if (nowMs >= deadlineMs) return { after: { ...before, state: 'queued' }, telling: 'fire' };
  const seen = nowMs >= deadlineMs - watchMs ? { ...before, seenAtMs: nowMs } : before;
  if (warnAtMs === null || nowMs < warnAtMs) return { after: seen };
  return { after: { ...seen, warnAtMs: null }, telling: 'warn' };
}

/**
 * How long the owner gets after an outage; 0 if there was none. It is as long as the server may have been away, and at least an
 * hour. The outage may have begun at any time since the last look, so all of that counts.
 */
function graceOf(before: Switch, nowMs: number, graceMaxMs: number): number {
  const dueMs = nextWatchMs(before, before.seenAtMs) ?? nowMs;
  if (nowMs - dueMs <= lateMs) return 0;
  return Math.min(graceMaxMs, Math.max(graceMinMs, nowMs - before.seenAtMs));
}

/** When to look next. Undefined: time changes nothing. */
export function nextWatchMs(
  { state, deadlineMs, warnAtMs, nextAttemptAtMs }: Switch,
  nowMs: number,
): number | undefined {
  if (state === 'waiting') return nextAttemptAtMs ?? nowMs;
  if (state !== 'armed') return undefined;
  const lookMs = nextLookMs(deadlineMs, nowMs);
  return Math.min(lookMs, warnAtMs ?? lookMs);
}

/** Each look halves the time left, until an hour is left. */
function nextLookMs(deadlineMs: number, nowMs: number): number {
  const leftMs = deadlineMs - nowMs;
  if (leftMs > watchMs) return deadlineMs - watchMs;
  if (leftMs > closeMs) return deadlineMs - Math.max(closeMs, Math.floor(leftMs / 2));
  return Math.min(deadlineMs, nowMs + watchEveryMs);
}
