/** Accounts of protocol 001 to 003, which only a server for testing registers, and the state of their tokens. */
import type { ExecutionContext } from 'ava';
import { alice, headerSessions, protocol003, type Server, type Tokens } from './account.ts';
import { Device } from './device.ts';
import { type Answer, call } from './http.ts';
import { type ServerOptions, startServer, type TestServer } from './server.ts';

/** A server on which accounts of any protocol can be made. */
export const startTesting = (
  t: ExecutionContext,
  { accounts, ...options }: ServerOptions = {},
): Promise<TestServer> => startServer(t, { ...options, accounts: { endToEndTesting: true, ...accounts } });

/** The first device of a new account of 003, by default Alice's. */
export const oldDevice = (server: Server, fields: object = {}): Promise<Device> =>
  Device.register(server, { ...protocol003, ...fields });

/** `in`, or the refusal of a signed-in call. Old accounts may not list their sessions. */
export async function standing(
  { url }: Server,
  { access, cookie }: Pick<Tokens, 'access' | 'cookie'>,
): Promise<string> {
  const { status, body } = await call(url, 'GET', '/v1/items/nothing', { bearer: access, cookie });
  return status === 404 ? 'in' : `${status} ${body.error.tag}`;
}

/** Keeps the version by default. */
export const changeCredentials = (device: Device, fields: object = {}): Promise<Answer> =>
  device.call('PUT', `/v1/users/${device.account.userUuid}/attributes/credentials`, {
    body: {
      current_password: alice.password,
      new_password: 'd'.repeat(64),
      pw_nonce: 'e'.repeat(64),
      api: headerSessions,
      ...fields,
    },
  });

export const upgrade = (device: Device, fields: object = {}): Promise<Answer> =>
  changeCredentials(device, { version: '004', origination: 'protocol-upgrade', ...fields });
