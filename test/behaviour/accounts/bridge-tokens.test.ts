import test from 'ava';
import { refresh, statusOf, type Tokens, tokensOf } from '../../kit/account.ts';
import { Device } from '../../kit/device.ts';
import { note } from '../../kit/items.ts';
import { startServer, type TestServer } from '../../kit/server.ts';

const list = '/v1/mcp-tokens';
/** UTF-8 bytes of a token's wrapped value. */
const keysMax = 256 * 1_024;
const keys = {
  wrappedKeys: '{"nonce":"n","ciphertext":"c"}',
  kdfSalt: '00'.repeat(16),
  kdfParams: '{"alg":"x"}',
};
const make = (device: Device, fields: object = {}) =>
  device.call('POST', list, { body: { label: 'bridge', scope: 'write', ...keys, ...fields } });
const authenticate = (server: TestServer, token: unknown, fields: object = {}) =>
  server.call('POST', `${list}/authenticate`, { body: { token, ...fields } });
const deviceOf = (server: TestServer, phone: Device, tokens: Tokens) =>
  new Device(server, { ...phone.account, ...tokens });

test('a bridge signs in with its token alone and gets the keys that were wrapped for it', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const { mcpToken, token } = (await make(phone)).body;
  t.like(mcpToken, { label: 'bridge', scope: 'write', scopeTagUuids: null, expiresAt: null });
  t.is(token.split('.').length, 2);
  t.is(token.split('.')[0], mcpToken.uuid);
  const answer = await authenticate(server, token);
  t.is(answer.status, 200);
  t.deepEqual(answer.body.mcp_key_material, keys);
  t.deepEqual(answer.body.mcp_scope, { access: 'write' });
  t.is(answer.body.key_params.version, '004');
  t.is(answer.body.user.email, phone.account.email);
  const bridge = deviceOf(server, phone, tokensOf(answer));
  const item = note({ uuid: crypto.randomUUID() });
  t.is((await bridge.save(item)).saved_items.length, 1);
  const listed = await phone.call('GET', list);
  t.is(listed.body.mcpTokens[0].lastUsedAt, new Date(server.clock.nowMs()).toISOString());
  t.is(listed.body.mcpTokens[0].lastUsedFrom, '203.0.113.7');
  t.false(listed.text.includes(token.split('.')[1]));
  t.deepEqual((await phone.call('GET', `${list}/keys/${mcpToken.uuid}`)).body, {
    ...keys,
    scope: 'write',
    scopeTagUuids: null,
  });
});

test('a bridge that may only read saves nothing, also after a refresh that converts its session', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const tags = [crypto.randomUUID()];
  const { token } = (await make(phone, { scope: 'read', scopeTagUuids: tags })).body;
  const answer = await authenticate(server, token, { apiVersion: '20200115' });
  t.deepEqual(answer.body.mcp_scope, { access: 'read', tagUuids: tags });
  t.true(answer.body.session.readonly_access);
  const converted = await refresh(server, tokensOf(answer), '20240226');
  t.true(converted.body.session.readonly_access);
  const bridge = deviceOf(server, phone, tokensOf(converted));
  const [conflict] = (await bridge.save()).conflicts;
  t.is(conflict?.type, 'readonly_error');
  t.is((await make(bridge)).body.error.tag, 'read-only-access');
  t.is((await bridge.call('POST', '/v1/app-passwords', { body: { label: 'x' } })).status, 403);
});

test('the session of a cookie version comes with its cookies', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const { token } = (await make(phone)).body;
  const tokens = tokensOf(await authenticate(server, token, { api: '20240226' }));
  t.true(tokens.access.startsWith('2:'));
  t.is(await statusOf(server, tokens), '200');
});

