/** Reminders and dead man's switches (docs/protocol/delivery.md). */
import { z } from 'zod';
import { PublishedReminders, publishedReminder } from '../../actors/user/published-reminders/contract.ts';
import { Reminders } from '../../actors/user/reminders/contract.ts';
import { Switches } from '../../actors/user/switches/contract.ts';
import type { AnyRoute } from '../http/route.ts';
import { family } from './endpoint.ts';

const bySwitch = family({ tag: "Dead man's switches" });
const switches = '/v1/dead-man-switches';

const byMail = family({ tag: 'Email reminders' });
const reminders = '/v1/email-reminders';

const published = family({ tag: 'Published reminder delivery', enveloped: false });
const delivery = '/v1/reminder-delivery';
const publishedBody = z.object({ reminder: publishedReminder });

export const reminderRoutes: readonly AnyRoute[] = [
  bySwitch.endpoint(`POST ${switches}`, {
    command: Switches.commands.makeSwitch,
    summary: 'Makes a switch that mails a link to somebody unless its owner checks in.',
    refusals: [400, 409],
  }),
  bySwitch.endpoint(`GET ${switches}`, {
    command: Switches.commands.listSwitches,
    summary: 'The switches of the account, without their links.',
  }),
  bySwitch.endpoint(`POST ${switches}/:switchId/check-in`, {
    command: Switches.commands.checkIn,
    summary: 'Moves the deadline of a switch on by its interval, whatever its state.',
    refusals: [404],
  }),
  bySwitch.endpoint(`DELETE ${switches}/:switchId`, {
    command: Switches.commands.deleteSwitch,
    summary: 'Deletes a switch, and recalls its mail if that has not left.',
    refusals: [404],
  }),
  byMail.endpoint(`POST ${reminders}`, {
    command: Reminders.commands.makeReminder,
    summary: 'Has a message mailed to the account’s own address at a time.',
    refusals: [400],
  }),
  byMail.endpoint(`GET ${reminders}`, {
    command: Reminders.commands.listReminders,
    summary: 'The reminders of the account, those that were sent within 30 days among them.',
  }),
  byMail.endpoint(`DELETE ${reminders}/:reminderId`, {
    command: Reminders.commands.deleteReminder,
    summary: 'Deletes a reminder, and recalls its mail if that has not left.',
    refusals: [404],
  }),
  published.endpoint(`GET ${delivery}/config`, {
    command: PublishedReminders.commands.getDeliveryFlags,
    summary:
      'Whether the operator and the user have turned published reminders on, and which channels there are.',
  }),
  published.endpoint(`POST ${delivery}/opt-out`, {
    command: PublishedReminders.commands.optOutOfDelivery,
    summary: 'Removes everything published and its destination, and turns delivery off.',
    refusals: [409],
  }),
  published.endpoint(`GET ${delivery}/delivery-config`, {
    command: PublishedReminders.commands.getDeliveryConfig,
    summary: 'Where published reminders go.',
    refusals: [403],
  }),
  published.endpoint(`PUT ${delivery}/delivery-config`, {
    command: PublishedReminders.commands.setDeliveryConfig,
    summary: 'Replaces the destination of published reminders. Queued ones go there, too.',
    refusals: [400, 409],
  }),
  published.endpoint(`GET ${delivery}`, {
    command: PublishedReminders.commands.listPublishedReminders,
    summary: 'The published reminders, and what became of each.',
    refusals: [403],
  }),
  published.endpoint(`POST ${delivery}`, {
    command: PublishedReminders.commands.publishReminder,
    summary: 'Publishes a reminder, or changes the one of this id.',
    replies: { 200: publishedBody, 201: publishedBody },
    replyOf: ({ created, reminder }) => ({ status: created ? 201 : 200, body: { reminder } }),
    refusals: [400, 409],
  }),
  published.endpoint(`DELETE ${delivery}/:id`, {
    command: PublishedReminders.commands.deletePublishedReminder,
    summary: 'Deletes a published reminder, unless it is being sent or may have arrived.',
    refusals: [404, 409],
  }),
];
