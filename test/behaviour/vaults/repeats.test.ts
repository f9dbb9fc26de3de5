/** A save that is sent again after its answer was lost, when the item has meanwhile changed its home, its owner or its members. */
import test, { type ExecutionContext } from 'ava';
import type { ClientItem } from '../../../actors/collection/item-fields.ts';
import { type Device, deleteAccount } from '../../kit/device.ts';
import { inVault, note } from '../../kit/items.ts';
import { startServer, type TestServer } from '../../kit/server.ts';
import { join, makeVault, rowsOf, vaults } from '../../kit/vaults.ts';

/** Until the items of an ended vault are with their owners. */
const homeMs = 10_000;

const versionOf = (item: { updated_at_timestamp: number } | undefined) => ({
  updated_at_timestamp: item?.updated_at_timestamp ?? 0,
});

/** Alice's vault, with Bob and Carol as members. */
async function started(t: ExecutionContext) {
  const server = await startServer(t);
  const [alice, bob, carol] = [
    await server.device(),
    await server.device('bob@example.org'),
    await server.device('carol@example.org'),
  ];
  const vault = await makeVault(alice);
  for (const member of [bob, carol]) await join(alice, vault, member);
  await server.advance(5_000);
  for (const device of [alice, bob, carol]) await device.sync();
  return { server, alice, bob, carol, vault };
}

async function saved(t: ExecutionContext, device: Device, item: ClientItem) {
  const { saved_items: all, conflicts } = await device.sync({ items: [item] });
  t.deepEqual(conflicts, []);
  return all[0] ?? t.fail();
}

/** The save is told as saved, and nothing was written: the version is that of the first time. */
async function toldAsSaved(
  t: ExecutionContext,
  device: Device,
  { sent, first }: { readonly sent: ClientItem; readonly first: { readonly updated_at_timestamp: number } },
) {
  const again = await saved(t, device, sent);
  t.is(again.updated_at_timestamp, first.updated_at_timestamp);
  return again;
}

/** The client gets what is stored, and keeps both texts. */
async function toldAsConflict(t: ExecutionContext, device: Device, sent: ClientItem, stored: string) {
  const { saved_items: none, conflicts } = await device.sync({ items: [sent] });
  t.deepEqual(none, []);
  t.deepEqual(
    conflicts.map(({ type, server_item: item }) => [type, item?.content]),
    [['sync_conflict', stored]],
  );
}

/** The client keeps its text outside the vault, and learns nothing of what is stored there. */
async function toldAsNoMember(t: ExecutionContext, device: Device, sent: ClientItem) {
  const { saved_items: none, conflicts } = await device.sync({ items: [sent] });
  t.deepEqual(none, []);
  t.deepEqual(
    conflicts.map((conflict) => [conflict.type, 'server_item' in conflict]),
    [['shared_vault_not_member_error', false]],
  );
  t.like(conflicts[0]?.unsaved_item, { uuid: sent.uuid, content: sent.content });
}

const leave = async (t: ExecutionContext, device: Device, vault: string) => {
  const path = `${vaults}/${vault}/users/${device.account.userUuid}`;
  t.is((await device.call('DELETE', path)).status, 200);
};
const endVault = async (t: ExecutionContext, owner: Device, vault: string) => {
  t.is((await owner.call('DELETE', `${vaults}/${vault}`)).status, 200);
};

/** Deletes the account of the owner, whose survivor takes the vault over; resolves before its items are written anew. */
async function takeOver(
  t: ExecutionContext,
  server: TestServer,
  { vault, owner, survivor }: { readonly vault: string; readonly owner: Device; readonly survivor: Device },
) {
  const { userUuid } = survivor.account;
  const path = `${vaults}/${vault}/users/${userUuid}/designate-survivor`;
  t.is((await owner.call('POST', path)).status, 200);
  t.is((await deleteAccount(owner)).status, 200);
  for (let seconds = 0; seconds < 60; seconds += 1) {
    if ((await rowsOf(server, vault)).vault?.owner_uuid === userUuid) return;
    await server.advance(1_000);
  }
  throw new Error('nobody has taken it over');
}

/** An item of the vault that this user owns, and a save of another user's or their own, whose answer is lost. */
async function unanswered(
  t: ExecutionContext,
  { owner, by, vault }: { readonly owner: Device; readonly by: Device; readonly vault: string },
) {
  const begun = await saved(t, owner, inVault(vault, { content: 'begun' }));
  await by.sync();
  const sent = inVault(vault, { content: 'edited', ...versionOf(begun) });
  return { sent, first: await saved(t, by, sent) };
}

