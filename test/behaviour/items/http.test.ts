/** The routes of item sync over HTTP: the envelope, and no input of a client is ever an error of the server. */
import test, { type ExecutionContext } from 'ava';
import fc from 'fast-check';
import type { Call } from '../../kit/http.ts';
import { note, uuidNumber } from '../../kit/items.ts';
import { startServer } from '../../kit/server.ts';

async function startDevice(t: ExecutionContext) {
  const device = await (await startServer(t)).device();
  const call = async (method: string, path: string, request: Call = {}) => {
    const { status, text } = await device.call(method, path, request);
    return { status, body: JSON.parse(text) };
  };
  return {
    userUuid: device.account.userUuid,
    get: (path: string) => call('GET', path),
    post: (path: string, body: unknown) => call('POST', path, { body }),
    postEmpty: (path: string) => call('POST', path),
  };
}

test('a sync is answered inside the envelope, with its user and roles', async (t) => {
  const device = await startDevice(t);
  const { status, body } = await device.post('/v1/items', { api: '20240226', items: [note()] });
  t.is(status, 200);
  t.is(body.meta.auth.userUuid, device.userUuid);
  t.true(body.meta.auth.roles.length > 0);
  t.is(body.data.saved_items[0].uuid, uuidNumber(1));
  t.false('cursor_token' in body.data);
});

test('an empty body is a legacy sync, and a trailing slash is tolerated', async (t) => {
  const device = await startDevice(t);
  const { status, body } = await device.postEmpty('/v1/items/');
  t.is(status, 200);
  t.deepEqual(Object.keys(body.data).sort(), ['retrieved_items', 'saved_items', 'sync_token', 'unsaved']);
});

test('api_version is understood as api', async (t) => {
  const device = await startDevice(t);
  const { body } = await device.post('/v1/items', { api_version: '20240226' });
  t.deepEqual(body.data.conflicts, []);
});

test('one item and the integrity of all are answered', async (t) => {
  const device = await startDevice(t);
  await device.post('/v1/items', { api: '20240226', items: [note()] });
  const { body: one } = await device.get(`/v1/items/${uuidNumber(1)}`);
  t.is(one.data.item.content, '004:ciphertext');
  const { body: checked } = await device.post('/v1/items/check-integrity', { integrityPayloads: [] });
  t.deepEqual(checked.data.mismatches, [
    { uuid: uuidNumber(1), updated_at_timestamp: one.data.item.updated_at_timestamp },
  ]);
  const missing = await device.get(`/v1/items/${uuidNumber(2)}`);
  t.is(missing.status, 404);
  t.truthy(missing.body.data.error.message);
});

test('a malformed vault uuid is 400 and named', async (t) => {
  const device = await startDevice(t);
  const { status, body } = await device.post('/v1/items', {
    items: [note({ shared_vault_uuid: 'nonsense' })],
  });
  t.is(status, 400);
  t.true(body.data.error.message.includes('nonsense'));
});

/** Bodies that begin like a real one, with arbitrary data in arbitrary places. */
const anyItem = fc.record(
  Object.fromEntries(
    [...Object.keys(note()), 'auth_hash', 'duplicate_of', 'key_system_identifier'].map((field) => [
      field,
      fc.oneof(fc.constant(note()[field as 'uuid']), fc.jsonValue()),
    ]),
  ),
  { requiredKeys: [] },
);
const anyBody = fc.record(
  {
    api: fc.oneof(fc.constant('20240226'), fc.jsonValue()),
    items: fc.oneof(fc.array(anyItem, { maxLength: 3 }), fc.jsonValue()),
    sync_token: fc.oneof(fc.base64String(), fc.jsonValue()),
    cursor_token: fc.oneof(fc.base64String(), fc.jsonValue()),
    limit: fc.oneof(fc.double(), fc.jsonValue()),
    shared_vault_uuids: fc.jsonValue(),
    content_type: fc.jsonValue(),
    integrityPayloads: fc.jsonValue(),
  },
  { requiredKeys: [] },
);

test('no body is an error of the server, and what is accepted accounts for every item', async (t) => {
  const device = await startDevice(t);
  const answersWell = fc.asyncProperty(anyBody, async (sent) => {
    const { status, body } = await device.post('/v1/items', sent);
    t.true(status === 200 || status === 400, `${status} for ${JSON.stringify(sent)}`);
    if (status !== 200 || body.data.conflicts === undefined) return;
    const items = Array.isArray(sent.items) ? sent.items.length : 0;
    t.is(body.data.saved_items.length + body.data.conflicts.length, items);
  });
  await fc.assert(answersWell, { numRuns: 300 });
});

test('no integrity check and no path is an error of the server', async (t) => {
  const device = await startDevice(t);
  const answersWell = fc.asyncProperty(anyBody, fc.string({ minLength: 1 }), async (sent, uuid) => {
    const { status } = await device.post('/v1/items/check-integrity', sent);
    t.true(status === 200 || status === 400, `${status} for ${JSON.stringify(sent)}`);
    const one = await device.get(`/v1/items/${encodeURIComponent(uuid)}`);
    // The client itself reads some paths, such as a dot, as another one.
    t.true(one.status >= 400 && one.status < 500, `${one.status} for ${JSON.stringify(uuid)}`);
  });
  await fc.assert(answersWell, { numRuns: 100 });
});

test('clients that look for revisions at the retired paths are told to update', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const path = `/v1/items/${crypto.randomUUID()}/revisions`;
  for (const [method, of] of [
    ['GET', path],
    ['GET', `${path}/1`],
    ['DELETE', `${path}/1`],
  ] as const) {
    for (const answer of [await phone.call(method, of), await server.call(method, of)]) {
      t.is(answer.status, 410);
      t.regex(answer.body.error.message, /update/);
    }
  }
});
