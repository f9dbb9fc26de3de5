/** What clients ask of published reminders (docs/protocol/delivery.md). */
import { z } from 'zod';
import { contract } from '../../../runtime/contract.ts';
import { openToBridges, reads, writes } from '../../signed-in.ts';
import { channels, deliveryErrors, occurrenceStates } from './published-reminder.ts';

const config = z.object({
  channel: z.enum(channels),
  destination: z.string().nullable(),
  enabled: z.boolean(),
});

/** Times are milliseconds, except `dueAtUtc`. */
export const publishedReminder = z.object({
  id: z.string(),
  message: z.string(),
  /** ISO text, in UTC. */
  dueAtUtc: z.string(),
  /** Absent: the channel of the account. */
  channel: z.enum(channels).optional(),
  destination: z.string().optional(),
  sent: z.boolean(),
  sentAt: z.number().optional(),
  error: z.enum(deliveryErrors).optional(),
  createdAt: z.number(),
  updatedAt: z.number(),
  state: z.enum(occurrenceStates),
  attempts: z.number(),
});
export type PublishedReminderResponse = z.infer<typeof publishedReminder>;

/** The actor checks it after the feature flag, and each refusal has a tag of its own. */
const unchecked = z.unknown().optional();

export const PublishedReminders = contract({
  name: 'user',
  commands: openToBridges({
    /** Works while the feature is off too, because it shows whether it is. */
    getDeliveryFlags: reads({
      ok: z.object({
        reminderDeliveryEnabled: z.boolean(),
        allowed: z.boolean(),
        available: z.boolean(),
        /** The channels that the operator has set up. */
        channels: z.object({ email: z.boolean(), telegram: z.boolean(), whatsapp: z.boolean() }),
      }),
    }),
    /** Works while the feature is off. Refusals: 409 `delivery-in-flight`. */
    optOutOfDelivery: writes({ ok: z.object({ optedOut: z.literal(true), alreadyDispatched: z.boolean() }) }),
    /** Refusals of this and all below: 403 `reminder-delivery-disabled` and `reminder-delivery-not-allowed`. */
    getDeliveryConfig: reads({ ok: z.object({ config: config.nullable() }) }),
    /** Refusals: 400 `invalid-channel`, `invalid-destination`; 409 `delivery-in-flight`, `delivery-accepted`. */
    setDeliveryConfig: writes({
      fields: z.object({ channel: unchecked, destination: unchecked, enabled: unchecked }),
      ok: z.object({ config }),
    }),
    /** The first due comes first. */
    listPublishedReminders: reads({ ok: z.object({ reminders: z.array(publishedReminder) }) }),
    /** Refusals: 400 `invalid-reminder`; 409 `reminder-not-recallable`, `reminder-limit`. */
    publishReminder: writes({
      fields: z.object({
        id: unchecked,
        message: unchecked,
        dueAtUtc: unchecked,
        channel: unchecked,
        destination: unchecked,
      }),
      ok: z.object({ created: z.boolean(), reminder: publishedReminder }),
    }),
    /** Refusals: 404 `reminder-not-found`; 409 `reminder-not-recallable`. */
    deletePublishedReminder: writes({
      fields: z.object({ id: z.string().max(128) }),
      ok: z.object({ deleted: z.literal(true) }),
    }),
  }),
  timers: {
    /** A published reminder is due, or counts as sent. */
    watchDeliveries: z.null(),
  },
  jobs: {
    /** Hands published reminders to messengers. */
    deliverReminders: z.null(),
  },
});
