/** Shared vaults, as their members see them over HTTP. */
import test from 'ava';
import type { Device } from '../../kit/device.ts';
import { startServer } from '../../kit/server.ts';
import { accept, invite, join, makeVault, startSharedVault, vaults } from '../../kit/vaults.ts';

const uuidOf = (device: Device) => device.account.userUuid;
const listed = async (device: Device): Promise<string[]> =>
  (await device.call('GET', vaults)).body.sharedVaults.map(({ uuid }: { uuid: string }) => uuid);

async function notified(device: Device): Promise<string[]> {
  const { notifications } = await device.sync({ sync_token: null });
  return notifications.map(({ type }) => type);
}

test('the maker of a vault owns it and is its first member', async (t) => {
  const server = await startServer(t);
  const alice = await server.device();
  t.deepEqual((await alice.call('GET', vaults)).body, { sharedVaults: [], designatedSurvivors: [] });
  const { status, body } = await alice.call('POST', vaults);
  t.is(status, 200);
  const { sharedVault, sharedVaultUser, ...rest } = body;
  t.deepEqual(rest, {});
  const { uuid, created_at_timestamp: at } = sharedVault;
  t.deepEqual(sharedVault, {
    uuid,
    user_uuid: uuidOf(alice),
    file_upload_bytes_used: 0,
    created_at_timestamp: at,
    updated_at_timestamp: at,
  });
  t.deepEqual(sharedVaultUser, {
    uuid: sharedVaultUser.uuid,
    shared_vault_uuid: uuid,
    user_uuid: uuidOf(alice),
    permission: 'admin',
    is_designated_survivor: false,
    created_at_timestamp: at,
    updated_at_timestamp: at,
  });
  const answer = await alice.call('GET', `${vaults}/`);
  t.deepEqual(answer.body, { sharedVaults: [sharedVault], designatedSurvivors: [] });
  t.deepEqual((await alice.call('GET', `${vaults}/${uuid}/users/`)).body, { users: [sharedVaultUser] });
  const bob = await server.device('bob@example.org');
  t.deepEqual(await listed(bob), []);
  await server.advance(3_000);
  t.deepEqual(await notified(alice), ['user_added_to_shared_vault']);
});

test('an invite reaches the invitee, and lets them in once they accept it', async (t) => {
  const server = await startServer(t);
  const alice = await server.device();
  const bob = await server.device('bob@example.org');
  const vault = await makeVault(alice);
  const body = { recipient_uuid: uuidOf(bob), encrypted_message: 'c2VjcmV0', permission: 'read' };
  const sent = await alice.call('POST', `${vaults}/${vault}/invites`, { body });
  t.is(sent.status, 200);
  const { uuid, created_at_timestamp: at } = sent.body.invite;
  t.deepEqual(sent.body, {
    invite: {
      uuid,
      shared_vault_uuid: vault,
      user_uuid: uuidOf(bob),
      sender_uuid: uuidOf(alice),
      encrypted_message: 'c2VjcmV0',
      permission: 'read',
      created_at_timestamp: at,
      updated_at_timestamp: at,
    },
  });
  const { invite } = sent.body;
  await server.advance(3_000);
  const invites = async (device: Device, path: string) =>
    (await device.call('GET', `${vaults}/${path}`)).body;
  t.deepEqual(await invites(bob, 'invites'), { invites: [invite] });
  t.deepEqual(await invites(bob, 'invites/outbound'), { invites: [] });
  t.deepEqual(await invites(alice, 'invites'), { invites: [] });
  t.deepEqual(await invites(alice, 'invites/outbound/'), { invites: [invite] });
  t.deepEqual(await invites(alice, `${vault}/invites`), { invites: [invite] });
  t.deepEqual(await invites(bob, `${vault}/invites`), { invites: [] });
  t.deepEqual((await bob.sync({ sync_token: null })).shared_vault_invites, [invite]);
  t.deepEqual(await listed(bob), []);

  const answer = await accept(bob, vault, uuid);
  t.is(answer.status, 200);
  t.deepEqual(answer.body, { success: true });
  t.deepEqual(await listed(bob), [vault]);
  t.deepEqual(await invites(bob, 'invites'), { invites: [] });
  t.deepEqual(await invites(alice, 'invites/outbound'), { invites: [] });
  const again = await accept(bob, vault, uuid);
  t.deepEqual([again.status, again.body], [200, { success: true }]);
  const { users } = (await bob.call('GET', `${vaults}/${vault}/users`)).body;
  t.deepEqual(
    users.map(({ user_uuid, permission }: Record<string, string>) => [user_uuid, permission]),
    [
      [uuidOf(alice), 'admin'],
      [uuidOf(bob), 'read'],
    ],
  );
  await server.advance(3_000);
  t.deepEqual(await notified(bob), ['user_added_to_shared_vault']);
  t.deepEqual(await notified(alice), ['user_added_to_shared_vault']);
});

