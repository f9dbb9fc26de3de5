/** Every command from every kind of caller, whatever has become of them or of the vault. */
import test from 'ava';
import { UserAdministration } from '../../../actors/user/operator-contract.ts';
import { type Device, deleteAccount } from '../../kit/device.ts';
import type { Answer } from '../../kit/http.ts';
import { startServer, type TestServer } from '../../kit/server.ts';
import { accept, invite, join, makeVault, rowsOf, vaults } from '../../kit/vaults.ts';

const roles = ['owner', 'admin', 'writer', 'reader', 'invited', 'removed', 'stranger'] as const;
type Role = (typeof roles)[number];

interface Scene {
  readonly server: TestServer;
  readonly devices: Readonly<Record<Role | 'target' | 'guest', Device>>;
  readonly vault: string;
  /** To the invited user. */
  readonly pending: string;
  /** To a guest whom nobody else here knows. */
  readonly other: string;
}

const uuidOf = ({ account }: Device) => account.userUuid;

async function startScene(server: TestServer, round: number): Promise<Scene> {
  const named = async (name: string) => [name, await server.device(`${name}-${round}@example.org`)] as const;
  const entries = await Promise.all([...roles, 'target', 'guest'].map(named));
  const devices = Object.fromEntries(entries) as Scene['devices'];
  const { owner, admin, writer, reader, invited, removed, target, guest } = devices;
  const vault = await makeVault(owner);
  await join(owner, vault, admin, 'admin');
  await join(owner, vault, writer, 'write');
  await join(owner, vault, reader, 'read');
  await join(owner, vault, target, 'write');
  await join(owner, vault, removed, 'admin');
  await owner.call('DELETE', `${vaults}/${vault}/users/${uuidOf(removed)}`);
  const pending = await invite(owner, vault, uuidOf(invited));
  const other = await invite(owner, vault, uuidOf(guest));
  return { server, devices, vault, pending, other };
}

const fields = { encrypted_message: 'c2VjcmV0', permission: 'write' };

/** The requests that get a 200 for each caller; everything else gets a 400. */
const commands: Readonly<Record<string, { readonly by: readonly Role[]; readonly call: Call }>> = {
  'list the members': {
    by: ['owner', 'admin', 'writer', 'reader'],
    call: (device, { vault }) => device.call('GET', `${vaults}/${vault}/users`),
  },
  'remove a member': {
    by: ['owner'],
    call: (device, { vault, devices }) =>
      device.call('DELETE', `${vaults}/${vault}/users/${uuidOf(devices.target)}`),
  },
  leave: {
    by: ['admin', 'writer', 'reader'],
    call: (device, { vault }) => device.call('DELETE', `${vaults}/${vault}/users/${uuidOf(device)}`),
  },
  'remove the owner': {
    by: [],
    call: (device, { vault, devices }) =>
      device.call('DELETE', `${vaults}/${vault}/users/${uuidOf(devices.owner)}`),
  },
  'remove who is no member': {
    by: [],
    call: (device, { vault, devices }) =>
      device.call('DELETE', `${vaults}/${vault}/users/${uuidOf(devices.invited)}`),
  },
  'designate a survivor': {
    by: ['owner', 'admin'],
    call: (device, { vault, devices }) =>
      device.call('POST', `${vaults}/${vault}/users/${uuidOf(devices.target)}/designate-survivor`),
  },
  'designate who is no member': {
    by: [],
    call: (device, { vault, devices }) =>
      device.call('POST', `${vaults}/${vault}/users/${uuidOf(devices.stranger)}/designate-survivor`),
  },
  invite: {
    by: ['owner'],
    call: (device, { vault }) =>
      device.call('POST', `${vaults}/${vault}/invites`, {
        body: { ...fields, recipient_uuid: crypto.randomUUID() },
      }),
  },
  'invite who is a member': {
    by: [],
    call: (device, { vault, devices }) =>
      device.call('POST', `${vaults}/${vault}/invites`, {
        body: { ...fields, recipient_uuid: uuidOf(devices.target) },
      }),
  },
  'change an invite': {
    by: ['owner'],
    call: (device, { vault, other }) =>
      device.call('PATCH', `${vaults}/${vault}/invites/${other}`, { body: fields }),
  },
  'accept an invite': {
    // A member has already accepted one.
    by: ['owner', 'admin', 'writer', 'reader', 'invited'],
    call: (device, { vault, pending }) => accept(device, vault, pending),
  },
  'accept the invite of another': {
    by: ['owner', 'admin', 'writer', 'reader'],
    call: (device, { vault, other }) => accept(device, vault, other),
  },
  'decline an invite': {
    by: ['owner', 'invited'],
    call: (device, { vault, pending }) =>
      device.call('POST', `${vaults}/${vault}/invites/${pending}/decline`),
  },
  'delete the invite of another': {
    by: ['owner'],
    call: (device, { vault, other }) => device.call('DELETE', `${vaults}/${vault}/invites/${other}`),
  },
  'delete the vault': {
    by: ['owner'],
    call: (device, { vault }) => device.call('DELETE', `${vaults}/${vault}`),
  },
};
type Call = (device: Device, scene: Scene) => Promise<Answer>;

