/**
 * A published reminder as it is stored, and how its occurrence goes from state to state.
 *
 *     queued      not due, or held back: by a feature flag, a provider, or what could not be sent and is tried again
 *     claimed     it is being sent, and nobody outside has heard of it: the mail queue has its mail, or the job of the
 *                 account has it before it
 *     in-flight   committed before a messenger's provider hears anything
 *     accepted    the relay or provider has taken it
 *     sent        likewise, since a while
 *     failed      it was refused for good, or tried often enough
 *     uncertain   nobody knows whether it was taken: it is never sent again by itself
 *
 *     queued -> claimed -> in-flight -> accepted -> sent
 *       ^          |           |-> failed
 *       '----------'<----------|-> uncertain, also where a run finds it in flight that it has not begun
 *                   definite failure
 *
 * Invariants:
 * - Each time an occurrence leaves the queue it has a round of its own: what comes of an earlier one changes nothing, and no
 *   run hands over what was claimed in another round.
 * - Of one in flight the provider may have heard, so nothing puts it back but the answer that it was not taken.
 */
import { z } from 'zod';
import type { Turn, View } from '../../../runtime/command.ts';
import { sliceMap } from '../../../runtime/slice.ts';
import { UserSecrets } from '../../identity/user-secrets.ts';
import { channels } from './destination.ts';

export const publishedRemindersMax = 1_000;

const minuteMs = 60_000;
const waitsMs = [1, 5, 15, 60, 360].map((each) => each * minuteMs);

export const occurrenceStates = [
  'queued',
  'claimed',
  'in-flight',
  'accepted',
  'sent',
  'failed',
  'uncertain',
] as const;
/** All that is shown of what went wrong: no provider's words. */
export const deliveryErrors = ['not-configured', 'rejected', 'transient', 'timeout', 'uncertain'] as const;
export type DeliveryError = (typeof deliveryErrors)[number];

const storedSchema = z.object({
  /** The client's. */
  id: z.string(),
  /** What others know it by: ids of clients are no secret, and not unique. */
  uuid: z.string(),
  /** The call that made it, so that a repeat of the call is answered alike. */
  madeBy: z.string(),
  /** `Contents`, sealed. */
  contents: z.instanceof(Uint8Array) as z.ZodType<Uint8Array>,
  /** Null: that of the account. */
  channel: z.enum(channels).nullable(),
  dueAtMs: z.number(),
  createdAtMs: z.number(),
  updatedAtMs: z.number(),
  state: z.enum(occurrenceStates),
  round: z.int(),
  /** Who has it, or had it last. */
  via: z.enum(['mail', 'messenger']).nullable(),
  /** The mail queue was told to give it back, and has not said that it did. */
  isRecalled: z.boolean(),
  attempts: z.int(),
  error: z.enum(deliveryErrors).nullable(),
  acceptedAtMs: z.number().nullable(),
  /** An earlier occurrence may have arrived. */
  wasDispatched: z.boolean().default(false),
  /** When to come back to it, while it is queued or accepted. */
  nextAtMs: z.number(),
});
export type PublishedReminder = z.infer<typeof storedSchema>;

/** By the client's id. */
export const publishedReminderMap = sliceMap<PublishedReminder>({
  family: 'published-reminder',
  format: 1,
  entriesMax: publishedRemindersMax,
  schema: storedSchema,
});

const contentsSchema = z.object({
  message: z.string(),
  /** Null: that of the account. */
  destination: z.string().nullable(),
});
export type Contents = z.infer<typeof contentsSchema>;

const sealedFor = (view: View, uuid: string) => ({
  userUuid: view.self.id,
  purpose: `published reminder ${uuid}`,
});

export const sealContents = (turn: Turn, uuid: string, contents: Contents): Uint8Array =>
  turn.use(UserSecrets).seal(sealedFor(turn, uuid), JSON.stringify(contents), turn.random);

export const contentsOf = (
  view: View,
  { uuid, contents }: Pick<PublishedReminder, 'uuid' | 'contents'>,
): Contents => contentsSchema.parse(JSON.parse(view.use(UserSecrets).open(sealedFor(view, uuid), contents)));

// --- from state to state ----------------------------------------------------------------------------------------

/** An occurrence begins. Whatever there was of an earlier one is over. */
export const begun = (before: PublishedReminder, nowMs: number): PublishedReminder => ({
  ...backInQueue(before, Math.max(before.dueAtMs, nowMs), null),
  attempts: 0,
  acceptedAtMs: null,
  wasDispatched: mayHaveArrived(before),
});

export const claimed = (before: PublishedReminder, via: 'mail' | 'messenger'): PublishedReminder => ({
  ...before,
  state: 'claimed',
  via,
});

/** Nobody outside has it. */
export const backInQueue = (
  before: PublishedReminder,
  nextAtMs: number,
  error: DeliveryError | null = before.error,
): PublishedReminder => ({
  ...before,
  state: 'queued',
  round: before.round + 1,
  via: null,
  isRecalled: false,
  error,
  nextAtMs,
});

export const inFlight = (before: PublishedReminder): PublishedReminder => ({ ...before, state: 'in-flight' });

/** Counted as sent at `sentAtMs`. */
export const accepted = (before: PublishedReminder, nowMs: number, sentAtMs: number): PublishedReminder => ({
  ...before,
  state: 'accepted',
  attempts: before.attempts + 1,
  error: null,
  isRecalled: false,
  acceptedAtMs: nowMs,
  nextAtMs: sentAtMs,
});

export const sent = (before: PublishedReminder): PublishedReminder => ({ ...before, state: 'sent' });

export const failed = (before: PublishedReminder, error: DeliveryError): PublishedReminder => ({
  ...before,
  state: 'failed',
  attempts: before.attempts + 1,
  error,
  isRecalled: false,
});

export const uncertain = (before: PublishedReminder): PublishedReminder => ({
  ...before,
  state: 'uncertain',
  attempts: before.attempts + 1,
  error: 'uncertain',
  isRecalled: false,
});

/** The provider has not taken it: another attempt later, or none any more. */
export function afterFailure(
  before: PublishedReminder,
  nowMs: number,
  error: DeliveryError,
): PublishedReminder {
  const waitMs = waitsMs[before.attempts];
  if (waitMs === undefined) return failed(before, error);
  return { ...backInQueue(before, nowMs + waitMs, error), attempts: before.attempts + 1 };
}

// --- what a state allows ----------------------------------------------------------------------------------------

/** Which mails are to be asked back before anything is decided. */
export const isMailQueued = ({ state, via }: PublishedReminder): boolean =>
  state === 'claimed' && via === 'mail';

/** Once the queue was asked: what it has not given back, it is sending. */
export const isInFlight = (reminder: PublishedReminder): boolean =>
  reminder.state === 'in-flight' || isMailQueued(reminder);

/** Somebody may have got it already. */
export const isDispatched = ({ state }: PublishedReminder): boolean =>
  state === 'accepted' || state === 'sent' || state === 'uncertain';

/** The same of this or any earlier occurrence. */
export const mayHaveArrived = (reminder: PublishedReminder): boolean =>
  reminder.wasDispatched || isDispatched(reminder);

/** Whether its occurrence can be given up as if it had never been. */
export const isRecallable = (reminder: PublishedReminder): boolean => {
  const { state } = reminder;
  return !isInFlight(reminder) && state !== 'accepted' && state !== 'uncertain';
};
