/** The items of shared vaults, as members and others see them over HTTP. */
import test, { type ExecutionContext } from 'ava';
import type { ClientItem } from '../../../actors/collection/item-fields.ts';
import { VaultItems } from '../../../actors/vault/items/contract.ts';
import type { Device } from '../../kit/device.ts';
import { inVault, note, uuidNumber } from '../../kit/items.ts';
import { startServer } from '../../kit/server.ts';
import { join, makeVault, type Permission, vaults } from '../../kit/vaults.ts';

const uuidsOf = (items: readonly { readonly uuid: string }[]) => items.map(({ uuid }) => uuid);

async function started(t: ExecutionContext, permission: Permission = 'write') {
  const server = await startServer(t);
  const alice = await server.device();
  const bob = await server.device('bob@example.org');
  const vault = await makeVault(alice);
  await join(alice, vault, bob, permission);
  return { server, alice, bob, vault };
}

/** The saved version, which is the only one and in no conflict. */
async function saved(t: ExecutionContext, device: Device, item: ClientItem) {
  const { saved_items: items, conflicts } = await device.save(item);
  t.deepEqual(conflicts, []);
  t.is(items.length, 1);
  return items[0] ?? t.fail();
}

test("a new item of a vault is every member's, and nobody else's", async (t) => {
  const { server, alice, bob, vault } = await started(t);
  const carol = await server.device('carol@example.org');
  await bob.sync();
  const item = await saved(t, alice, inVault(vault));
  t.is(item.shared_vault_uuid, vault);
  t.is(item.user_uuid, alice.account.userUuid);
  t.is(item.last_edited_by_uuid, alice.account.userUuid);
  const { retrieved_items: received } = await bob.sync();
  t.deepEqual(uuidsOf(received), [item.uuid]);
  t.is(received[0]?.content, note().content as string);
  t.deepEqual((await bob.sync()).retrieved_items, []);
  t.deepEqual((await carol.sync()).retrieved_items, []);
  const edit = inVault(vault, { content: 'stolen', updated_at_timestamp: item.updated_at_timestamp });
  const { conflicts } = await carol.save(edit);
  t.deepEqual(
    conflicts.map(({ type }) => type),
    ['shared_vault_not_member_error'],
  );
  t.false('server_item' in (conflicts[0] ?? {}));
});

test('a user who has all of their own items is given the vault that they begin with on another device', async (t) => {
  const server = await startServer(t);
  const [phone, laptop] = [await server.device(), await server.device()];
  await phone.sync({ items: [note()] });
  await laptop.sync();
  const vault = await makeVault(phone);
  t.deepEqual(uuidsOf((await laptop.sync()).shared_vaults), [vault]);
});

test('an item that is added to a vault moves there, and back', async (t) => {
  const { alice, bob, vault } = await started(t);
  const mine = await saved(t, alice, note());
  const added = await saved(
    t,
    alice,
    inVault(vault, { content: 'ours', updated_at_timestamp: mine.updated_at_timestamp }),
  );
  t.is(added.shared_vault_uuid, vault);
  const all = (await bob.sync({ sync_token: null })).retrieved_items;
  t.deepEqual(
    all.map(({ uuid, content }) => [uuid, content]),
    [[mine.uuid, 'ours']],
  );
  const edited = await saved(
    t,
    bob,
    inVault(vault, { content: 'edited', updated_at_timestamp: added.updated_at_timestamp }),
  );
  t.is(edited.user_uuid, alice.account.userUuid);
  t.is(edited.last_edited_by_uuid, bob.account.userUuid);

  const taking = note({ updated_at_timestamp: edited.updated_at_timestamp });
  await bob.sync();
  const { conflicts } = await bob.sync({ items: [taking] });
  t.deepEqual(
    conflicts.map(({ type }) => type),
    ['shared_vault_insufficient_permissions_error'],
  );
  t.is(conflicts[0]?.server_item?.content, 'edited');
  await alice.sync();
  const back = await alice.sync({ items: [taking] });
  t.deepEqual(back.conflicts, []);
  t.is(back.saved_items[0]?.shared_vault_uuid, null);
  t.deepEqual((await bob.sync({ sync_token: null })).retrieved_items, []);
  t.deepEqual(uuidsOf((await alice.sync({ sync_token: null })).retrieved_items), [mine.uuid]);
  const stranger = await bob.save(note({ updated_at_timestamp: 0 }));
  t.deepEqual(
    stranger.conflicts.map(({ type }) => type),
    ['uuid_conflict'],
  );
  const again = await saved(
    t,
    alice,
    inVault(vault, { updated_at_timestamp: back.saved_items[0]?.updated_at_timestamp }),
  );
  t.deepEqual(uuidsOf((await bob.sync({ sync_token: null })).retrieved_items), [again.uuid]);
});

