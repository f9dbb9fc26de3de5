/** Syncs that their client has named, over HTTP (docs/protocol/sockets.md, "Commands over HTTP"). */
import test from 'ava';
import { commandDigestOf } from '../../../gateway/sockets/sync-lane/digest.ts';
import { type Device, deleteAccount } from '../../kit/device.ts';
import { inVault, note } from '../../kit/items.ts';
import type { Schedule } from '../../kit/model-store/model-store.ts';
import { startServer, type TestServer } from '../../kit/server.ts';
import { startSharedVault } from '../../kit/vaults.ts';

const api = '20240226';

function named(device: Device, id: string, body: Record<string, unknown>, digest = commandDigestOf(body)) {
  return device.call('POST', '/v1/items', {
    body,
    headers: { 'x-sync-command-id': id, 'x-sync-command-digest': digest },
  });
}

const statusOf = async (device: Device, id: string, headers: Record<string, string> = {}) =>
  (await device.call('GET', `/v1/items/sync-command/${id}`, { headers })).body;

const rowsOf = ({ host }: TestServer) => host.database.sizes.get('sync_command') ?? 0;

const newNote = (content = 'first') => note({ uuid: crypto.randomUUID(), content });

test('a named save takes effect once, and its repeat is answered as it was', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const body = { api, items: [newNote()], sync_token: null };
  const first = await named(phone, 'command-1', body);
  t.is(first.status, 200);
  t.is(first.headers.get('x-sync-command-status'), 'committed');
  t.is(first.headers.get('x-sync-command-replayed'), 'false');
  t.deepEqual(first.body.command, {
    id: 'command-1',
    digest: commandDigestOf(body),
    status: 'committed',
  });
  const second = await named(phone, 'command-1', body);
  t.is(second.headers.get('x-sync-command-replayed'), 'true');
  t.deepEqual(second.body, first.body);
  t.is((await phone.sync({ sync_token: null })).retrieved_items.length, 1);
});

test('a repeat is answered as saved although another device has changed the item since', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const laptop = await server.device();
  const item = newNote();
  const body = { api, items: [item], sync_token: null };
  const first = (await named(phone, 'command-1', body)).body;
  const [saved] = first.saved_items;
  await laptop.save({ ...item, content: 'second', updated_at_timestamp: saved.updated_at_timestamp });
  const second = (await named(phone, 'command-1', body)).body;
  t.deepEqual(second, first);
  const next = await phone.sync({ sync_token: second.sync_token });
  t.deepEqual(
    next.retrieved_items.map(({ content }) => content),
    ['second'],
  );
});

test('a repeat gives once more what the first answer gave, and nothing that came later', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const laptop = await server.device();
  const old = newNote('old');
  await laptop.save(old);
  const body = { api, items: [newNote('mine')], sync_token: null };
  const first = (await named(phone, 'command-1', body)).body;
  t.deepEqual(
    first.retrieved_items.map(({ uuid }: { uuid: string }) => uuid),
    [old.uuid],
  );
  const later = newNote('later');
  await laptop.save(later);
  const second = (await named(phone, 'command-1', body)).body;
  t.is(second.sync_token, first.sync_token);
  t.true(second.retrieved_items.some(({ uuid }: { uuid: string }) => uuid === old.uuid));
  const next = await phone.sync({ sync_token: second.sync_token });
  t.deepEqual(
    next.retrieved_items.map(({ uuid }) => uuid),
    [later.uuid],
  );
});

test('a repeat whose page is full of later items passes no item of a vault', async (t) => {
  const { alice, bob, vault } = await startSharedVault(t);
  const laptop = await bob.another();
  const { sync_token } = await bob.sync();
  const ofVault = inVault(vault, newNote());
  await alice.save(ofVault);
  const body = { api, items: [newNote()], sync_token, limit: 10 };
  const first = (await named(bob, 'command-1', body)).body;
  const isThere = ({ retrieved_items: items }: { retrieved_items: readonly { uuid: string }[] }) =>
    items.some(({ uuid }) => uuid === ofVault.uuid);
  t.true(isThere(first));
  await laptop.sync({ items: Array.from({ length: 10 }, () => newNote()) });
  const again = await named(bob, 'command-1', body);
  t.is(again.headers.get('x-sync-command-replayed'), 'true');
  const next = await bob.sync({ sync_token: again.body.sync_token });
  t.true(isThere(again.body) || isThere(next));
});

