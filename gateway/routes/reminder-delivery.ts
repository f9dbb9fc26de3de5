/** Published reminders and their destinations (docs/protocol/delivery.md). Never in the envelope. */
import { z } from 'zod';
import { PublishedReminders, publishedReminder } from '../../actors/user/published-reminders/contract.ts';
import { type AnyRoute, type RequestContext, route } from '../http/route.ts';
import { endpoint, errorBodySchema, signedInAnswer } from './endpoint.ts';

const path = '/v1/reminder-delivery';
const common = { tag: 'Published reminder delivery', enveloped: false } as const;
const { publishReminder } = PublishedReminders.commands;
const published = z.object({ reminder: publishedReminder });

export const reminderDeliveryRoutes: readonly AnyRoute[] = [
  endpoint({
    ...common,
    method: 'GET',
    path: `${path}/config`,
    command: PublishedReminders.commands.getDeliveryFlags,
    summary:
      'Whether the operator and the user have turned published reminders on, and which channels there are.',
  }),
  endpoint({
    ...common,
    method: 'POST',
    path: `${path}/opt-out`,
    command: PublishedReminders.commands.optOutOfDelivery,
    summary: 'Removes everything published and its destination, and turns delivery off.',
    refusals: [409],
  }),
  endpoint({
    ...common,
    method: 'GET',
    path: `${path}/delivery-config`,
    command: PublishedReminders.commands.getDeliveryConfig,
    summary: 'Where published reminders go.',
    refusals: [403],
  }),
  endpoint({
    ...common,
    method: 'PUT',
    path: `${path}/delivery-config`,
    command: PublishedReminders.commands.setDeliveryConfig,
    summary: 'Replaces the destination of published reminders. Queued ones go there, too.',
    refusals: [400, 409],
  }),
  endpoint({
    ...common,
    method: 'GET',
    path,
    command: PublishedReminders.commands.listPublishedReminders,
    summary: 'The published reminders, and what became of each.',
    refusals: [403],
  }),
  route({
    ...common,
    method: 'POST',
    path,
    access: 'session',
    summary: 'Publishes a reminder, or changes the one of this id.',
    request: publishReminder.fields,
    replies: {
      200: published,
      201: published,
      ...Object.fromEntries([400, 401, 403, 409].map((status) => [status, errorBodySchema])),
    },
    bodyLimit: 'small',
    handle: ({ actors, credentials, ask }: RequestContext<'session'>, request) => {
      const answer = actors
        .get(PublishedReminders, credentials.userUuid)
        .ask.publishReminder({ ...request, credentials }, ask);
      return signedInAnswer(answer, ({ created, reminder }) => ({
        status: created ? 201 : 200,
        body: { reminder },
      }));
    },
  }),
  endpoint({
    ...common,
    method: 'DELETE',
    path: `${path}/:id`,
    command: PublishedReminders.commands.deletePublishedReminder,
    summary: 'Deletes a published reminder, unless it is being sent or may have arrived.',
    refusals: [404, 409],
  }),
];
