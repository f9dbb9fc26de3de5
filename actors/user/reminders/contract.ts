/** What clients ask of reminders by e-mail (docs/protocol/delivery.md). */
import { z } from 'zod';
import { contract } from '../../../runtime/contract.ts';
import { openToBridges, reads, writes } from '../../signed-in.ts';

/** Times in milliseconds. */
const emailReminder = z.object({
  uuid: z.string(),
  dueAt: z.number(),
  message: z.string(),
  sent: z.boolean(),
  createdAt: z.number(),
});
export type ReminderResponse = z.infer<typeof emailReminder>;

/** The actor checks it, and refuses anything wrong with one tag. */
const unchecked = z.unknown().optional();

export const Reminders = contract({
  name: 'user',
  commands: openToBridges({
    /** Refusals: 400 `invalid-email-reminder`, `email-reminder-limit`, `email-reminders-disabled`, `email-delivery-unavailable`. */
    makeReminder: writes({
      /** `time` counts if `dueAt` is absent. */
      fields: z.object({ dueAt: unchecked, time: unchecked, message: unchecked }),
      ok: z.object({ emailReminder }),
    }),
    /** The first due comes first. */
    listReminders: reads({ ok: z.object({ emailReminders: z.array(emailReminder) }) }),
    /** Refusals: 404. */
    deleteReminder: writes({
      fields: z.object({ reminderId: z.string().max(64) }),
      ok: z.object({ message: z.string() }),
    }),
  }),
  timers: {
    /** A reminder is due, or leaves the list. */
    sendReminders: z.null(),
  },
});
