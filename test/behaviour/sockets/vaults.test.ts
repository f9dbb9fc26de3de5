/** The sockets that hear of saves in shared vaults (docs/protocol/sockets.md, "Vaults"). */
import test, { type ExecutionContext } from 'ava';
import type { ClientItem } from '../../../actors/collection/item-fields.ts';
import { gatewaySettings } from '../../../gateway/settings.ts';
import { defaultsOf } from '../../../runtime/setting.ts';
import { Device } from '../../kit/device.ts';
import { inVault, note, uuidNumber } from '../../kit/items.ts';
import { startServer, type TestServer } from '../../kit/server.ts';
import { parsed, type SocketClient } from '../../kit/socket-client.ts';
import { accept, invite, join, makeVault, startSharedVault, vaults } from '../../kit/vaults.ts';

const changesOf = ({ texts }: SocketClient) =>
  parsed(texts).filter(({ type }) => type === 'ITEMS_CHANGED_ON_SERVER');
const countsOf = (sockets: readonly SocketClient[]) => sockets.map((socket) => changesOf(socket).length);

/** Resolves once they have heard this many times, and there was time for surplus frames. */
async function heard(
  t: ExecutionContext,
  server: TestServer,
  sockets: readonly SocketClient[],
  counts: readonly number[],
): Promise<void> {
  const isSo = () => countsOf(sockets).every((count, index) => count >= (counts[index] ?? 0));
  await server.until(isSo, 5_000).catch(() => {});
  await server.clock.advance(500);
  await new Promise((resolve) => setTimeout(resolve, 20));
  t.deepEqual(countsOf(sockets), counts);
}

const numberOf = async ({ registry }: TestServer, name: string): Promise<string | undefined> =>
  new RegExp(`^${name} (.*)$`, 'm').exec(await registry.metrics())?.[1];

async function started(t: ExecutionContext) {
  const { server, alice, bob, vault } = await startSharedVault(t);
  // The pushes of all these tells have arrived before the sockets open.
  await server.advance(5_000);
  return { server, alice, bob, vault };
}

async function twoDevicesEach(t: ExecutionContext) {
  const { server, alice, bob, vault } = await started(t);
  const [aliceToo, bobToo] = [await alice.another(), await bob.another()];
  const sockets = await Promise.all([alice, aliceToo, bob, bobToo].map((device) => device.socket(t)));
  return { server, alice, aliceToo, bob, bobToo, vault, sockets };
}

test('a save in a vault reaches all devices of its members but the one that saved, each once', async (t) => {
  const { server, alice, aliceToo, bob, vault, sockets } = await twoDevicesEach(t);
  const stranger = await server.device('carol@example.org');
  const all = [...sockets, await stranger.socket(t)];
  await alice.save(inVault(vault));
  await heard(t, server, all, [0, 1, 1, 1, 0]);
  const [, own, other] = sockets;
  const { userUuid } = alice.account;
  const [first] = changesOf(own ?? t.fail());
  t.is(first.payload.sessionUuid, await alice.sessionUuid());
  const [frame] = changesOf(other ?? t.fail());
  t.deepEqual(Object.keys(frame), ['type', 'createdAt', 'meta', 'payload']);
  t.is(frame.payload.userUuid, userUuid);
  t.regex(frame.payload.sessionUuid, /^[0-]+$/, 'sessions of others are their own concern');
  t.true(Number.isSafeInteger(frame.payload.timestamp));

  await bob.save(inVault(vault, { uuid: uuidNumber(2) }));
  await heard(t, server, all, [1, 2, 1, 2, 0]);
  await aliceToo.save(note({ uuid: uuidNumber(3) }));
  await heard(t, server, all, [2, 2, 1, 2, 0]);
});

test('a save that changes nothing in a vault is announced to nobody', async (t) => {
  const { server, alice, bob, vault, sockets } = await twoDevicesEach(t);
  const item = inVault(vault);
  await alice.save(item);
  await heard(t, server, sockets, [0, 1, 1, 1]);
  const { conflicts } = await bob.save({ ...item, content: 'older' });
  t.is(conflicts.length, 1);
  await alice.sync();
  await heard(t, server, sockets, [0, 1, 1, 1]);
});

