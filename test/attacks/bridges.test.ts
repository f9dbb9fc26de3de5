/** A stolen bridge token: what it can reach, and what ends it. */
import test, { type ExecutionContext } from 'ava';
import { z } from 'zod';
import type { SignedInShape } from '../../actors/signed-in.ts';
import { User } from '../../actors/user/contract.ts';
import { challengeOf, headerSessions, signIn, statusOf, tokensOf } from '../kit/account.ts';
import { Device } from '../kit/device.ts';
import { sampleOf } from '../kit/samples.ts';
import { sessionTokens, startServer } from '../kit/server.ts';

const tokens = '/v1/mcp-tokens';

async function withBridge(t: ExecutionContext) {
  const server = await startServer(t);
  const phone = await server.device();
  const body = { label: 'b', scope: 'write', wrappedKeys: '{}', kdfSalt: '00', kdfParams: '{}' };
  const { token, mcpToken } = (await phone.call('POST', tokens, { body })).body;
  const authenticate = () => server.call('POST', `${tokens}/authenticate`, { body: { token } });
  const bridge = new Device(server, { ...phone.account, ...tokensOf(await authenticate()) });
  const change = (fields: object = {}) => {
    const { userUuid, password } = phone.account;
    const body = { current_password: password, new_password: 'c'.repeat(64), pw_nonce: 'd', ...fields };
    return phone.call('PUT', `/v1/users/${userUuid}/attributes/credentials`, {
      body: { api: headerSessions, ...body },
    });
  };
  return { server, phone, bridge, authenticate, change, mcpToken };
}

test('a bridge that may write items may do nothing else that writes', async (t) => {
  const { server, bridge } = await withBridge(t);
  t.is((await bridge.save()).saved_items.length, 1);
  const { userUuid, access } = bridge.account;
  const credentials = sessionTokens.verify(access);
  const user = server.host.actors.get(User, userUuid).ask as unknown as Record<
    string,
    (request: object) => Promise<{ refused?: { status: number; message: string } }>
  >;
  const shapes = Object.entries(User.commands) as unknown as readonly (readonly [
    string,
    SignedInShape<unknown, unknown>,
  ])[];
  const writing = shapes.filter(([, { access }]) => access === 'writes');
  t.true(writing.length > 15);
  for (const [name, { fields }] of writing) {
    const sample = sampleOf(z.toJSONSchema(fields, { io: 'input', unrepresentable: 'any' })) as object;
    const answer = await user[name]?.({ ...sample, credentials, userUuid });
    t.like(answer?.refused, { status: 403, message: 'A bridge may only change items.' }, name);
  }
});

test('a bridge that knows the password is asked for the second factor like anybody', async (t) => {
  const { server, phone, bridge } = await withBridge(t);
  const { email, password } = phone.account;
  const body = { email, code_challenge: challengeOf('mine') };
  const params = await bridge.call('POST', '/v2/login-params', { body });
  t.is(params.status, 200);
  const login = { email, password, code_verifier: 'mine', api: headerSessions };
  t.is((await server.call('POST', '/v2/login', { body: login })).status, 401);
});

test('a change of the password ends bridge tokens and the sessions they have opened', async (t) => {
  const { server, bridge, authenticate, change } = await withBridge(t);
  const changed = await change();
  t.is(changed.status, 200);
  const again = await authenticate();
  t.deepEqual([again.status, again.body.error.message], [401, 'Invalid MCP token']);
  t.is(await statusOf(server, bridge.account), '401 invalid-auth');
  const { access, cookie } = tokensOf(changed);
  const listed = await server.call('GET', tokens, { bearer: access, cookie });
  t.deepEqual(listed.body, { mcpTokens: [] });
});

test('so does a change of the address alone, and one that changes nothing', async (t) => {
  for (const fields of [{ new_email: 'alice@other.example' }, {}]) {
    const { server, phone, bridge, authenticate, change } = await withBridge(t);
    t.is((await change({ new_password: phone.account.password, ...fields })).status, 200);
    t.is((await authenticate()).status, 401);
    t.is(await statusOf(server, bridge.account), '401 invalid-auth');
  }
});

test('an app password outlives a change of the password, and still replaces only the second factor', async (t) => {
  const { server, phone, change } = await withBridge(t);
  const app = await phone.call('POST', '/v1/app-passwords', { body: { label: 'program' } });
  const { password: app_password } = app.body;
  t.is((await change()).status, 200);
  const { email, password } = phone.account;
  t.is((await signIn(server, { email, password, app_password })).status, 401);
  t.is((await signIn(server, { email, password: 'c'.repeat(64), app_password })).status, 200);
});
