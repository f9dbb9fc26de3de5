import test, { type ExecutionContext } from 'ava';
import { accepted, type Device } from '../../kit/device.ts';
import { fakeVault, tellUser } from '../../kit/fake-vault.ts';
import { note, uuidNumber } from '../../kit/items.ts';
import { startServer } from '../../kit/server.ts';

const vaultUuid = uuidNumber(0xa);
const otherVaultUuid = uuidNumber(0xb);
const itemUuid = uuidNumber(0xc);
const inviteUuid = uuidNumber(0xd);

const withVaults = (t: ExecutionContext) => startServer(t, { moreKinds: [fakeVault] });

const removedItem = (uuid = itemUuid, vault = vaultUuid) =>
  ({ type: 'shared_vault_item_removed', vaultUuid: vault, itemUuid: uuid }) as const;
const selfRemoved = { type: 'self_removed_from_shared_vault', vaultUuid } as const;

const notifications = async (device: Device) => (await device.sync()).notifications;
const subjects = (list: readonly { payload: string }[]) =>
  list.map(({ payload }) => {
    const { type, secondaryIdentifier: other } = JSON.parse(payload);
    return other === undefined ? type : `${type} ${other}`;
  });
const all = async (device: Device) => subjects((await device.sync({ sync_token: null })).notifications);

const invite = (more: object = {}) => ({
  uuid: inviteUuid,
  shared_vault_uuid: vaultUuid,
  user_uuid: uuidNumber(1),
  sender_uuid: uuidNumber(2),
  encrypted_message: '004:invite',
  permission: 'read' as const,
  created_at_timestamp: 5,
  updated_at_timestamp: 5,
  ...more,
});

test('notifications say what clients look for, under the names that clients know', async (t) => {
  const server = await withVaults(t);
  const device = await server.device();
  const { userUuid } = device.account;
  const userOther = uuidNumber(0xe);
  const expected = [
    [removedItem(), { secondaryIdentifier: itemUuid, secondaryIdentifierType: 'item_uuid' }],
    [selfRemoved, {}],
    [{ type: 'user_removed_from_shared_vault', vaultUuid }, {}],
    [{ type: 'user_added_to_shared_vault', vaultUuid }, {}],
    [
      { type: 'user_designated_as_survivor', vaultUuid, userUuid: userOther },
      { secondaryIdentifier: userOther, secondaryIdentifierType: 'user_uuid' },
    ],
    [
      { type: 'shared_vault_invite_canceled', vaultUuid, inviteUuid },
      {
        primaryIdentifier: inviteUuid,
        primaryIndentifierType: 'shared_vault_invite_uuid',
        secondaryIdentifier: vaultUuid,
        secondaryIdentifierType: 'shared_vault_uuid',
      },
    ],
    [{ type: 'shared_vault_file_uploaded', vaultUuid }, {}],
    [{ type: 'shared_vault_file_removed', vaultUuid }, {}],
  ] as const;
  for (const [subject, more] of expected) {
    await tellUser(server, userUuid, 'notified', { subject, at: 1 });
    const [received, ...others] = await notifications(device);
    t.deepEqual(others, []);
    t.like(received, { user_uuid: userUuid, type: subject.type });
    t.is(received?.created_at_timestamp, received?.updated_at_timestamp);
    t.deepEqual(JSON.parse(received?.payload ?? ''), {
      version: '1.0',
      type: subject.type,
      primaryIdentifier: vaultUuid,
      primaryIndentifierType: 'shared_vault_uuid',
      ...more,
    });
  }
  t.is((await all(device)).length, expected.length);
  t.deepEqual(await notifications(device), []);
});

test('a notification about the same replaces the one before it, under another uuid', async (t) => {
  const server = await withVaults(t);
  const device = await server.device();
  const { userUuid } = device.account;
  await tellUser(server, userUuid, 'notified', { subject: removedItem(), at: 3 });
  await tellUser(server, userUuid, 'notified', { subject: removedItem(uuidNumber(1)), at: 4 });
  const [first] = await notifications(device);
  await tellUser(server, userUuid, 'notified', { subject: removedItem(), at: 5 });
  const [again] = await notifications(device);
  t.not(again?.uuid, first?.uuid);
  t.is(again?.payload, first?.payload);
  t.deepEqual(await all(device), [
    `shared_vault_item_removed ${uuidNumber(1)}`,
    `shared_vault_item_removed ${itemUuid}`,
  ]);
});