test('a new invite takes the place of the one before, and a changed one comes again', async (t) => {
  const server = await startServer(t);
  const alice = await server.device();
  const bob = await server.device('bob@example.org');
  const vault = await makeVault(alice);
  const first = await invite(alice, vault, uuidOf(bob));
  const second = await invite(alice, vault, uuidOf(bob), 'admin');
  t.not(first, second);
  await server.advance(3_000);
  await bob.sync({ sync_token: null });
  const body = { encrypted_message: 'b3RoZXI=' };
  const changed = await alice.call('PATCH', `${vaults}/${vault}/invites/${second}`, { body });
  t.like(changed.body.invite, { uuid: second, encrypted_message: 'b3RoZXI=', permission: 'admin' });
  await server.advance(3_000);
  t.deepEqual((await bob.sync()).shared_vault_invites, [changed.body.invite]);
  t.is((await accept(bob, vault, first)).status, 400);
  t.is((await accept(bob, vault, second)).status, 200);
});

test('a member who is removed or leaves has lost the vault at once, and all members are told', async (t) => {
  const { server, alice, bob, vault } = await startSharedVault(t);
  const carol = await server.device('carol@example.org');
  await join(alice, vault, carol);
  const member = (device: Device) => `${vaults}/${vault}/users/${uuidOf(device)}`;
  const removed = await alice.call('DELETE', member(bob));
  t.deepEqual([removed.status, removed.body], [200, { success: true }]);
  t.deepEqual(await listed(bob), []);
  t.is((await bob.call('GET', `${vaults}/${vault}/users`)).status, 400);
  t.is((await carol.call('DELETE', member(carol))).status, 200);
  t.deepEqual(await listed(carol), []);
  await server.advance(3_000);
  t.deepEqual(await notified(bob), ['user_added_to_shared_vault', 'self_removed_from_shared_vault']);
  t.deepEqual((await notified(alice)).sort(), [
    'user_added_to_shared_vault',
    'user_removed_from_shared_vault',
  ]);

  await join(alice, vault, bob, 'admin');
  t.deepEqual(await listed(bob), [vault]);
  t.false((await notified(bob)).includes('self_removed_from_shared_vault'));
  await server.advance(3_000);
  t.deepEqual(await listed(bob), [vault]);
});

