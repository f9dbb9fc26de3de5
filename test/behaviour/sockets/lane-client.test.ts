/**
 * The published client of the sync lane (docs/protocol/sync-lane-client.ts) on a started server, and its behaviour
 * without the lane.
 */
import test, { type ExecutionContext } from 'ava';
import fc from 'fast-check';
import { canonicalJson, digestOf, SyncLaneClient, utf8 } from '../../../docs/protocol/sync-lane-client.ts';
import * as served from '../../../gateway/sockets/sync-lane/digest.ts';
import { alice } from '../../kit/account.ts';
import { Device, withNewTokens } from '../../kit/device.ts';
import { note } from '../../kit/items.ts';
import { deviceId, enterLane, LaneSurroundings, laneThatIsOff, run } from '../../kit/lane.ts';
import { type ServerOptions, startServer, type TestServer } from '../../kit/server.ts';

const api = '20240226';
const newNote = (content = 'first') => note({ uuid: crypto.randomUUID(), content });
const save = (id: string) => ({ id, body: { api, items: [newNote()], sync_token: null } });

interface World {
  readonly server: TestServer;
  readonly phone: Device;
  readonly around: LaneSurroundings;
  readonly client: SyncLaneClient;
}

async function worldOf(t: ExecutionContext, options: ServerOptions = {}): Promise<World> {
  const server = await startServer(t, options);
  return clientOf(t, server, await server.device());
}

function clientOf(t: ExecutionContext, server: TestServer, phone: Device): World {
  const around = new LaneSurroundings(t, phone, server.clock);
  return { server, phone, around, client: new SyncLaneClient(around, deviceId) };
}

const storedItems = async (device: Device): Promise<number> =>
  (await device.syncAll({ sync_token: null })).flatMap((page) => page.retrieved_items).length;

test('the client computes digests and lengths as the server does', async (t) => {
  const anyText = fc.string({ unit: 'binary' });
  await fc.assert(
    fc.asyncProperty(fc.dictionary(anyText, fc.jsonValue({ stringUnit: 'binary' })), async (fields) => {
      const body = JSON.parse(JSON.stringify(fields));
      t.is(canonicalJson(body), served.canonicalJson(body));
      t.is(await digestOf(body), served.commandDigestOf(body));
    }),
  );
  fc.assert(
    fc.property(fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map(String.fromCharCode) }), (text) => {
      t.deepEqual(Buffer.from(utf8(text)), Buffer.from(text, 'utf8'));
    }),
  );
});

test('commands are answered over one socket of the lane, one after the other', async (t) => {
  const { client, around, phone } = await worldOf(t);
  t.is(client.state, 'closed');
  const [first, second] = await Promise.all([client.run(save('command-1')), client.run(save('command-2'))]);
  for (const { status, data, by } of [first, second]) {
    t.deepEqual([status, by], [200, 'lane']);
    t.is(data['saved_items'].length, 1);
  }
  t.is(client.state, 'ready');
  t.is(around.dials, 1);
  t.is(await storedItems(phone), 2);
});

test('a command that HTTP would refuse is refused in the same words', async (t) => {
  const { client } = await worldOf(t);
  const { status, data, by } = await client.run({ id: 'command-1', body: { api, items: 'none' } });
  t.deepEqual([status, data['error'].message, by], [400, 'items is not valid.', 'lane']);
});

test('a socket that is cut after its command is asked about on the next one, and the command takes effect once', async (t) => {
  const { server, client, around, phone } = await worldOf(t);
  await client.connect();
  const held = server.transport.holdNextAskOf('sync');
  const answer = client.run(save('command-1'));
  const release = await held;
  around.cut();
  release();
  const { status, data } = await server.answered(answer);
  t.is(status, 200);
  t.is(data['command'].status, 'committed');
  t.deepEqual(around.sent.slice(0, 4), ['AUTH', 'COMMAND', 'AUTH', 'STATUS']);
  t.is(await storedItems(phone), 1);
});

test('a command that never arrived is found unknown and goes over HTTP under the same name', async (t) => {
  const { server, client, around, phone } = await worldOf(t);
  await client.connect();
  around.lost.add('COMMAND');
  const answer = await server.answered(client.run(save('command-1')), 30_000);
  t.deepEqual([answer.status, answer.by], [200, 'http']);
  t.is(answer.data['command'].id, 'command-1');
  t.deepEqual(around.sent, ['AUTH', 'COMMAND', 'AUTH', 'STATUS']);
  t.is(await storedItems(phone), 1);
});