test('a repeat tells of conflicts as they are now, with what the client sent', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const bob = await server.device('bob@example.org');
  const shared = newNote('of bob');
  await bob.save(shared);
  const stale = newNote();
  await phone.save(stale);
  const conflicting = { ...shared, content: 'of alice' };
  const body = {
    api,
    items: [{ ...stale, content: 'other', updated_at_timestamp: 1 }, conflicting, newNote()],
    sync_token: null,
  };
  const first = (await named(phone, 'command-1', body)).body;
  t.deepEqual(first.conflicts.map(({ type }: { type: string }) => type).sort(), [
    'sync_conflict',
    'uuid_conflict',
  ]);
  const second = (await named(phone, 'command-1', body)).body;
  t.deepEqual(second, first);
  // Its items are not stored, so without them the server can say only this much.
  t.deepEqual(await statusOf(phone, 'command-1'), {
    command: { id: 'command-1', status: 'committed', digest: commandDigestOf(body) },
  });
});

test('another command under a known id is refused', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const body = { api, items: [newNote()] };
  await named(phone, 'command-1', body);
  const other = await named(phone, 'command-1', { api, items: [newNote()] });
  t.is(other.status, 409);
  t.is(other.body.error.tag, 'sync_command_digest_mismatch');
  const answer = await phone.call('GET', '/v1/items/sync-command/command-1', {
    headers: { 'x-sync-command-digest': commandDigestOf({}) },
  });
  t.is(answer.status, 409);
  t.is((await phone.sync({ sync_token: null })).retrieved_items.length, 1);
});

test('the name may stand in the body, where it is no part of the digest', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const body = { api, items: [newNote()] };
  const command = { id: 'command-1', digest: commandDigestOf(body) };
  const first = await phone.call('POST', '/v1/items', { body: { ...body, command } });
  t.is(first.headers.get('x-sync-command-replayed'), 'false');
  t.is((await named(phone, 'command-1', body)).headers.get('x-sync-command-replayed'), 'true');
});

for (const [what, headers, tag] of [
  ['without its digest', { 'x-sync-command-id': 'a' }, 'invalid_sync_command_metadata'],
  ['without its id', { 'x-sync-command-digest': commandDigestOf({}) }, 'invalid_sync_command_metadata'],
  [
    'with an id of other characters',
    { 'x-sync-command-id': '-a', 'x-sync-command-digest': commandDigestOf({}) },
    'invalid_sync_command_id',
  ],
  [
    'with a digest that is none',
    { 'x-sync-command-id': 'a', 'x-sync-command-digest': 'abc' },
    'invalid_sync_command_digest',
  ],
] as const) {
  test(`a command ${what} is refused, and saves nothing`, async (t) => {
    const server = await startServer(t);
    const phone = await server.device();
    const answer = await phone.call('POST', '/v1/items', { body: { api, items: [newNote()] }, headers });
    t.is(answer.status, 400);
    t.is(answer.body.error.tag, tag);
    t.is((await phone.sync({ sync_token: null })).retrieved_items.length, 0);
  });
}

test('a command that is named twice, or in half, or by something else in the body is refused', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const body = { api, items: [newNote()] };
  const digest = commandDigestOf(body);
  const headers = { 'x-sync-command-id': 'a', 'x-sync-command-digest': digest };
  const wrong = [{ command: { id: 'a' } }, { command: { id: 1, digest } }, { command: 'a' }];
  for (const each of wrong) {
    const answer = await phone.call('POST', '/v1/items', { body: { ...body, ...each } });
    t.is(answer.body.error.tag, 'invalid_sync_command_metadata');
  }
  const both = await phone.call('POST', '/v1/items', {
    body: { ...body, command: { id: 'b', digest } },
    headers,
  });
  t.is(both.status, 400);
  const legacy = await named(phone, 'command-1', { items: [newNote()] });
  t.is(legacy.status, 400);
  t.is(legacy.body.error.tag, 'sync_command_rejected');
});