test('declined, cancelled or all at once: an invite is gone for both, and the invitee is told', async (t) => {
  const server = await startServer(t);
  const alice = await server.device();
  const bob = await server.device('bob@example.org');
  const one = await makeVault(alice);
  const other = await makeVault(alice);
  const inbound = async () => (await bob.call('GET', `${vaults}/invites`)).body.invites.length;
  const outbound = async () => (await alice.call('GET', `${vaults}/invites/outbound`)).body.invites.length;
  const ways: readonly (readonly [Device, string, (inviteUuid: string) => string])[] = [
    [bob, 'POST', (uuid) => `${one}/invites/${uuid}/decline`],
    [bob, 'DELETE', (uuid) => `${one}/invites/${uuid}`],
    [alice, 'POST', (uuid) => `${one}/invites/${uuid}/decline`],
    [alice, 'DELETE', (uuid) => `${one}/invites/${uuid}`],
    [alice, 'DELETE', () => `${one}/invites`],
    [alice, 'DELETE', () => 'invites/outbound'],
    [bob, 'DELETE', () => 'invites/inbound'],
  ];
  for (const [device, method, path] of ways) {
    const uuid = await invite(alice, one, uuidOf(bob));
    await server.advance(3_000);
    t.is(await inbound(), 1);
    const answer = await device.call(method, `${vaults}/${path(uuid)}`);
    t.deepEqual([answer.status, answer.body], [200, { success: true }]);
    t.is(await outbound(), 0);
    if (device === bob) t.is(await inbound(), 0);
    await server.advance(3_000);
    t.is(await inbound(), 0);
    const { notifications } = await bob.sync({ sync_token: null });
    const ofVault = notifications.filter(({ payload }) => JSON.parse(payload).primaryIdentifier === uuid);
    t.is(ofVault.length, 1);
    t.is(ofVault[0]?.type, 'shared_vault_invite_canceled');
  }
  await invite(alice, one, uuidOf(bob));
  await invite(alice, other, uuidOf(bob));
  await server.advance(3_000);
  t.is(await inbound(), 2);
  t.is((await bob.call('DELETE', `${vaults}/invites/inbound`)).status, 200);
  t.deepEqual([await inbound(), await outbound()], [0, 0]);
});

test('a vault that is deleted has ended for everybody', async (t) => {
  const { server, alice, bob, vault } = await startSharedVault(t, { permission: 'admin' });
  const carol = await server.device('carol@example.org');
  const pending = await invite(alice, vault, uuidOf(carol));
  t.is((await bob.call('DELETE', `${vaults}/${vault}`)).status, 400);
  const answer = await alice.call('DELETE', `${vaults}/${vault}`);
  t.deepEqual([answer.status, answer.body], [200, { success: true }]);
  for (const device of [alice, bob, carol]) {
    t.deepEqual(await listed(device), []);
    t.is((await device.call('GET', `${vaults}/${vault}/users`)).status, 400);
  }
  t.is((await accept(carol, vault, pending)).status, 400);
  await server.advance(3_000);
  t.deepEqual((await carol.call('GET', `${vaults}/invites`)).body, { invites: [] });
  t.deepEqual(await notified(carol), ['shared_vault_invite_canceled']);
  for (const device of [alice, bob]) {
    t.deepEqual(await notified(device), ['user_added_to_shared_vault', 'self_removed_from_shared_vault']);
  }
  t.is((await alice.call('DELETE', `${vaults}/${vault}`)).status, 400);
});

test('an admin designates the survivor, and the owner is told', async (t) => {
  const { server, alice, bob, vault } = await startSharedVault(t, { permission: 'admin' });
  const carol = await server.device('carol@example.org');
  await join(alice, vault, carol);
  const designate = (by: Device, whom: Device) =>
    by.call('POST', `${vaults}/${vault}/users/${uuidOf(whom)}/designate-survivor`);
  const survivors = async (device: Device) => (await device.call('GET', vaults)).body.designatedSurvivors;
  t.deepEqual((await designate(bob, carol)).body, { success: true });
  t.deepEqual(await survivors(carol), [{ sharedVaultUuid: vault, userUuid: uuidOf(carol) }]);
  t.is((await designate(carol, bob)).status, 400);
  t.is((await designate(alice, alice)).status, 400);
  t.is((await designate(alice, bob)).status, 200);
  t.deepEqual(await survivors(alice), [{ sharedVaultUuid: vault, userUuid: uuidOf(bob) }]);
  const { users } = (await alice.call('GET', `${vaults}/${vault}/users`)).body;
  t.deepEqual(
    users.map((each: Record<string, unknown>) => each['is_designated_survivor']),
    [false, true, false],
  );
  await server.advance(3_000);
  const { notifications } = await alice.sync({ sync_token: null });
  const designations = notifications.filter(({ type }) => type === 'user_designated_as_survivor');
  t.deepEqual(
    designations.map(({ payload }) => JSON.parse(payload).secondaryIdentifier),
    [uuidOf(carol), uuidOf(bob)],
  );
  t.is((await alice.call('DELETE', `${vaults}/${vault}/users/${uuidOf(bob)}`)).status, 200);
  t.deepEqual(await survivors(alice), []);
});