test('a removal is forgotten once the item is there again, no matter which is told first', async (t) => {
  const server = await withVaults(t);
  const device = await server.device();
  const { userUuid } = device.account;
  const back = { vaultUuid, itemUuids: [itemUuid], byYou: false };
  await tellUser(server, userUuid, 'notified', { subject: removedItem(), at: 3 });
  await tellUser(server, userUuid, 'notified', { subject: removedItem(uuidNumber(1)), at: 3 });
  await tellUser(server, userUuid, 'notified', { subject: removedItem(itemUuid, otherVaultUuid), at: 3 });
  await tellUser(server, userUuid, 'itemsRejoined', { ...back, at: 4 });
  const others = [`shared_vault_item_removed ${uuidNumber(1)}`, `shared_vault_item_removed ${itemUuid}`];
  t.deepEqual(await all(device), others);
  await tellUser(server, userUuid, 'notified', { subject: removedItem(), at: 3 });
  t.deepEqual(await all(device), others);
  await tellUser(server, userUuid, 'notified', { subject: removedItem(), at: 6 });
  await tellUser(server, userUuid, 'itemsRejoined', { ...back, at: 5 });
  t.deepEqual(await all(device), [...others, `shared_vault_item_removed ${itemUuid}`]);
});

test('a member who puts an item into a vault is told no more of any item that was removed', async (t) => {
  const server = await withVaults(t);
  const device = await server.device();
  const { userUuid } = device.account;
  for (const subject of [removedItem(), removedItem(uuidNumber(1), otherVaultUuid), selfRemoved]) {
    await tellUser(server, userUuid, 'notified', { subject, at: 3 });
  }
  const back = { vaultUuid, itemUuids: [itemUuid], byYou: true, at: 4 };
  await tellUser(server, userUuid, 'itemsRejoined', back);
  t.deepEqual(await all(device), [selfRemoved.type]);
});

test('nor of one that was there again before, which is told last', async (t) => {
  const server = await withVaults(t);
  const device = await server.device();
  const { userUuid } = device.account;
  const other = uuidNumber(1);
  await tellUser(server, userUuid, 'itemsRejoined', { vaultUuid, itemUuids: [other], byYou: false, at: 4 });
  await tellUser(server, userUuid, 'itemsRejoined', { vaultUuid, itemUuids: [itemUuid], byYou: true, at: 5 });
  await tellUser(server, userUuid, 'notified', { subject: removedItem(other), at: 3 });
  t.deepEqual(await all(device), []);
});

test('a user who is a member again is not told of having been removed', async (t) => {
  const server = await withVaults(t);
  const device = await server.device();
  const { userUuid } = device.account;
  await tellUser(server, userUuid, 'notified', { subject: selfRemoved, at: 3 });
  await tellUser(server, userUuid, 'rejoined', { vaultUuid, at: 4 });
  t.deepEqual(await all(device), []);
  await tellUser(server, userUuid, 'notified', { subject: selfRemoved, at: 5 });
  t.deepEqual(await all(device), [selfRemoved.type]);
});

test('a thousand notifications are kept, the newest ones', async (t) => {
  const server = await withVaults(t);
  const device = await server.device();
  const { userUuid } = device.account;
  const itemUuids = Array.from({ length: 999 }, (_, n) => uuidNumber(n + 100));
  // A cleared notification takes a place, too.
  await tellUser(server, userUuid, 'itemsRejoined', { vaultUuid, itemUuids, byYou: false, at: 1 });
  await tellUser(server, userUuid, 'notified', { subject: selfRemoved, at: 2 });
  t.is(server.host.database.sizes.get('inbox_notification'), 1_000);
  for (let n = 0; n < 5; n += 1) {
    await tellUser(server, userUuid, 'notified', { subject: removedItem(uuidNumber(n)), at: 3 });
  }
  t.is(server.host.database.sizes.get('inbox_notification'), 1_000);
  t.is((await all(device)).length, 6);
  // A repeated one moves, and none is lost because of it.
  await tellUser(server, userUuid, 'notified', { subject: removedItem(itemUuids[5]), at: 4 });
  t.is(server.host.database.sizes.get('inbox_notification'), 1_000);
});

test('a member who puts many items into a vault at once keeps a thousand notifications, too', async (t) => {
  const server = await withVaults(t);
  const device = await server.device();
  const { userUuid } = device.account;
  const uuids = (count: number, from: number) =>
    Array.from({ length: count }, (_, n) => uuidNumber(from + n));
  const back = (itemUuids: readonly string[], byYou: boolean, at: number) =>
    tellUser(server, userUuid, 'itemsRejoined', { vaultUuid, itemUuids, byYou, at });
  await tellUser(server, userUuid, 'itemsRemoved', { vaultUuid, itemUuids: uuids(10, 100), at: 1 });
  await back(uuids(990, 200), false, 2);
  t.is(server.host.database.sizes.get('inbox_notification'), 1_000);
  await back(uuids(30, 2_000), true, 3);
  t.is(server.host.database.sizes.get('inbox_notification'), 1_000);
  await tellUser(server, userUuid, 'notified', { subject: selfRemoved, at: 4 });
  t.is(server.host.database.sizes.get('inbox_notification'), 1_000);
  t.deepEqual(await all(device), [selfRemoved.type]);
});