test('an application that has crashed runs its command again, and gets the first answer', async (t) => {
  const { server, client, phone } = await worldOf(t);
  const command = save('command-1');
  const first = await client.run(command);
  client.close();
  await server.restart();
  const after = clientOf(t, server, phone);
  const again = await after.client.run({ ...command, wasSent: true });
  t.deepEqual(again, first);
  t.deepEqual(after.around.sent, ['AUTH', 'STATUS']);
  t.is(await storedItems(phone), 1);
});

test('where the lane is switched off, commands go over HTTP, and it is asked for again a minute later', async (t) => {
  const { server, client, around, phone } = await worldOf(t, { gateway: { syncLane: laneThatIsOff } });
  const { status, by } = await client.run(save('command-1'));
  t.deepEqual([status, by, client.state], [200, 'http', 'resting']);
  t.is(around.dials, 0);
  const served = await server.another({});
  around.device = new Device({ url: served.url }, phone.account);
  t.is((await client.run(save('command-2'))).by, 'http');
  await server.advance(60_000);
  t.is((await client.run(save('command-3'))).by, 'lane');
  t.is(await storedItems(phone), 3);
});

test('a client that is refused at the door redials three times, then leaves the lane alone', async (t) => {
  const { server, client, around } = await worldOf(t);
  around.lost.add('AUTH');
  const { by } = await server.answered(client.run(save('command-1')), 60_000);
  t.is(by, 'http');
  t.deepEqual([around.dials, client.state], [4, 'resting']);
});

test('a lane whose sockets die young is left alone for a minute', async (t) => {
  const { server, client, around } = await worldOf(t);
  for (let times = 1; times <= 3; times += 1) {
    await client.connect();
    around.cut();
    await server.until(() => client.state !== 'ready', 1_000);
    t.is(client.state, times === 3 ? 'resting' : 'closed');
  }
  await server.advance(60_000);
  t.true(await client.connect());
  await server.advance(10_000);
  around.cut();
  await server.until(() => client.state !== 'ready', 1_000);
  t.is(client.state, 'closed');
});

test('an answer that fits no frame is fetched over HTTP, and the socket stays', async (t) => {
  const { server, client } = await worldOf(t);
  const laptop = await server.device();
  for (let count = 0; count < 24; count += 1) await laptop.save(newNote('x'.repeat(32 * 1_024)));
  const { data, by } = await client.run(save('command-1'));
  t.deepEqual([data['retrieved_items'].length, data['saved_items'].length, by], [24, 1, 'http']);
  t.is(client.state, 'ready');
});

test('a command that fits no frame goes over HTTP, and the socket stays', async (t) => {
  const { client } = await worldOf(t);
  await client.connect();
  const items = [newNote('x'.repeat(600_000))];
  const { status, by } = await client.run({ id: 'command-1', body: { api, items } });
  t.deepEqual([status, by, client.state], [200, 'http', 'ready']);
});

test('a socket whose tokens the application has replaced gets the new ones and stays', async (t) => {
  const { client, around, phone } = await worldOf(t);
  await client.connect();
  around.device = await withNewTokens(phone);
  const { status } = await client.run(save('command-1'));
  t.is(status, 200);
  t.deepEqual(around.sent, ['AUTH', 'COMMAND', 'REAUTH', 'STATUS']);
  t.is((await client.run(save('command-2'))).by, 'lane');
  t.is(around.dials, 1);
  t.is(await storedItems(around.device), 2);
});

/** Lets time pass while PINGs are answered: the answers come by real sockets. */
async function passes({ clock, until }: TestServer, byMs: number): Promise<void> {
  const endMs = clock.monotonicMs() + byMs;
  await until(() => clock.monotonicMs() >= endMs, byMs + 1_000);
}

test('a client whose tokens expire gets new ones by itself, and its command takes effect once', async (t) => {
  const { server, client, around } = await worldOf(t, { accounts: { accessTokenAgeMs: 60_000 } });
  await client.connect();
  around.refreshed = () => withNewTokens(around.device);
  await passes(server, 61_000);
  t.is((await client.run(save('command-1'))).status, 200);
  t.true(around.sent.includes('REAUTH'));
  t.is((await client.run(save('command-2'))).by, 'lane');
  t.is(around.dials, 1);
  t.is(await storedItems(around.device), 2);
});

