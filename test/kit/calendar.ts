/** Calendars over the HTTP interface: to-dos, tokens, and what a program reads with one. */

import type { ExecutionContext } from 'ava';
import type { Device } from './device.ts';
import type { Answer, Call } from './http.ts';
import { type ServerOptions, startServer, type TestServer } from './server.ts';

export const todosPath = '/v1/caldav/todos';
export const tokensPath = '/v1/caldav/tokens';

export const startCalendarServer = (t: ExecutionContext, options: ServerOptions = {}): Promise<TestServer> =>
  startServer(t, { ...options, accounts: { calendar: true, ...options.accounts } });

export const wantCalendar = (device: Device, value = 'true'): Promise<Answer> =>
  device.call('PUT', `/v1/users/${device.account.userUuid}/settings`, {
    body: { name: 'CALDAV_ENABLED', value, sensitive: false },
  });

/** A device of an account that wants a calendar. */
export async function publisher(server: TestServer, email?: string): Promise<Device> {
  const device = await server.device(email);
  await wantCalendar(device);
  return device;
}

export const publish = (device: Device, todo: object): Promise<Answer> =>
  device.call('POST', todosPath, { body: { summary: 'water the plants', ...todo } });

export const unpublish = (device: Device, uid: string): Promise<Answer> =>
  device.call('DELETE', `${todosPath}/${encodeURIComponent(uid)}`);

export const makeToken = async (device: Device, label = 'phone'): Promise<{ uuid: string; token: string }> =>
  (await device.call('POST', tokensPath, { body: { label } })).body.token;

/** The headers of a program with a token. */
export const showing = (token: string, user = 'anybody'): Call => ({
  headers: { authorization: `Basic ${Buffer.from(`${user}:${token}`).toString('base64')}` },
});