for (const [what, { by, call }] of Object.entries(commands)) {
  test(`${what}: ${by.length === 0 ? 'nobody may' : `${by.join(', ')} may`}`, async (t) => {
    const server = await startServer(t);
    // Each in a separate vault if it may change something.
    const shared = await startScene(server, 0);
    const refusals = new Set<string>();
    for (const [index, role] of roles.entries()) {
      const scene = by.includes(role) && role !== 'owner' ? await startScene(server, index + 1) : shared;
      if (role === 'owner') continue;
      const before = await rowsOf(server, scene.vault);
      const { status, body } = await call(scene.devices[role], scene);
      t.is(status, by.includes(role) ? 200 : 400, role);
      if (status === 400) t.deepEqual(await rowsOf(server, scene.vault), before, role);
      if (status === 400 && role === 'stranger') refusals.add(body.error.message);
    }
    const owned = await call(shared.devices.owner, shared);
    t.is(owned.status, by.includes('owner') ? 200 : 400);
    const nowhere = { ...shared, vault: crypto.randomUUID() };
    const { status, body } = await call(shared.devices.stranger, nowhere);
    t.is(status, 400);
    refusals.add(body.error.message);
    t.is(refusals.size, 1, 'a stranger learns whether there is such a vault');
    for (const vault of ['nothing', `${shared.vault}0`]) {
      t.is((await call(shared.devices.owner, { ...shared, vault })).status, 400);
    }
  });
}

test('nobody may do anything in a vault that has ended', async (t) => {
  const server = await startServer(t);
  const scene = await startScene(server, 0);
  await scene.devices.owner.call('DELETE', `${vaults}/${scene.vault}`);
  for (const hasVanished of [false, true]) {
    for (const [what, { call }] of Object.entries(commands)) {
      for (const role of ['owner', 'admin', 'invited', 'stranger'] as const) {
        t.is((await call(scene.devices[role], scene)).status, 400, `${what} ${role} ${hasVanished}`);
      }
    }
    await server.advance(1_000_000);
  }
});

test('a read-only session may not change anything', async (t) => {
  const server = await startServer(t);
  const scene = await startScene(server, 0);
  const before = await rowsOf(server, scene.vault);
  const readonlyUsers = new Set(Object.values(scene.devices).map(({ account }) => account.email));
  await server.restart({ accounts: { readonlyUsers } });
  const { 'list the members': _, ...changes } = commands;
  const all = [`${scene.vault}/invites`, 'invites/inbound', 'invites/outbound'];
  const others: readonly Call[] = [
    (device) => device.call('POST', vaults),
    ...all.map(
      (path): Call =>
        (device) =>
          device.call('DELETE', `${vaults}/${path}`),
    ),
  ];
  for (const call of [...Object.values(changes).map((each) => each.call), ...others]) {
    const { status, body } = await call(scene.devices.owner, scene);
    t.deepEqual([status, body.error.tag], [403, 'read-only-access']);
  }
  t.deepEqual(await rowsOf(server, scene.vault), before);
});

test('a malformed name of an invite or member is refused like one that is absent', async (t) => {
  const server = await startServer(t);
  const { devices, vault } = await startScene(server, 0);
  const { owner, invited } = devices;
  const refused = async (device: Device, method: string, path: string, body?: object) => {
    const { status } = await device.call(method, `${vaults}/${vault}/${path}`, body && { body });
    t.is(status, 400, `${method} ${path}`);
  };
  await refused(owner, 'DELETE', 'users/nobody');
  await refused(owner, 'POST', 'users/nobody/designate-survivor');
  await refused(invited, 'POST', 'invites/nothing/accept');
  await refused(owner, 'DELETE', 'invites/nothing');
  await refused(owner, 'PATCH', 'invites/nothing', fields);
  const recipient_uuid = crypto.randomUUID();
  await refused(owner, 'POST', 'invites', { ...fields, recipient_uuid: 'nobody' });
  await refused(owner, 'POST', 'invites', { ...fields, recipient_uuid, permission: 'owner' });
  await refused(owner, 'POST', 'invites', { ...fields, recipient_uuid, encrypted_message: '' });
  await refused(owner, 'POST', 'invites', { ...fields, recipient_uuid, encrypted_message: 'a\0b' });
  await refused(owner, 'POST', 'invites', { permission: 'read', recipient_uuid });
});

