/** Tells come in any order, and also to users who are gone. */
import test from 'ava';
import { defaultItemSettings } from '../../../actors/collection/settings.ts';
import { bob } from '../../kit/account.ts';
import { fakeVault, tellUser } from '../../kit/fake-vault.ts';
import { note, uuidNumber } from '../../kit/items.ts';
import { startServer } from '../../kit/server.ts';
import { accept, invite, join, makeVault } from '../../kit/vaults.ts';

const senderUuid = uuidNumber(0xa);

const message = (n: number, recipient: string, identifier: string | null = 'same') => ({
  uuid: uuidNumber(n),
  recipient_uuid: recipient,
  sender_uuid: senderUuid,
  encrypted_message: `message ${n}`,
  replaceability_identifier: identifier,
  created_at_timestamp: n,
  updated_at_timestamp: n,
});

test('the last sent of messages that replace each other stays, in whichever order they come', async (t) => {
  const server = await startServer(t, { moreKinds: [fakeVault] });
  const orders = [
    [1, 2, 3],
    [1, 3, 2],
    [2, 1, 3],
    [2, 3, 1],
    [3, 1, 2],
    [3, 2, 1],
  ];
  for (const [index, order] of orders.entries()) {
    const device = await server.device(`user-${index}@example.org`);
    const { userUuid } = device.account;
    for (const n of order) {
      const replaces = n === 1 ? {} : { replaces: uuidNumber(n - 1) };
      await tellUser(server, userUuid, 'messageSent', { message: message(n, userUuid), ...replaces });
    }
    const { messages } = await device.sync();
    t.deepEqual(
      messages.map(({ encrypted_message: text }) => text),
      ['message 3'],
      `${order}`,
    );
  }
});

test('a message that was replaced and read meanwhile does not come back', async (t) => {
  const server = await startServer(t, { moreKinds: [fakeVault] });
  const device = await server.device();
  const { userUuid } = device.account;
  const second = { message: message(2, userUuid), replaces: uuidNumber(1) };
  await tellUser(server, userUuid, 'messageSent', second);
  await device.call('DELETE', '/v1/messages/inbound');
  await tellUser(server, userUuid, 'messageSent', { message: message(1, userUuid) });
  t.deepEqual((await device.sync()).messages, []);
});

test('a message that its sender has deleted before it came does not come', async (t) => {
  const server = await startServer(t, { moreKinds: [fakeVault] });
  const device = await server.device();
  const { userUuid } = device.account;
  await tellUser(server, userUuid, 'messagesWithdrawn', { uuids: [uuidNumber(1)] });
  await tellUser(server, userUuid, 'messageSent', { message: message(1, userUuid, null) });
  await tellUser(server, userUuid, 'messageSent', { message: message(2, userUuid, null) });
  t.deepEqual(
    (await device.sync()).messages.map(({ uuid }) => uuid),
    [uuidNumber(2)],
  );
});

test('a user who was let in and out before hearing of either does not wait to be let in for good', async (t) => {
  const server = await startServer(t, { moreKinds: [fakeVault], vaults: { vaultsMax: 1 } });
  const alice = await server.device();
  const bobs = await server.device(bob.email);
  const { userUuid } = bobs.account;
  const vault = await makeVault(alice);
  const inviteUuid = await invite(alice, vault, userUuid);
  const left = { vaultUuid: vault, membership: Number.MAX_SAFE_INTEGER, at: 1 };
  await tellUser(server, userUuid, 'left', left);
  t.is((await accept(bobs, vault, inviteUuid)).status, 200);
  t.is(typeof (await makeVault(bobs)), 'string');
});

test('nothing is kept for a user who is gone or never was', async (t) => {
  const server = await startServer(t, { moreKinds: [fakeVault] });
  const device = await server.device(bob.email);
  const { userUuid, password } = device.account;
  const headers = { 'x-server-password': password };
  await device.call('DELETE', `/v1/users/${userUuid}`, { headers });
  const rows = () =>
    ['inbox_message', 'inbox_notification', 'inbox_invite', 'outbox']
      .map((table) => server.host.database.sizes.get(table) ?? 0)
      .reduce((sum, size) => sum + size, 0);
  for (const to of [userUuid, uuidNumber(0xdead)]) {
    await tellUser(server, to, 'messageSent', { message: message(1, to) });
    const subject = { type: 'self_removed_from_shared_vault', vaultUuid: uuidNumber(1) } as const;
    await tellUser(server, to, 'notified', { subject, at: 1 });
  }
  await server.advance(20_000);
  t.is(rows(), 0);
});

test('a user who hears late of being let in is given the vault, even with all of their own items', async (t) => {
  const server = await startServer(t, { moreKinds: [fakeVault] });
  const alice = await server.device();
  const bobs = await server.device(bob.email);
  const { userUuid } = bobs.account;
  await bobs.save();
  const vault = await makeVault(alice);
  await join(alice, vault, bobs);
  await tellUser(server, userUuid, 'left', { vaultUuid: vault, membership: 1_000, at: 1 });
  t.deepEqual((await bobs.sync()).shared_vaults, []);
  const token = bobs.syncToken;
  await tellUser(server, userUuid, 'joined', { vaultUuid: vault, membership: 1_001 });
  const { shared_vaults: received } = await bobs.sync();
  t.deepEqual(
    received.map(({ uuid }) => uuid),
    [vault],
  );
  // Bob's own collection is unchanged: only the memberships have changed.
  const ownMarkOf = (text: string | null) =>
    Buffer.from(text ?? '', 'base64url')
      .toString()
      .split(':')[1];
  t.is(ownMarkOf(bobs.syncToken), ownMarkOf(token));
});

for (const { later, pauseMs } of [
  { later: 'a later save', pauseMs: 600_000 },
  { later: 'a save in the same millisecond', pauseMs: 0 },
]) {
  test(`a deletion in a vault that the owner hears of late takes no revision of ${later}`, async (t) => {
    const items = { revisions: { ...defaultItemSettings.revisions, pauseMs: 0 } };
    const server = await startServer(t, { moreKinds: [fakeVault], items });
    const alice = await server.device();
    const vault = await makeVault(alice);
    const inVault = { shared_vault_uuid: vault, key_system_identifier: 'system' };
    let version = 0;
    const save = async (fields: object, thenMs = 600_000) => {
      const { saved_items: saved } = await alice.save(note({ ...fields, updated_at_timestamp: version }));
      version = saved[0]?.updated_at_timestamp ?? t.fail();
      await server.advance(thenMs);
    };
    await save({ content: 'before' });
    await save({ ...inVault, content: 'there' });
    await save({ ...inVault, deleted: true }, pauseMs);
    const deletedMicros = version;
    await save({ ...inVault, content: 'again' }, pauseMs);
    await save({ content: 'home' });
    await save({ content: 'home, and edited' });
    const history = async () =>
      (await alice.call('GET', `/v2/items/${uuidNumber(1)}/revisions`)).body.revisions.length;
    t.is(await history(), 3);
    const item = { itemUuid: uuidNumber(1), revisions: 5, isDuplicate: false };
    const { userUuid } = alice.account;
    await tellUser(server, userUuid, 'deletedElsewhere', { items: [{ ...item, deletedMicros }] });
    t.is(await history(), 3);
  });
}