test('an item moves from one vault to another', async (t) => {
  const { alice, bob, vault } = await started(t);
  const other = await makeVault(alice);
  const item = await saved(t, alice, inVault(vault));
  const moved = await saved(t, alice, inVault(other, { updated_at_timestamp: item.updated_at_timestamp }));
  t.is(moved.shared_vault_uuid, other);
  t.deepEqual((await bob.sync({ sync_token: null })).retrieved_items, []);
  const { conflicts } = await bob.save(inVault(vault, { updated_at_timestamp: moved.updated_at_timestamp }));
  t.deepEqual(
    conflicts.map(({ type }) => type),
    ['shared_vault_not_member_error'],
  );
});

const removed = (vault: string, { updated_at_timestamp }: ClientItem) =>
  inVault(vault, { deleted: true, content: null, updated_at_timestamp });

test('a device that has a note learns that it was deleted in a vault that the device did not know', async (t) => {
  const server = await startServer(t);
  const [phone, laptop] = [await server.device(), await server.device()];
  const mine = await saved(t, phone, note());
  t.deepEqual(uuidsOf((await laptop.sync()).retrieved_items), [mine.uuid]);
  const vault = await makeVault(phone);
  const { updated_at_timestamp } = mine;
  const shared = await saved(t, phone, inVault(vault, { updated_at_timestamp }));
  await saved(t, phone, removed(vault, shared));
  t.deepEqual(
    (await laptop.sync()).retrieved_items.map(({ uuid, deleted }) => [uuid, deleted]),
    [[mine.uuid, true]],
  );
  t.deepEqual((await laptop.sync()).retrieved_items, []);
  t.deepEqual(
    (await laptop.sync({ sync_token: null })).retrieved_items,
    [],
    'a first sync has nothing to delete',
  );
});

test('a member of two vaults learns that an item moved from one to the other and was deleted before they joined it', async (t) => {
  const { alice, bob, vault } = await started(t);
  const other = await makeVault(alice);
  const item = await saved(t, alice, inVault(vault));
  t.deepEqual(uuidsOf((await bob.sync()).retrieved_items), [item.uuid]);
  const { updated_at_timestamp } = item;
  const moved = await saved(t, alice, inVault(other, { updated_at_timestamp }));
  await saved(t, alice, removed(other, moved));
  await join(alice, other, bob);
  t.deepEqual(
    (await bob.sync()).retrieved_items.map(({ uuid, deleted }) => [uuid, deleted]),
    [[item.uuid, true]],
  );
});

test('a member who may only read saves nothing, and is given what is stored', async (t) => {
  const { alice, bob, vault } = await started(t, 'read');
  const item = await saved(t, alice, inVault(vault));
  const { conflicts } = await bob.save(
    inVault(vault, { updated_at_timestamp: item.updated_at_timestamp, content: 'x' }),
  );
  t.deepEqual(
    conflicts.map(({ type }) => type),
    ['shared_vault_insufficient_permissions_error'],
  );
  t.is(conflicts[0]?.server_item?.content, note().content as string);
  const own = await saved(t, bob, note({ uuid: uuidNumber(2) }));
  const adding = await bob.save(
    inVault(vault, { uuid: own.uuid, updated_at_timestamp: own.updated_at_timestamp }),
  );
  t.deepEqual(
    adding.conflicts.map(({ type }) => type),
    ['shared_vault_insufficient_permissions_error'],
  );
  const after = await saved(t, bob, note({ uuid: own.uuid, updated_at_timestamp: own.updated_at_timestamp }));
  t.is(after.shared_vault_uuid, null);
});

test('a member who was removed is given nothing any more, and saves nothing', async (t) => {
  const { alice, bob, vault } = await started(t);
  const item = await saved(t, alice, inVault(vault));
  await bob.sync();
  const path = `${vaults}/${vault}/users/${bob.account.userUuid}`;
  t.is((await alice.call('DELETE', path)).status, 200);
  const edited = await saved(
    t,
    alice,
    inVault(vault, { content: 'secret', updated_at_timestamp: item.updated_at_timestamp }),
  );
  t.deepEqual((await bob.sync()).retrieved_items, []);
  t.deepEqual((await bob.sync({ sync_token: null })).retrieved_items, []);
  const { conflicts } = await bob.save(inVault(vault, { updated_at_timestamp: edited.updated_at_timestamp }));
  t.deepEqual(
    conflicts.map(({ type }) => type),
    ['shared_vault_not_member_error'],
  );
  t.false('server_item' in (conflicts[0] ?? {}));
});

test("a vault of many items comes page by page, after the user's own", async (t) => {
  const { alice, bob, vault } = await started(t);
  const items = Array.from({ length: 25 }, (_, n) => inVault(vault, { uuid: uuidNumber(100 + n) }));
  await alice.sync({ items });
  await bob.sync({ items: [1, 2, 3].map((n) => note({ uuid: uuidNumber(n) })) });
  const pages = await bob.syncAll({ sync_token: null, limit: 10 });
  t.deepEqual(
    pages.map(({ retrieved_items: received }) => received.length),
    [10, 10, 8],
  );
  const received = pages.flatMap(({ retrieved_items: each }) => uuidsOf(each));
  t.is(new Set(received).size, 28);
  t.deepEqual((await bob.sync()).retrieved_items, []);
});

