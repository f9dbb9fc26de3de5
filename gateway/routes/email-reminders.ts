/** Reminders by e-mail (docs/protocol/delivery.md). */
import { Reminders } from '../../actors/user/reminders/contract.ts';
import type { AnyRoute } from '../http/route.ts';
import { endpoint } from './endpoint.ts';

const path = '/v1/email-reminders';
const tag = 'Email reminders';

export const emailReminderRoutes: readonly AnyRoute[] = [
  endpoint({
    method: 'POST',
    path,
    tag,
    command: Reminders.commands.makeReminder,
    summary: 'Has a message mailed to the account’s own address at a time.',
    refusals: [400],
  }),
  endpoint({
    method: 'GET',
    path,
    tag,
    command: Reminders.commands.listReminders,
    summary: 'The reminders of the account, those that were sent within 30 days among them.',
  }),
  endpoint({
    method: 'DELETE',
    path: `${path}/:reminderId`,
    tag,
    command: Reminders.commands.deleteReminder,
    summary: 'Deletes a reminder, and recalls its mail if that has not left.',
    refusals: [404],
  }),
];