test('every wrong token is answered alike', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const stranger = await server.device('bob@example.org');
  const { token, mcpToken } = (await make(phone)).body;
  const [uuid, secret] = token.split('.');
  const foreign = (await make(stranger)).body.token.split('.')[1];
  const deleted = (await make(phone)).body;
  await phone.call('DELETE', `${list}/${deleted.mcpToken.uuid}`);
  const wrong = [
    ...[
      '',
      '.',
      'x',
      uuid,
      secret,
      `${uuid}.`,
      `.${secret}`,
      `${token}.wrap`,
      `${token}x`,
      token.slice(0, -1),
    ],
    ...[`${uuid}.${foreign}`, `${crypto.randomUUID()}.${secret}`, deleted.token, token.toUpperCase()],
    `${uuid}.${secret.slice(0, -43)}${'A'.repeat(43)}`,
  ];
  for (const each of wrong) {
    const { status, body } = await authenticate(server, each);
    t.deepEqual({ status, message: body.error.message }, { status: 401, message: 'Invalid MCP token' }, each);
  }
  t.is((await authenticate(server, token, { apiVersion: '20161215' })).status, 400);
  t.is((await phone.call('GET', list)).body.mcpTokens[0].uuid, mcpToken.uuid);
  t.is((await phone.call('GET', list)).body.mcpTokens[0].lastUsedAt, null);
});

test('a deleted token ends the sessions it has opened, and no others', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const { token, mcpToken } = (await make(phone)).body;
  const other = (await make(phone)).body;
  const ended = tokensOf(await authenticate(server, token));
  const stays = tokensOf(await authenticate(server, other.token));
  t.is((await phone.call('DELETE', `${list}/${mcpToken.uuid}`)).status, 200);
  t.is(await statusOf(server, ended), '401 invalid-auth');
  t.is(await statusOf(server, stays), '200');
  t.is(await statusOf(server, phone.account), '200');
  t.is((await phone.call('DELETE', `${list}/${mcpToken.uuid}`)).status, 404);
  t.is((await phone.call('GET', `${list}/keys/${mcpToken.uuid}`)).status, 404);
});

test('the token of a deleted account opens nothing', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const { token } = (await make(phone)).body;
  const headers = { 'x-server-password': phone.account.password };
  t.is((await phone.call('DELETE', `/v1/users/${phone.account.userUuid}`, { headers })).status, 200);
  t.is((await authenticate(server, token)).status, 401);
  await server.advance(10_000);
  t.is((await authenticate(server, token)).status, 401);
});

test('the keys of a large account fit, and those of all tokens have a bound', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const wrappedKeys = JSON.stringify({ nonce: 'n', ciphertext: 'c'.repeat(keysMax - 100) });
  const { mcpToken, token } = (await make(phone, { wrappedKeys })).body;
  t.is((await authenticate(server, token)).body.mcp_key_material.wrappedKeys, wrappedKeys);
  await server.restart();
  t.is((await phone.call('GET', `${list}/keys/${mcpToken.uuid}`)).body.wrappedKeys, wrappedKeys);
  for (let made = 1; made < 4; made += 1) t.is((await make(phone, { wrappedKeys })).status, 200);
  t.is((await make(phone, { wrappedKeys })).status, 400);
  t.is((await phone.call('DELETE', `${list}/${mcpToken.uuid}`)).status, 200);
  t.is((await make(phone, { wrappedKeys })).status, 200);
});

test('scopes are known by the names that other clients give them, too', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  for (const [input, scope] of [
    ['read-only', 'read'],
    ['read-write', 'write'],
  ] as const) {
    const { mcpToken, token } = (await make(phone, { scope: input })).body;
    t.is(mcpToken.scope, scope);
    const { body } = await authenticate(server, token);
    t.is(body.mcp_scope.access, scope);
    t.is(body.session.readonly_access, scope === 'read');
  }
});

test('fields that do not fit are refused, and one token too many', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  for (const fields of [
    { label: ' ' },
    { scope: 'admin' },
    { wrappedKeys: '' },
    { kdfSalt: undefined },
    { kdfParams: {} },
    { scopeTagUuids: 'all' },
    { wrappedKeys: 'x'.repeat(keysMax + 1) },
    { wrappedKeys: 'é'.repeat(keysMax / 2 + 1) },
  ]) {
    t.is((await make(phone, fields)).status, 400, JSON.stringify(fields).slice(0, 60));
  }
  for (let made = 0; made < 20; made += 1) t.is((await make(phone)).status, 200);
  t.is((await make(phone)).status, 400);
});