test('a sync that names vaults gives their items alone, and every vault', async (t) => {
  const { alice, bob, vault } = await started(t);
  const other = await makeVault(alice);
  await alice.sync({
    items: [inVault(vault), inVault(other, { uuid: uuidNumber(2) }), note({ uuid: uuidNumber(3) })],
  });
  const only = await alice.sync({ sync_token: null, shared_vault_uuids: [vault] });
  t.deepEqual(uuidsOf(only.retrieved_items), [uuidNumber(1)]);
  t.deepEqual(uuidsOf(only.shared_vaults).sort(), [vault, other].sort());
  const foreign = await bob.sync({ sync_token: null, shared_vault_uuids: [other] });
  t.deepEqual(foreign.retrieved_items, []);
});

test('to name oneself as a vault neither takes an item out of its vault nor makes one', async (t) => {
  const { alice, bob, vault } = await started(t);
  const item = await saved(t, alice, inVault(vault));
  const self = bob.account.userUuid;
  for (const named of [self, self.toUpperCase()]) {
    const taking = inVault(named, { updated_at_timestamp: item.updated_at_timestamp });
    const making = inVault(named, { uuid: uuidNumber(2) });
    for (const sent of [taking, making]) {
      const { saved_items: items, conflicts } = await bob.save(sent);
      t.deepEqual(items, []);
      t.deepEqual(
        conflicts.map(({ type }) => type),
        ['shared_vault_not_member_error'],
      );
    }
  }
  t.deepEqual(uuidsOf((await alice.sync({ sync_token: null })).retrieved_items), [item.uuid]);
});

test('a device deletes in the vault an item that it was the first to save there', async (t) => {
  const { alice, bob, vault } = await started(t);
  await bob.sync();
  const { saved_items: mine } = await bob.sync({ items: [inVault(vault)] });
  const version = mine[0]?.updated_at_timestamp;
  await saved(t, alice, inVault(vault, { deleted: true, content: null, updated_at_timestamp: version }));
  t.deepEqual(
    (await bob.sync()).retrieved_items.map(({ uuid, deleted }) => [uuid, deleted]),
    [[uuidNumber(1), true]],
  );
});

test('an item that a user owns in a vault is found by its uuid and by the check of integrity, as long as they are a member', async (t) => {
  const { server, alice, bob, vault } = await started(t);
  const mine = await saved(t, bob, inVault(vault, { uuid: crypto.randomUUID() }));
  const hers = await saved(t, alice, inVault(vault, { uuid: crypto.randomUUID() }));
  const find = async (device: Device, uuid: string) =>
    (await device.call('GET', `/v1/items/${uuid}`)).body.item?.content;
  const check = async (device: Device, integrityPayloads: readonly object[]) =>
    uuidsOf(
      (await device.call('POST', '/v1/items/check-integrity', { body: { integrityPayloads } })).body
        .mismatches,
    );
  const at = ({ uuid, updated_at_timestamp }: typeof mine) => ({ uuid, updated_at_timestamp });

  t.is(await find(bob, mine.uuid), note().content as string);
  t.is(await find(bob, hers.uuid), undefined, 'of another member');
  t.is(await find(alice, mine.uuid), undefined);
  t.deepEqual(await check(bob, []), [mine.uuid]);
  t.deepEqual(await check(bob, [at(mine)]), []);
  t.deepEqual(await check(bob, [{ ...at(mine), updated_at_timestamp: 1 }]), [mine.uuid]);
  t.deepEqual(await check(alice, []), [hers.uuid]);

  await alice.call('DELETE', `${vaults}/${vault}/users/${bob.account.userUuid}`);
  t.is(await find(bob, mine.uuid), undefined);
  // Whatever the actor of a user has heard, the vault decides.
  const request = { by: bob.account.userUuid, uuid: mine.uuid };
  t.is((await server.host.actors.get(VaultItems, vault).ask.getItem(request)).item, null);
  t.deepEqual(await check(bob, []), []);
});

test('a device is not given back what it saves in a new vault, and gets everything else', async (t) => {
  const server = await startServer(t);
  const [alice, bob] = [await server.device(), await server.device('bob@example.org')];
  await alice.sync({ items: [note({ uuid: uuidNumber(9) })] });
  const vault = await makeVault(alice);
  const several = [1, 2].map((n) => inVault(vault, { uuid: uuidNumber(n) }));
  t.is((await alice.sync({ items: several })).saved_items.length, 2);
  t.deepEqual((await alice.sync()).retrieved_items, []);

  await join(alice, vault, bob);
  t.deepEqual(uuidsOf((await bob.sync()).retrieved_items), [uuidNumber(1), uuidNumber(2)]);
  await bob.sync({ items: [inVault(vault, { uuid: uuidNumber(3) })] });
  t.deepEqual((await bob.sync()).retrieved_items, []);
  const received = (await alice.sync({ items: [inVault(vault, { uuid: uuidNumber(4) })] })).retrieved_items;
  t.deepEqual(uuidsOf(received), [uuidNumber(3)], 'the item that another member has saved before');
  t.deepEqual((await alice.sync()).retrieved_items, []);
});