/** Somebody else saves over the save that was not answered. */
const changed = (
  t: ExecutionContext,
  device: Device,
  item: ClientItem,
  first: { updated_at_timestamp: number },
) => saved(t, device, { ...item, content: 'changed', ...versionOf(first) });

// --- members who leave ---------------------------------------------------------------------------------------

for (const owns of [true, false]) {
  const whose = owns ? 'their own' : "another member's";
  test(`a save of ${whose} item, sent again after its member left, is refused without a word of what is stored`, async (t) => {
    const { server, alice, bob, vault } = await started(t);
    const { sent, first } = await unanswered(t, { owner: owns ? bob : alice, by: bob, vault });
    await leave(t, bob, vault);
    await toldAsNoMember(t, bob, sent);
    await changed(t, alice, sent, first);
    await toldAsNoMember(t, bob, sent);
    await server.advance(homeMs);
    t.is((await bob.getItem(String(sent.uuid))).status, 404);
  });
}

test('a save that is sent again by a member who left and came back is told as saved', async (t) => {
  const { server, alice, bob, vault } = await started(t);
  const { sent, first } = await unanswered(t, { owner: alice, by: bob, vault });
  await leave(t, bob, vault);
  await join(alice, vault, bob);
  await server.advance(5_000);
  const again = await toldAsSaved(t, bob, { sent, first });
  t.like(again, { shared_vault_uuid: vault, last_edited_by_uuid: bob.account.userUuid });
  await changed(t, alice, sent, first);
  await toldAsConflict(t, bob, sent, 'changed');
});

test('a save that is sent again after its member left and the vault has ended is told as saved to the owner of the item', async (t) => {
  const { server, alice, bob, vault } = await started(t);
  const { sent, first } = await unanswered(t, { owner: bob, by: bob, vault });
  await leave(t, bob, vault);
  await endVault(t, alice, vault);
  await server.advance(homeMs);
  const again = await toldAsSaved(t, bob, { sent, first });
  t.like(again, { shared_vault_uuid: null, user_uuid: bob.account.userUuid });
});

test('a save of a member who left, over which another member has saved, is a conflict once the item is home', async (t) => {
  const { server, alice, bob, carol, vault } = await started(t);
  const { sent, first } = await unanswered(t, { owner: bob, by: bob, vault });
  await carol.sync();
  await leave(t, bob, vault);
  await changed(t, carol, sent, first);
  await endVault(t, alice, vault);
  await server.advance(homeMs);
  await toldAsConflict(t, bob, sent, 'changed');
});

test('a save that took an item out of a vault, sent again after its member left, is told as saved', async (t) => {
  const { bob, vault } = await started(t);
  const begun = await saved(t, bob, inVault(vault, { content: 'begun' }));
  const sent = note({ content: 'taken out', ...versionOf(begun) });
  const first = await saved(t, bob, sent);
  await leave(t, bob, vault);
  t.is((await toldAsSaved(t, bob, { sent, first })).shared_vault_uuid, null);
});

test('a save that moved an item to another vault is told as saved after its member left the first one', async (t) => {
  const { server, bob, carol, vault } = await started(t);
  const other = await makeVault(carol);
  await join(carol, other, bob);
  await server.advance(5_000);
  const begun = await saved(t, bob, inVault(vault, { content: 'begun' }));
  const sent = inVault(other, { content: 'moved', ...versionOf(begun) });
  const first = await saved(t, bob, sent);
  await leave(t, bob, vault);
  t.is((await toldAsSaved(t, bob, { sent, first })).shared_vault_uuid, other);
  await carol.sync();
  await changed(t, carol, sent, first);
  await toldAsConflict(t, bob, sent, 'changed');
});

// --- survivors who take over ---------------------------------------------------------------------------------

