/** A server that delivers published reminders, and a user who has turned that on. */
import type { ExecutionContext } from 'ava';
import { Chats } from './chats.ts';
import type { Answer } from './http.ts';
import { mailTo, Postbox } from './postbox.ts';
import { type ServerOptions, startServer } from './server.ts';

export const path = '/v1/reminder-delivery';
export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

export type Delivering = Awaited<ReturnType<typeof delivering>>;

export async function delivering(t: ExecutionContext, options: ServerOptions = {}, isWanted = true) {
  const postbox = new Postbox();
  const chats = new Chats();
  const server = await startServer(t, {
    ...mailTo(postbox),
    messengers: chats,
    ...options,
    accounts: { reminderDelivery: true, ...options.accounts },
  });
  const phone = await server.device();
  const want = (value: string) =>
    phone.call('PUT', `/v1/users/${phone.account.userUuid}/settings`, {
      body: { name: 'REMINDER_DELIVERY_ENABLED', value },
    });
  if (isWanted) t.is((await want('true')).status, 200);
  /** Due in a minute by default. */
  const publish = (body: object): Promise<Answer> =>
    server.answered(
      phone.call('POST', path, {
        body: { message: 'Water the plants', dueAtUtc: isoIn(minuteMs), ...body },
      }),
    );
  const isoIn = (ms: number): string => new Date(server.clock.nowMs() + ms).toISOString();
  const configure = (body: object) => server.answered(phone.call('PUT', `${path}/delivery-config`, { body }));
  const remove = (id: string) => server.answered(phone.call('DELETE', `${path}/${id}`));
  const optOut = () => server.answered(phone.call('POST', `${path}/opt-out`));
  const listed = async () => (await phone.call('GET', path)).body.reminders;
  const reminderById = async (id: string) => (await listed()).find((each: { id: string }) => each.id === id);
  return {
    server,
    phone,
    postbox,
    chats,
    want,
    publish,
    configure,
    remove,
    optOut,
    listed,
    reminderById,
    isoIn,
  };
}