test('an invite counts in the vault alone that it is to', async (t) => {
  const server = await startServer(t);
  const { devices, vault, pending } = await startScene(server, 0);
  const { owner, invited } = devices;
  const other = await makeVault(owner);
  for (const [device, method, end] of [
    [invited, 'POST', '/accept'],
    [invited, 'POST', '/decline'],
    [owner, 'DELETE', ''],
  ] as const) {
    t.is((await device.call(method, `${vaults}/${other}/invites/${pending}${end}`)).status, 400);
  }
  const upper = pending.toUpperCase();
  t.is((await accept(invited, vault.toUpperCase(), upper)).status, 200);
});

test('the vaults of a banned owner go on: members keep them, and the owner has them when the ban is over', async (t) => {
  const server = await startServer(t);
  const { devices, vault, pending } = await startScene(server, 0);
  const { owner, writer, invited } = devices;
  const { ask } = server.host.actors.get(UserAdministration, uuidOf(owner));
  await ask.operatorSetBan({ banned: true, reason: null, by: 'operator' });
  t.is((await owner.call('DELETE', `${vaults}/${vault}`)).status, 401);
  t.is((await writer.call('GET', `${vaults}/${vault}/users`)).status, 200);
  t.is((await accept(invited, vault, pending)).status, 200);
  await ask.operatorSetBan({ banned: false, reason: null, by: 'operator' });
  const again = await owner.another();
  t.is((await again.call('GET', vaults)).body.sharedVaults[0].uuid, vault);
});

test('collaboration that is switched off lets nobody make vaults, join or invite, and takes nothing away', async (t) => {
  const server = await startServer(t);
  const { devices, vault, other, pending } = await startScene(server, 0);
  const { owner } = devices;
  const { ask } = server.host.actors.get(UserAdministration, uuidOf(owner));
  await ask.operatorSetFlag({ name: 'COLLABORATION_ENABLED', value: 'false', by: 'operator' });
  const body = { ...fields, recipient_uuid: crypto.randomUUID() };
  t.is((await owner.call('POST', vaults)).status, 403);
  t.is((await owner.call('POST', `${vaults}/${vault}/invites`, { body })).status, 403);
  t.is((await owner.call('PATCH', `${vaults}/${vault}/invites/${other}`, { body })).status, 403);
  t.is((await owner.call('GET', vaults)).body.sharedVaults.length, 1);
  const { invited } = devices;
  const invitee = server.host.actors.get(UserAdministration, uuidOf(invited));
  await invitee.ask.operatorSetFlag({ name: 'COLLABORATION_ENABLED', value: 'false', by: 'operator' });
  t.is((await accept(invited, vault, pending)).status, 403);
  t.deepEqual((await invited.call('GET', vaults)).body.sharedVaults, []);
  t.is((await invited.call('POST', `${vaults}/${vault}/invites/${pending}/decline`)).status, 200);
  t.is((await owner.call('DELETE', `${vaults}/${vault}`)).status, 200);
});

test('an account that is deleted leaves its vaults, and what it owned goes to the survivor or ends', async (t) => {
  const server = await startServer(t);
  const scene = await startScene(server, 0);
  const { owner, admin, writer, invited } = scene.devices;
  const own = await makeVault(owner);
  await join(owner, own, writer);
  await owner.call('POST', `${vaults}/${scene.vault}/users/${uuidOf(writer)}/designate-survivor`);
  await deleteAccount(invited);
  await server.advance(20_000);
  t.false((await rowsOf(server, scene.vault)).invites.some(({ invitee }) => invitee === uuidOf(invited)));
  await deleteAccount(admin);
  await deleteAccount(owner);
  await server.advance(20_000);
  const { vault, members, invites } = await rowsOf(server, scene.vault);
  t.like(vault, { owner_uuid: uuidOf(writer), survivor_uuid: null });
  t.is(members.find(({ member }) => member === uuidOf(writer))?.permission, 'admin');
  t.false(members.some(({ member }) => [uuidOf(owner), uuidOf(admin)].includes(member)));
  t.deepEqual(invites, []);
  t.is((await rowsOf(server, own)).vault, undefined);
  const { sharedVaults } = (await writer.call('GET', vaults)).body;
  t.deepEqual(
    sharedVaults.map((each: Record<string, unknown>) => [each['uuid'], each['user_uuid']]),
    [[scene.vault, uuidOf(writer)]],
  );
  const { notifications } = await writer.sync({ sync_token: null });
  const types = notifications.map(({ type }) => type);
  t.true(
    types.includes('user_removed_from_shared_vault') && types.includes('self_removed_from_shared_vault'),
  );
  t.is((await writer.call('DELETE', `${vaults}/${scene.vault}`)).status, 200);
});