test('the status of a command is its own session’s', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const laptop = await server.device();
  const body = { api, items: [newNote()] };
  t.deepEqual(await statusOf(phone, 'command-1'), { command: { id: 'command-1', status: 'unknown' } });
  const saved = (await named(phone, 'command-1', body)).body;
  const status = await statusOf(phone, 'command-1');
  const { command: _command, ...answer } = saved;
  t.deepEqual(status, {
    command: { id: 'command-1', status: 'committed', digest: commandDigestOf(body) },
    result: answer,
  });
  t.deepEqual(await statusOf(laptop, 'command-1'), { command: { id: 'command-1', status: 'unknown' } });
});

test('a pull is known to its own session alone', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const laptop = await server.device();
  await named(phone, 'command-1', { api, sync_token: null });
  t.is((await statusOf(phone, 'command-1')).command.status, 'committed');
  t.is((await statusOf(laptop, 'command-1')).command.status, 'unknown');
});

test('a restart forgets no command that has changed something', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const body = { api, items: [newNote()] };
  const first = (await named(phone, 'command-1', body)).body;
  await server.restart();
  t.is((await statusOf(phone, 'command-1')).command.status, 'committed');
  t.deepEqual((await named(phone, 'command-1', body)).body, first);
});

test('a command that changes nothing writes nothing, and is remembered for a while', async (t) => {
  let commits = 0;
  const schedule: Schedule = async (method, apply) => {
    if (method === 'commit') commits += 1;
    return apply();
  };
  const server = await startServer(t, { host: { schedule } });
  const phone = await server.device();
  await phone.save();
  const body = { api, sync_token: null };
  const before = commits;
  const first = await named(phone, 'command-1', body);
  t.is(first.body.retrieved_items.length, 1);
  t.is((await statusOf(phone, 'command-1')).command.status, 'committed');
  t.is((await named(phone, 'command-1', body)).headers.get('x-sync-command-replayed'), 'true');
  t.is(commits, before);
  await server.restart();
  t.is((await statusOf(phone, 'command-1')).command.status, 'unknown');
});

test('a command of more than one turn takes effect once too', async (t) => {
  const server = await startServer(t, { items: { turnLimits: { items: 2, bytes: 1_000_000 } } });
  const phone = await server.device();
  const items = Array.from({ length: 7 }, () => newNote());
  const body = { api, items };
  const [first, second] = await Promise.all([
    named(phone, 'command-1', body),
    named(phone, 'command-1', body),
  ]);
  const statuses = [first.status, second.status].sort();
  t.true(statuses[0] === 200 && [200, 409].includes(statuses[1] ?? 0), String(statuses));
  const again = await named(phone, 'command-1', body);
  t.is(again.headers.get('x-sync-command-replayed'), 'true');
  t.is(again.body.saved_items.length, 7);
  t.is((await phone.sync({ sync_token: null })).retrieved_items.length, 7);
});

test('after seven days a command is forgotten, and its row is gone', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  const body = { api, items: [newNote()] };
  await named(phone, 'command-1', body);
  t.is(rowsOf(server), 1);
  await server.advance(7 * 86_400_000 + 10_000);
  t.is(rowsOf(server), 0);
});

test('nothing of the journal outlives its account', async (t) => {
  const server = await startServer(t);
  const phone = await server.device();
  await named(phone, 'command-1', { api, items: [newNote()] });
  await deleteAccount(phone);
  await server.advance(120_000);
  t.is(rowsOf(server), 0);
});

test('browsers of other origins may send a command and read what is said of it', async (t) => {
  const server = await startServer(t);
  const preflight = await server.call('OPTIONS', '/v1/items', {
    headers: {
      origin: 'https://notes.example.org',
      'access-control-request-headers': 'x-sync-command-id,x-sync-command-digest',
    },
  });
  t.is(preflight.headers.get('access-control-allow-headers'), 'x-sync-command-id,x-sync-command-digest');
  const answer = await server.call('GET', '/v1/meta', { headers: { origin: 'https://notes.example.org' } });
  t.regex(String(answer.headers.get('access-control-expose-headers')), /X-Sync-Command-Replayed/);
});
