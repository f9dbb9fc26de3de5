/** What clients ask of reminders by e-mail (docs/protocol/delivery.md). */
import { z } from 'zod';
import { contract } from '../../../runtime/contract.ts';
import { openToBridges, signedIn } from '../../signed-in.ts';

/** Times in milliseconds. */
const emailReminder = z.object({
  uuid: z.string(),
  dueAt: z.number(),
  message: z.string(),
  sent: z.boolean(),
  createdAt: z.number(),
});
export type ShownReminder = z.infer<typeof emailReminder>;

/** Judged in the actor, which answers all that is wrong with one tag. */
const given = z.unknown().optional();

const commands = {
  /** Refusals: 400 `invalid-email-reminder`, `email-reminder-limit`, `email-reminders-disabled`, `email-delivery-unavailable`. */
  makeReminder: signedIn({
    access: 'writes',
    /** `time` where `dueAt` is absent. */
    fields: z.object({ dueAt: given, time: given, message: given }),
    ok: z.object({ emailReminder }),
  }),
  /** Those that are due first come first. */
  listReminders: signedIn({
    access: 'reads',
    fields: z.object({}),
    ok: z.object({ emailReminders: z.array(emailReminder) }),
  }),
  /** Refusals: 404. */
  deleteReminder: signedIn({
    access: 'writes',
    fields: z.object({ reminderId: z.string().max(64) }),
    ok: z.object({ message: z.string() }),
  }),
};

export const Reminders = contract({
  name: 'user',
  commands: openToBridges(commands),
  timers: {
    /** A reminder by e-mail is due, or leaves the list. */
    sendReminders: z.null(),
  },
});