test('an item that moves is announced once to each device, there and back', async (t) => {
  const { server, alice, vault, sockets } = await twoDevicesEach(t);
  const versionOf = async (item: ClientItem) =>
    (await alice.save(item)).saved_items[0]?.updated_at_timestamp ?? t.fail();
  const mine = await versionOf(note());
  await heard(t, server, sockets, [0, 1, 0, 0]);
  const ours = await versionOf(inVault(vault, { updated_at_timestamp: mine }));
  await heard(t, server, sockets, [0, 2, 1, 1]);
  await versionOf(note({ updated_at_timestamp: ours }));
  await heard(t, server, sockets, [0, 3, 2, 2]);
});

test('a user who joins or makes a vault hears of it at once', async (t) => {
  const server = await startServer(t);
  const alice = await server.device();
  const bob = await server.device('bob@example.org');
  const [aliceToo, socket] = [await (await alice.another()).socket(t), await bob.socket(t)];
  const vault = await makeVault(alice);
  await join(alice, vault, bob);
  // To sync, because of events before it was heard.
  await heard(t, server, [aliceToo, socket], [1, 1]);
  await alice.save(inVault(vault));
  await heard(t, server, [aliceToo, socket], [2, 2]);
});

test('a removed member hears nothing from then on, and hears again once back', async (t) => {
  const { server, alice, bob, vault, sockets } = await twoDevicesEach(t);
  const remove = `${vaults}/${vault}/users/${bob.account.userUuid}`;
  t.is((await alice.call('DELETE', remove)).status, 200);
  await alice.save(inVault(vault));
  await heard(t, server, sockets, [0, 1, 0, 0]);
  await server.advance(5_000);
  t.is((await accept(bob, vault, await invite(alice, vault, bob.account.userUuid))).status, 200);
  await heard(t, server, sockets, [0, 1, 1, 1]);
  await alice.save(inVault(vault, { uuid: uuidNumber(2) }));
  await heard(t, server, sockets, [0, 2, 2, 2]);
});

test('a vault that has ended is subscribed to no more', async (t) => {
  const { server, alice, vault } = await twoDevicesEach(t);
  t.is(await numberOf(server, 'scriptorium_socket_vaults'), '1');
  t.is((await alice.call('DELETE', `${vaults}/${vault}`)).status, 200);
  t.is(await numberOf(server, 'scriptorium_socket_vaults'), '0');
});

test('each of many vaults is heard from the first moment of a socket, and no more after its last', async (t) => {
  const { server, alice, bob, vault } = await started(t);
  const more = [vault];
  for (let n = 0; n < 8; n += 1) {
    const another = await makeVault(alice);
    await join(alice, another, bob);
    more.push(another);
  }
  await server.advance(5_000);
  t.is(await numberOf(server, 'scriptorium_socket_vaults'), '0');
  const socket = await bob.socket(t);
  t.is(await numberOf(server, 'scriptorium_socket_vaults'), '9');
  for (const [n, each] of more.entries()) await alice.save(inVault(each, { uuid: uuidNumber(n + 1) }));
  await heard(t, server, [socket], [9]);
  const second = await (await bob.another()).socket(t);
  await heard(t, server, [second], [0]);
  socket.end();
  second.end();
  let left: string | undefined;
  for (let tries = 0; tries < 100 && left !== '0'; tries += 1) {
    await new Promise((resolve) => setTimeout(resolve, 10));
    left = await numberOf(server, 'scriptorium_socket_vaults');
  }
  t.is(left, '0');
});

test('members at other gateways hear too', async (t) => {
  const { server, alice, bob, vault } = await started(t);
  const there = await server.another({});
  const bobThere = await new Device(there, bob.account).socket(t);
  const aliceThere = await new Device(there, (await alice.another()).account).socket(t);
  const here = await bob.socket(t);
  await alice.save(inVault(vault));
  await heard(t, server, [bobThere, aliceThere, here], [1, 1, 1]);
});

test('where there is no room for a vault, the socket opens and hears of the others', async (t) => {
  const server = await startServer(t, {
    gateway: { sockets: { ...defaultsOf(gatewaySettings).sockets, membershipsMax: 1 } },
  });
  const alice = await server.device();
  const [first, second] = [await makeVault(alice), await makeVault(alice)];
  await server.advance(5_000);
  const laptop = await alice.another();
  const socket = await laptop.socket(t);
  t.is(await numberOf(server, 'scriptorium_socket_vault_registrations_total{outcome="full"}'), '1');
  await alice.save(inVault(first));
  await alice.save(inVault(second, { uuid: uuidNumber(2) }));
  await alice.save(note({ uuid: uuidNumber(3) }));
  await heard(t, server, [socket], [2]);
});