test('inbound invites are listed and given by syncs, as they were changed last, until they are gone', async (t) => {
  const server = await withVaults(t);
  const device = await server.device();
  const { userUuid } = device.account;
  await device.sync({ items: [note()] });
  const invites = async () => (await device.sync()).shared_vault_invites;
  const first = invite({ user_uuid: userUuid });
  await tellUser(server, userUuid, 'invited', { invite: first, isNew: true });
  t.deepEqual(await invites(), [first]);
  t.deepEqual(await invites(), []);
  const changed = { ...first, permission: 'admin' as const, updated_at_timestamp: 7 };
  await tellUser(server, userUuid, 'invited', { invite: changed, isNew: false });
  await tellUser(server, userUuid, 'invited', {
    invite: { ...first, updated_at_timestamp: 6 },
    isNew: false,
  });
  t.deepEqual(await invites(), [changed]);
  await tellUser(server, userUuid, 'inviteGone', { vaultUuid, inviteUuid: uuidNumber(0xff) });
  t.deepEqual((await device.sync({ sync_token: null })).shared_vault_invites, [changed]);
  await tellUser(server, userUuid, 'inviteGone', { vaultUuid, inviteUuid });
  t.deepEqual((await device.sync({ sync_token: null })).shared_vault_invites, []);
  // The tell of the invite itself may come last.
  await tellUser(server, userUuid, 'invited', { invite: changed, isNew: true });
  t.deepEqual((await device.sync({ sync_token: null })).shared_vault_invites, []);
});

test('sockets are told of notifications and new invites, and clients of the old protocol of nothing', async (t) => {
  const server = await withVaults(t);
  const device = await server.device();
  const { userUuid } = device.account;
  const socket = await device.socket(t);
  await tellUser(server, userUuid, 'notified', { subject: selfRemoved, at: 1 });
  await tellUser(server, userUuid, 'invited', { invite: invite(), isNew: true });
  await tellUser(server, userUuid, 'invited', {
    invite: invite({ updated_at_timestamp: 6 }),
    isNew: false,
  });
  const large = invite({
    uuid: uuidNumber(3),
    updated_at_timestamp: 8,
    encrypted_message: 'x'.repeat(20_000),
  });
  await tellUser(server, userUuid, 'invited', { invite: large, isNew: true });
  const frames = (await socket.received(3)).map((text) => JSON.parse(text));
  const { notifications: received } = await device.sync();
  t.like(frames[0], { type: 'NOTIFICATION_ADDED_FOR_USER', payload: { notification: received[0] } });
  t.like(frames[1], { type: 'USER_INVITED_TO_SHARED_VAULT', payload: { invite: invite() } });
  t.is(frames[2].type, 'ITEMS_CHANGED_ON_SERVER');
  t.is(socket.texts.length, 3);
  const legacy = accepted(await device.send({ api: '20161215', sync_token: null }));
  t.deepEqual(Object.keys(legacy).toSorted(), ['retrieved_items', 'saved_items', 'sync_token', 'unsaved']);
  t.is((await device.sync({ sync_token: legacy.sync_token })).notifications.length, 1);
});

test('pages give the inbox once, and what comes while a client turns them', async (t) => {
  const server = await withVaults(t);
  const device = await server.device();
  const { userUuid } = device.account;
  for (let n = 1; n <= 4; n += 1) await device.save(note({ uuid: uuidNumber(n) }));
  await tellUser(server, userUuid, 'notified', { subject: removedItem(uuidNumber(1)), at: 1 });
  const first = await device.sync({ limit: 1 });
  t.is(first.notifications.length, 1);
  t.truthy(first.cursor_token);
  await tellUser(server, userUuid, 'notified', { subject: removedItem(uuidNumber(2)), at: 2 });
  const second = await device.sync({ limit: 1, cursor_token: first.cursor_token });
  t.deepEqual(subjects(second.notifications), [`shared_vault_item_removed ${uuidNumber(2)}`]);
  const third = await device.sync({ limit: 150, cursor_token: second.cursor_token });
  t.deepEqual([third.notifications.length, third.retrieved_items.length], [0, 2]);
  t.deepEqual((await device.sync()).notifications, []);
  t.is((await device.sync({ sync_token: second.sync_token })).notifications.length, 0);
});

test('a sync of vaults alone gives the whole inbox without a token, and moves past nothing', async (t) => {
  const server = await withVaults(t);
  const device = await server.device();
  const { userUuid } = device.account;
  await device.save();
  await tellUser(server, userUuid, 'notified', { subject: removedItem(), at: 1 });
  const { sync_token } = await device.sync();
  const request = { sync_token: null, shared_vault_uuids: [vaultUuid] };
  const exclusive = await device.sync(request);
  t.is(exclusive.notifications.length, 1);
  t.deepEqual((await device.sync(request)).notifications, exclusive.notifications);
  const next = await device.sync({ ...request, sync_token: exclusive.sync_token });
  t.deepEqual(next.notifications, []);
  t.is((await device.sync({ sync_token: next.sync_token })).retrieved_items.length, 1);
  t.deepEqual((await device.sync({ sync_token })).notifications, []);
});