for (const saver of ['the survivor', 'another member'] as const) {
  for (const wait of [
    'at once',
    'once the items bear the new owner',
    'once the survivor has ended it',
  ] as const) {
    test(`a save by ${saver} is told as saved when it comes again after a survivor took the vault over, ${wait}`, async (t) => {
      const { server, alice, bob, carol, vault } = await started(t);
      const by = saver === 'the survivor' ? bob : carol;
      // Another member's item goes home to them at the end; the former owner's goes to the survivor.
      const owner = saver === 'another member' && wait === 'once the survivor has ended it' ? carol : alice;
      const { sent, first } = await unanswered(t, { owner, by, vault });
      await takeOver(t, server, { vault, owner: alice, survivor: bob });
      if (wait !== 'at once') await server.advance(homeMs);
      const ends = wait === 'once the survivor has ended it';
      if (ends) await endVault(t, bob, vault);
      if (ends) await server.advance(homeMs);
      const again = await toldAsSaved(t, by, { sent, first });
      t.is(again.user_uuid, owner === alice ? bob.account.userUuid : owner.account.userUuid);
      t.is(again.shared_vault_uuid, ends ? null : vault);
    });
  }
}

test('a save by another member, over which the survivor has saved since they took the vault over, is a conflict', async (t) => {
  for (const wait of ['at once', 'once the items bear the new owner'] as const) {
    const { server, alice, bob, carol, vault } = await started(t);
    const { sent, first } = await unanswered(t, { owner: alice, by: carol, vault });
    await takeOver(t, server, { vault, owner: alice, survivor: bob });
    if (wait !== 'at once') await server.advance(homeMs);
    await bob.sync();
    await changed(t, bob, sent, first);
    await toldAsConflict(t, carol, sent, 'changed');
  }
});

test("a save of the former owner's item, sent again after its new owner ended the vault, is refused to any other member", async (t) => {
  const { server, alice, bob, carol, vault } = await started(t);
  const { sent } = await unanswered(t, { owner: alice, by: carol, vault });
  await takeOver(t, server, { vault, owner: alice, survivor: bob });
  await endVault(t, bob, vault);
  await toldAsNoMember(t, carol, sent);
  await server.advance(homeMs);
  await toldAsNoMember(t, carol, sent);
});

// --- there and back ------------------------------------------------------------------------------------------

for (const ending of ['the first vault', 'both vaults'] as const) {
  test(`a save that moved an item between two owners' vaults is told as saved after ${ending} ended`, async (t) => {
    const { server, alice, bob, carol, vault } = await started(t);
    const other = await makeVault(carol);
    await join(carol, other, bob);
    await server.advance(5_000);
    const begun = await saved(t, bob, note({ content: 'begun' }));
    const there = await saved(t, bob, inVault(vault, { content: 'there', ...versionOf(begun) }));
    const sent = inVault(other, { content: 'moved on', ...versionOf(there) });
    const first = await saved(t, bob, sent);
    await endVault(t, alice, vault);
    if (ending === 'both vaults') await endVault(t, carol, other);
    await server.advance(homeMs);
    const again = await toldAsSaved(t, bob, { sent, first });
    t.like(again, {
      user_uuid: bob.account.userUuid,
      shared_vault_uuid: ending === 'both vaults' ? null : other,
    });
  });
}

test("a save that brought an item into another owner's vault is told as saved when it is back by the end of the vault", async (t) => {
  const { server, alice, bob, vault } = await started(t);
  const begun = await saved(t, bob, note({ content: 'begun' }));
  const sent = inVault(vault, { content: 'there', ...versionOf(begun) });
  const first = await saved(t, bob, sent);
  await endVault(t, alice, vault);
  await server.advance(homeMs);
  t.is((await toldAsSaved(t, bob, { sent, first })).shared_vault_uuid, null);
});

for (const lost of ['at home', "into another owner's vault"] as const) {
  test(`a save ${lost} is a conflict when another device has moved the item there and back since`, async (t) => {
    const { bob, vault } = await started(t);
    const tablet = await bob.another();
    const begun = await saved(t, bob, note({ content: 'begun' }));
    const sent =
      lost === 'at home'
        ? note({ content: 'edited', ...versionOf(begun) })
        : inVault(vault, { content: 'edited', ...versionOf(begun) });
    const first = await saved(t, bob, sent);
    await tablet.sync();
    const there = inVault(vault, { content: 'there' });
    const last = lost === 'at home' ? await saved(t, tablet, { ...there, ...versionOf(first) }) : first;
    const back = await saved(t, tablet, note({ content: 'back', ...versionOf(last) }));
    if (lost !== 'at home') await saved(t, tablet, { ...there, ...versionOf(back) });
    await toldAsConflict(t, bob, sent, lost === 'at home' ? 'back' : 'there');
  });
}
