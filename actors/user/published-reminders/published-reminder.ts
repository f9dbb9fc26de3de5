/**
 * A published reminder as it is stored, and the states of its occurrence.
 *
 *     queued      not due, or held back: by the feature flag, by a provider, or until the next attempt
 *     claimed     it is being sent, and no relay or provider has any of it yet: the mail queue has its mail, or the account's
 *                 job has it next
 *     in-flight   committed before anything is sent to the provider of a messenger
 *     accepted    the relay or provider has taken it
 *     sent        accepted a while ago
 *     failed      refused for good, or tried often enough
 *     uncertain   it is unknown whether it was taken, so it is never sent again by itself
 *
 *     queued -> claimed -> in-flight -> accepted -> sent
 *       ^          |           |-> failed
 *       '----------'<----------|-> uncertain, also when a run finds one in flight that it has not begun
 *                   definite failure
 *
 * Invariants:
 * - An occurrence gets a new round each time it leaves the queue. Results of an earlier round change nothing, and no run hands
 *   over what was claimed in another round.
 * - The provider may have taken a reminder in flight. Only the answer that it has not puts it back into the queue.
 */
import { z } from 'zod';
import type { View } from '../../../runtime/command.ts';
import { sliceMap } from '../../../runtime/slice.ts';
import { sealedValues } from '../../identity/user-secrets.ts';
import { mailAddress } from '../../mailer/address.ts';
import { isoTime } from '../../times.ts';

export const channels = ['email', 'telegram', 'whatsapp'] as const;
export type Channel = (typeof channels)[number];

export interface DeliveryTarget {
  readonly channel: Channel;
  readonly destination: string;
}

/** The number of a user, group or channel, or a public name. */
const telegramChat = /^(-?\d{1,20}|@\w{5,32})$/;
const telephone = /^\+?[1-9]\d{6,14}$/;

export const isChannel = (input: unknown): input is Channel => channels.some((channel) => channel === input);

/** The destination in the form that is used. Undefined: this is not exactly one destination of the channel. */
export function destinationOf(channel: Channel, input: unknown): string | undefined {
  if (typeof input !== 'string') return undefined;
  const text = input.trim();
  switch (channel) {
    case 'email':
      return mailAddress(text);
    case 'telegram':
      return telegramChat.test(text) ? text : undefined;
    case 'whatsapp':
      return telephone.test(text) ? text : undefined;
  }
}

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
/** Clients see no more of what went wrong, and no words of a provider. */
export const deliveryErrors = ['not-configured', 'rejected', 'transient', 'timeout', 'uncertain'] as const;
export type DeliveryError = (typeof deliveryErrors)[number];

const storedSchema = z.object({
  /** The client's. */
  id: z.string(),
  /** The name for everyone else. Ids of clients are neither secret nor unique. */
  uuid: z.string(),
  /** The call that made it, so that a repeat of the call gets the same answer. */
  madeBy: z.string(),
  /** `Contents`, sealed. */
  contents: z.instanceof(Uint8Array) as z.ZodType<Uint8Array>,
  /** Null: the channel of the account. */
  channel: z.enum(channels).nullable(),
  dueAtMs: z.number(),
  createdAtMs: z.number(),
  updatedAtMs: z.number(),
  state: z.enum(occurrenceStates),
  round: z.int(),
  /** The one that has it now, or had it last. */
  via: z.enum(['mail', 'messenger']).nullable(),
  /** The mail queue was asked to give it back, and has not reported that it did. */
  isRecalled: z.boolean(),
  attempts: z.int(),
  error: z.enum(deliveryErrors).nullable(),
  acceptedAtMs: z.number().nullable(),
  /** An earlier occurrence may have arrived. */
  wasDispatched: z.boolean().default(false),
  /** When to look at it again, while it is queued or accepted. */
  nextAtMs: z.number(),
});
export type PublishedReminder = z.infer<typeof storedSchema>;

/** Keyed by the client's id. */
export const publishedReminderMap = sliceMap<PublishedReminder>({
  family: 'published-reminder',
  entriesMax: publishedRemindersMax,
  schema: storedSchema,
});

const contentsSchema = z.object({
  message: z.string(),
  /** Null: the destination of the account. */
  destination: z.string().nullable(),
});
export type ReminderContents = z.infer<typeof contentsSchema>;

/** Each by the uuid of its reminder. */
export const sealedContents = sealedValues(contentsSchema, 'published reminder');

export const contentsOf = (view: View, reminder: Pick<PublishedReminder, 'uuid' | 'contents'>) =>
  sealedContents.open(view, reminder.uuid, reminder.contents);

/** The text for mail and messengers. */
export function deliveredText(view: View, reminder: PublishedReminder): string {
  const { message } = contentsOf(view, reminder);
  const due = `Reminder (due ${isoTime(reminder.dueAtMs)})`;
  return message === '' ? due : `${due}: ${message}`;
}

// --- from state to state ----------------------------------------------------------------------------------------

/** A new occurrence begins, and the earlier one is over. */
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

/** The provider has accepted the reminder. It counts as sent at `sentAtMs`. */
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

/** The provider has not taken it. There is another attempt later, or none any more. */
export function reminderAfterFailure(
  before: PublishedReminder,
  nowMs: number,
  error: DeliveryError,
): PublishedReminder {
  const waitMs = waitsMs[before.attempts];
  if (waitMs === undefined) return failed(before, error);
  return { ...backInQueue(before, nowMs + waitMs, error), attempts: before.attempts + 1 };
}

// --- what a state allows ----------------------------------------------------------------------------------------

/** Its mail has to be asked back before anything is decided. */
export const isMailQueued = ({ state, via }: PublishedReminder): boolean =>
  state === 'claimed' && via === 'mail';

/** Only for use after the queue was asked: it is sending what it has not given back. */
export const isInFlight = (reminder: PublishedReminder): boolean =>
  reminder.state === 'in-flight' || isMailQueued(reminder);

/** The recipient may have this occurrence. */
export const isDispatched = ({ state }: PublishedReminder): boolean =>
  state === 'accepted' || state === 'sent' || state === 'uncertain';

/** The recipient may have this or an earlier occurrence. */
export const mayHaveArrived = (reminder: PublishedReminder): boolean =>
  reminder.wasDispatched || isDispatched(reminder);

/** The occurrence can be given up as if it had never been. */
export const isRecallable = (reminder: PublishedReminder): boolean => {
  const { state } = reminder;
  return !isInFlight(reminder) && state !== 'accepted' && state !== 'uncertain';
};