test('a session that was revoked ends the lane for good, and the application hears it from HTTP', async (t) => {
  const { server, client, around } = await worldOf(t);
  await client.connect();
  const laptop = await server.device();
  await laptop.call('DELETE', '/v1/sessions');
  await server.until(() => client.state === 'http-only', 1_000);
  t.is((await client.run(save('command-1'))).status, 401);
  t.is(around.dials, 1);
  t.is(await storedItems(laptop), 0);
});

test('an account whose lane is switched off syncs over HTTP from then on', async (t) => {
  const server = await startServer(t, { accounts: { adminEmails: new Set([alice.email]) } });
  const admin = await server.device();
  const { client, phone } = clientOf(t, server, await server.device('bob@example.org'));
  await client.connect();
  await admin.call('PUT', `/v1/admin/users/${phone.account.userUuid}/feature-flags`, {
    body: { name: 'LIVE_SYNC_ENABLED', value: 'false' },
  });
  t.is((await client.run(save('command-1'))).by, 'http');
  t.is(client.state, 'http-only');
});

test('a command that another socket carries out is waited for', async (t) => {
  const { server, client, phone } = await worldOf(t);
  const other = await enterLane(t, phone);
  const command = save('command-1');
  const held = server.transport.holdNextAskOf('sync');
  await other.lane.command(command.id, command.body);
  const release = await held;
  const answer = client.run({ ...command, wasSent: true });
  await server.until(() => server.transport.commands.includes('getSyncCommand'), 1_000);
  release();
  t.is((await server.answered(answer, 40_000)).status, 200);
  t.is(await storedItems(phone), 1);
});

test('two devices with one device id save at once, each once', async (t) => {
  const { server, client, phone } = await worldOf(t);
  const tablet = clientOf(t, server, await server.device());
  const answers = await Promise.all(
    Array.from({ length: 5 }, (_, at) => [
      client.run(save(`a-${at}`)),
      tablet.client.run(save(`b-${at}`)),
    ]).flat(),
  );
  t.true(answers.every(({ status, by }) => status === 200 && by === 'lane'));
  t.is(await storedItems(phone), 10);
});

test('a server that falls silent is found by PING, and the next command dials again', async (t) => {
  const { server, client, around } = await worldOf(t);
  await client.connect();
  await passes(server, 31_000);
  t.is(client.state, 'ready');
  t.true(around.sent.includes('PING'));
  around.lost.add('PING');
  await server.advance(30_000);
  await server.advance(60_000);
  t.is(client.state, 'closed');
  around.lost.clear();
  t.is((await server.answered(client.run(save('command-1')))).by, 'lane');
  t.is(around.dials, 2);
});

test('a process that stops answers its command, and the client goes on at the next one', async (t) => {
  const { server, client, around, phone } = await worldOf(t);
  await client.connect();
  const next = await server.another({});
  const held = server.transport.holdNextAskOf('sync');
  const answer = client.run(save('command-1'));
  const release = await held;
  const drained = server.gateway.drain();
  release();
  t.is((await answer).by, 'lane');
  await server.answered(drained, 20_000);
  await server.until(() => client.state === 'closed', 1_000);
  around.device = new Device({ url: next.url }, phone.account);
  t.is((await server.answered(client.run(save('command-2')))).by, 'lane');
});

test('no ticket goes to a cookie session without its cookie', async (t) => {
  const server = await startServer(t);
  await server.device();
  const browser = await (await server.device()).another({ api });
  t.true(browser.account.access.startsWith('2:'));
  const ask = (cookie: string) =>
    browser.call('POST', '/v1/sockets/sync/ticket', { body: { deviceId }, cookie });
  t.is((await ask('')).status, 401);
  t.is((await ask(browser.account.cookie)).status, 200);
});

test('eight frames of nearly the largest size at once are carried out', async (t) => {
  const { server, phone } = await worldOf(t);
  const lane = await enterLane(t, phone, server);
  const filler = 'x'.repeat(523_000);
  const commands = Array.from({ length: 8 }, (_, at) => run(lane, `command-${at}`, { api, filler }));
  for (const { payload } of await Promise.all(commands)) t.is(payload.status, 'COMMITTED');
});
