/** The fate of the items of a shared vault that ends, over HTTP. */
import test, { type ExecutionContext } from 'ava';
import type { ClientItem } from '../../../actors/collection/item-fields.ts';
import { Vault } from '../../../actors/vault/contract.ts';
import { VaultItems } from '../../../actors/vault/items/contract.ts';
import { atEveryCommit, Death } from '../../kit/death.ts';
import { type Device, deleteAccount } from '../../kit/device.ts';
import { inVault, note, uuidNumber } from '../../kit/items.ts';
import { startServer, type TestServer } from '../../kit/server.ts';
import { join, makeVault, rowsOf, startSharedVault, vaults } from '../../kit/vaults.ts';

/** The commands of more than one part of a vault. */
const vaultParts = { ...Vault, commands: { ...Vault.commands, ...VaultItems.commands } };

const vanishedMs = 1_000_000;
/** A client's request for deleted items. */
const gone = { content: undefined, enc_item_key: undefined, deleted: true };

async function started(t: ExecutionContext, death = new Death()) {
  const { server, alice, bob, vault } = await startSharedVault(t, {
    server: { host: { schedule: death.schedule } },
  });
  await server.advance(5_000);
  const end = async () => {
    const { status } = await alice.call('DELETE', `${vaults}/${vault}`);
    t.is(status, 200);
  };
  return { server, alice, bob, vault, end };
}

async function saved(t: ExecutionContext, device: Device, ...items: readonly ClientItem[]) {
  const { saved_items: all, conflicts } = await device.sync({ items });
  t.deepEqual(conflicts, []);
  return all;
}

const versionOf = (item: { updated_at_timestamp: number } | undefined) => ({
  updated_at_timestamp: item?.updated_at_timestamp ?? 0,
});
/** The items that a new device receives: whose they are, and in which vault. */
const held = async (device: Device) =>
  (await device.sync({ sync_token: null })).retrieved_items
    .map(({ uuid, content, user_uuid, shared_vault_uuid }) => ({
      uuid,
      content,
      user_uuid,
      shared_vault_uuid,
    }))
    .toSorted((a, b) => (a.uuid < b.uuid ? -1 : 1));

/** Until the vault is theirs. */
async function untilOwner(server: TestServer, vault: string, { account }: Device): Promise<void> {
  for (let seconds = 0; seconds < 60; seconds += 1) {
    if ((await rowsOf(server, vault)).vault?.owner_uuid === account.userUuid) return;
    await server.advance(1_000);
  }
  throw new Error('nobody has taken it over');
}

const conflictTypes = (reply: { conflicts: readonly { type: string }[] }) =>
  reply.conflicts.map(({ type }) => type);

test('the items of a vault that ends become ordinary items of their owners, in the versions they had', async (t) => {
  const { server, alice, bob, vault, end } = await started(t);
  const [hers] = await saved(t, alice, inVault(vault, { content: 'hers' }));
  await saved(t, bob, inVault(vault, { uuid: uuidNumber(2), content: 'his' }), note({ uuid: uuidNumber(3) }));
  // Edited by somebody else, and a tombstone.
  await bob.sync();
  const edit = inVault(vault, { content: 'edited', ...versionOf(hers) });
  const [edited] = await saved(t, bob, edit);
  await saved(t, alice, inVault(vault, { uuid: uuidNumber(4), deleted: true }));
  await alice.sync();
  await bob.sync();
  await end();
  await server.advance(10_000);

  const received = (await alice.sync()).retrieved_items;
  t.deepEqual(
    received.map((each) => [each.uuid, each.shared_vault_uuid, each.last_edited_by_uuid, each.deleted]),
    [
      [uuidNumber(1), null, null, false],
      [uuidNumber(4), null, null, true],
    ].toSorted() as never,
  );
  t.is(received.find(({ uuid }) => uuid === hers?.uuid)?.updated_at_timestamp, edited?.updated_at_timestamp);
  t.is(received[0]?.key_system_identifier, 'system');
  const [own] = await held(alice);
  t.deepEqual(own, {
    uuid: uuidNumber(1),
    content: 'edited',
    user_uuid: alice.account.userUuid,
    shared_vault_uuid: null,
  });
  t.deepEqual(
    (await held(bob)).map(({ uuid, user_uuid }) => [uuid, user_uuid]),
    [2, 3].map((n) => [uuidNumber(n), bob.account.userUuid]),
  );
  await alice.sync();
  await saved(t, alice, note({ content: 'again', ...versionOf(edited) }));
  await server.advance(vanishedMs);
  t.is((await rowsOf(server, vault)).vault, undefined);
  t.is((await held(bob)).length, 2);
});

for (const wait of ['at once', 'when they are home', 'when the vault is gone'] as const) {
  test(`an item that the owner of an ended vault deletes there is deleted, ${wait}`, async (t) => {
    const { server, alice, bob, vault, end } = await started(t);
    const [hers] = await saved(t, alice, inVault(vault));
    const [his] = await saved(t, bob, inVault(vault, { uuid: uuidNumber(2) }));
    await alice.sync();
    await end();
    if (wait === 'when they are home') await server.advance(10_000);
    if (wait === 'when the vault is gone') await server.advance(vanishedMs);
    const items = [
      inVault(vault, { ...gone, ...versionOf(hers) }),
      inVault(vault, { uuid: uuidNumber(2), ...gone, ...versionOf(his) }),
    ];
    const reply = await server.answered(alice.sync({ items }), 60_000);
    t.deepEqual(conflictTypes(reply), ['shared_vault_not_member_error']);
    t.false('server_item' in (reply.conflicts[0] ?? {}));
    t.deepEqual(
      reply.saved_items.map((each) => [each.uuid, each.deleted, each.shared_vault_uuid]),
      [[uuidNumber(1), true, null]],
    );
    await server.advance(10_000);
    t.deepEqual(await held(alice), []);
    t.deepEqual(
      (await held(bob)).map(({ uuid }) => uuid),
      [uuidNumber(2)],
    );
    // As reported when it was saved.
    await alice.sync();
    const again = note({ content: 'back', ...versionOf(reply.saved_items[0]) });
    await saved(t, alice, again);
  });
}

test('ending a vault deletes nothing of others there, also before it has returned to its owner', async (t) => {
  const { server, alice, bob, vault } = await started(t);
  const [hers] = await saved(t, alice, inVault(vault));
  const [his] = await saved(t, bob, inVault(vault, { uuid: uuidNumber(2) }));
  const items = [hers, his].map((each) =>
    inVault(vault, { uuid: each?.uuid, deleted: true, content: undefined, ...versionOf(each) }),
  );
  const { ask } = server.host.actors.get(vaultParts, vault);
  const by = alice.account.userUuid;
  const saver = { by, sessionUuid: crypto.randomUUID(), snjsVersion: '2.204.7' };
  const [, landed] = await server.answered(
    Promise.all([ask.end({ by }), ask.saveItems({ ...saver, items })]),
  );
  if (!('ok' in landed)) return t.fail();
  t.deepEqual(
    landed.ok.saved.map(({ uuid }) => uuid),
    [hers?.uuid],
  );
  t.deepEqual(
    landed.ok.conflicts.map(({ type }) => type),
    ['shared_vault_not_member_error'],
  );
  await server.advance(10_000);
  t.deepEqual(
    (await held(bob)).map(({ uuid }) => uuid),
    [uuidNumber(2)],
  );
});

test('an owner who deletes an old version of what has yet to go home is given it as it will be there', async (t) => {
  const { server, alice, bob, vault } = await started(t);
  const [hers] = await saved(t, alice, inVault(vault, { content: 'hers' }));
  await bob.sync();
  await saved(t, bob, inVault(vault, { content: 'edited', ...versionOf(hers) }));
  const { ask } = server.host.actors.get(vaultParts, vault);
  const by = alice.account.userUuid;
  const saver = { by, sessionUuid: crypto.randomUUID(), snjsVersion: '2.204.7' };
  const items = [inVault(vault, { deleted: true, content: undefined, ...versionOf(hers) })];
  const [, landed] = await server.answered(
    Promise.all([ask.end({ by }), ask.saveItems({ ...saver, items })]),
  );
  if (!('ok' in landed)) return t.fail();
  t.deepEqual(
    landed.ok.conflicts.map(({ type, server_item: received }) => [
      ...[type, received?.content, received?.shared_vault_uuid, received?.last_edited_by_uuid],
    ]),
    [['sync_conflict', 'edited', null, null]],
  );
});

test('an ended vault takes deletions and no other saves', async (t) => {
  const { server, alice, vault, end } = await started(t);
  const [hers] = await saved(t, alice, inVault(vault));
  await alice.sync();
  await end();
  const edit = inVault(vault, { content: 'late', ...versionOf(hers) });
  const create = inVault(vault, { uuid: uuidNumber(2) });
  const reply = await alice.sync({ items: [edit, create] });
  t.deepEqual(conflictTypes(reply), Array(2).fill('shared_vault_not_member_error'));
  await server.advance(vanishedMs);
  const after = await alice.sync({ items: [edit, create] });
  t.deepEqual(conflictTypes(after), Array(2).fill('shared_vault_not_member_error'));
  t.is((await held(alice)).length, 1);
});

for (const what of ['an edit', 'a deletion'] as const) {
  for (const wait of ['at once', 'when the item is home', 'when the vault is gone'] as const) {
    test(`${what} whose answer was lost, sent again after its vault has ended, ${wait}, is told as saved`, async (t) => {
      const { server, alice, vault, end } = await started(t);
      const [hers] = await saved(t, alice, inVault(vault, { content: 'hers' }));
      const change = what === 'an edit' ? { content: 'edited' } : gone;
      const edit = inVault(vault, { ...change, ...versionOf(hers) });
      const [edited] = await saved(t, alice, edit);
      await end();
      if (wait === 'when the item is home') await server.advance(10_000);
      if (wait === 'when the vault is gone') await server.advance(vanishedMs);
      const [again] = await saved(t, alice, edit);
      t.deepEqual(
        [again?.updated_at_timestamp, again?.deleted, again?.shared_vault_uuid, again?.last_edited_by_uuid],
        [edited?.updated_at_timestamp, what === 'a deletion', null, null] as never,
      );
      await server.advance(10_000);
      const other = what === 'an edit' ? { content: 'another' } : { ...gone, auth_hash: 'another' };
      const { conflicts } = await alice.sync({ items: [inVault(vault, { ...other, ...versionOf(hers) })] });
      t.deepEqual(
        conflicts.map(({ type }) => type),
        ['sync_conflict'],
        'another save of the same version is still none',
      );
    });
  }
}

test('a repeat that the vault is asked for as it ends is told as saved to its owner alone', async (t) => {
  const { server, alice, bob, vault } = await started(t);
  const [hers, shared] = await saved(t, alice, inVault(vault), inVault(vault, { uuid: uuidNumber(2) }));
  await bob.sync();
  const edit = inVault(vault, { content: 'edited', ...versionOf(hers) });
  const change = inVault(vault, { uuid: uuidNumber(2), content: 'changed', ...versionOf(shared) });
  const { ask } = server.host.actors.get(vaultParts, vault);
  const by = alice.account.userUuid;
  const saverOf = (user: string) => ({ by: user, sessionUuid: crypto.randomUUID(), snjsVersion: '2.204.7' });
  const [her, his] = [saverOf(by), saverOf(bob.account.userUuid)];
  const save = (saver: typeof her, ...items: readonly ClientItem[]) => ask.saveItems({ ...saver, items });
  await server.answered(Promise.all([save(her, edit), save(his, change)]));
  const other = { ...edit, content: 'late' };
  const [, first, second, third] = await server.answered(
    Promise.all([ask.end({ by }), save(her, edit), save(his, change), save(her, other)]),
  );
  const [mine, theirs, late] = [first, second, third].map((landed) => {
    if (!('ok' in landed)) throw new Error('refused');
    return landed.ok;
  });
  t.deepEqual(
    mine?.saved.map(({ row }) => [row.uuid, row.shared_vault_uuid, row.last_edited_by_uuid]),
    [[uuidNumber(1), null, null]],
  );
  for (const refused of [theirs, late]) {
    t.deepEqual(refused?.saved, []);
    t.deepEqual(conflictTypes(refused ?? { conflicts: [] }), ['shared_vault_not_member_error']);
    t.false('server_item' in (refused?.conflicts[0] ?? {}));
  }
});

test('a repeat that the vault is asked for when the item has gone home is looked for there', async (t) => {
  const { server, alice, bob, vault, end } = await started(t);
  const [hers] = await saved(t, alice, inVault(vault));
  await end();
  await server.advance(10_000);
  const { ask } = server.host.actors.get(vaultParts, vault);
  const items = [inVault(vault, versionOf(hers))];
  const [own, other] = await Promise.all(
    [alice, bob].map(({ account }) =>
      ask.saveItems({
        by: account.userUuid,
        sessionUuid: crypto.randomUUID(),
        snjsVersion: '2.204.7',
        items,
      }),
    ),
  );
  t.like(own, { ok: { notHere: [{ uuid: uuidNumber(1) }], conflicts: [] } });
  t.like(other, { ok: { notHere: [], conflicts: [{ type: 'shared_vault_not_member_error' }] } });
});

test('a new item whose answer was lost, sent again after its vault has ended, is told as saved', async (t) => {
  const { server, alice, vault } = await started(t);
  const { ask } = server.host.actors.get(vaultParts, vault);
  const by = alice.account.userUuid;
  const saver = { by, sessionUuid: crypto.randomUUID(), snjsVersion: '2.204.7', items: [inVault(vault)] };
  const [, , landed] = await server.answered(
    Promise.all([ask.saveItems(saver), ask.end({ by }), ask.saveItems(saver)]),
  );
  t.like(landed, { ok: { saved: [{ uuid: uuidNumber(1) }], conflicts: [], notHere: [] } });
});

test('an item that was never synced, or has no uuid, is refused alone where its vault has ended', async (t) => {
  const { alice, vault, end } = await started(t);
  await end();
  const items = [inVault(vault, gone), inVault(vault, { uuid: 'none', deleted: true })];
  const reply = await alice.sync({ items });
  t.deepEqual(reply.saved_items, []);
  t.is(reply.conflicts.length, 2);
});

test('a deletion that was saved at home, as its vault had ended, is told as saved when it comes again', async (t) => {
  const { server, alice, vault, end } = await started(t);
  const [hers] = await saved(t, alice, inVault(vault));
  await end();
  await server.advance(10_000);
  const deletion = inVault(vault, { ...gone, ...versionOf(hers) });
  const [first] = await saved(t, alice, deletion);
  t.deepEqual(await saved(t, alice, deletion), [first as never]);
});

test('the items of an owner who is gone go with the vault, those of others stay theirs', async (t) => {
  const { server, alice, bob, vault } = await started(t);
  await saved(t, alice, inVault(vault));
  await saved(t, bob, inVault(vault, { uuid: uuidNumber(2) }));
  t.is((await deleteAccount(alice)).status, 200);
  await server.advance(60_000);
  t.deepEqual(
    (await held(bob)).map(({ uuid, shared_vault_uuid }) => [uuid, shared_vault_uuid]),
    [[uuidNumber(2), null]],
  );
  await server.advance(vanishedMs);
  t.is(
    server.host.database.sizes.get('item'),
    2,
    'his item, and the forwarding tombstone that keeps its uuid',
  );
  t.is(server.host.database.sizes.get('revision'), 0, 'the vault is there still, with its history');
});

test("a survivor owns what they take over once it is saved, taken out, or comes home with the vault's end", async (t) => {
  const { server, alice, bob, vault } = await started(t);
  const items = [1, 2, 3].map((n) => inVault(vault, { uuid: uuidNumber(n) }));
  const [first, second] = await saved(t, alice, ...items);
  const path = `${vaults}/${vault}/users/${bob.account.userUuid}/designate-survivor`;
  t.is((await alice.call('POST', path)).status, 200);
  t.is((await deleteAccount(alice)).status, 200);
  // Before the items are written anew.
  await untilOwner(server, vault, bob);
  await bob.sync();
  const [remaining] = await saved(t, bob, inVault(vault, { content: 'kept', ...versionOf(first) }));
  t.is(remaining?.user_uuid, bob.account.userUuid);
  const [out] = await saved(t, bob, note({ uuid: uuidNumber(2), ...versionOf(second) }));
  t.is(out?.user_uuid, bob.account.userUuid);
  t.is((await bob.call('DELETE', `${vaults}/${vault}`)).status, 200);
  await server.advance(60_000);
  t.deepEqual(
    (await held(bob)).map(({ uuid, user_uuid, shared_vault_uuid }) => [uuid, user_uuid, shared_vault_uuid]),
    [1, 2, 3].map((n) => [uuidNumber(n), bob.account.userUuid, null]),
  );
});

test('a survivor gets a single item that they have taken over, before it bears their uuid', async (t) => {
  const { server, alice, bob, vault } = await started(t);
  await saved(t, alice, inVault(vault));
  const path = `${vaults}/${vault}/users/${bob.account.userUuid}/designate-survivor`;
  t.is((await alice.call('POST', path)).status, 200);
  t.is((await deleteAccount(alice)).status, 200);
  await untilOwner(server, vault, bob);
  const { status, body } = await bob.call('GET', `/v1/items/${uuidNumber(1)}`);
  t.is(status, 200);
  t.is(body.item.user_uuid, bob.account.userUuid);
});

test('an item that a survivor has taken over bears their uuid for every member, in the versions it had', async (t) => {
  const server = await startServer(t, { items: { turnLimits: { items: 2, bytes: 4 * 1_048_576 } } });
  const [alice, bob] = [await server.device(), await server.device('bob@example.org')];
  const carol = await server.device('carol@example.org');
  const vault = await makeVault(alice);
  for (const member of [bob, carol]) await join(alice, vault, member);
  for (const n of [1, 2, 3, 4, 5]) await saved(t, alice, inVault(vault, { uuid: uuidNumber(n) }));
  const [hers] = await saved(t, carol, inVault(vault, { uuid: uuidNumber(6) }));
  const before = (await carol.sync({ sync_token: null })).retrieved_items;
  const path = `${vaults}/${vault}/users/${bob.account.userUuid}/designate-survivor`;
  t.is((await alice.call('POST', path)).status, 200);
  t.is((await deleteAccount(alice)).status, 200);
  await server.advance(60_000);
  const changed = (await carol.sync()).retrieved_items;
  t.deepEqual(
    changed.map(({ uuid, user_uuid }) => [uuid, user_uuid]).toSorted(),
    [1, 2, 3, 4, 5].map((n) => [uuidNumber(n), bob.account.userUuid]),
  );
  for (const item of changed)
    t.is(before.find(({ uuid }) => uuid === item.uuid)?.updated_at_timestamp, item.updated_at_timestamp);
  t.is((await held(bob)).find(({ uuid }) => uuid === hers?.uuid)?.user_uuid, carol.account.userUuid);
  const third = changed.find(({ uuid }) => uuid === uuidNumber(3));
  const edit = inVault(vault, { uuid: uuidNumber(3), content: 'edited', ...versionOf(third) });
  t.is((await saved(t, carol, edit)).length, 1);
});

test('more items than one turn takes come home, also beyond what an account may hold', async (t) => {
  const server = await startServer(t, { items: { quota: { items: 400, bytes: 0 } } });
  const alice = await server.device();
  const vault = await makeVault(alice);
  const many = (from: number) => Array.from({ length: 300 }, (_, n) => uuidNumber(from + n));
  await saved(t, alice, ...many(1_000).map((uuid) => inVault(vault, { uuid })));
  await saved(t, alice, ...many(2_000).map((uuid) => note({ uuid })));
  t.is((await alice.call('DELETE', `${vaults}/${vault}`)).status, 200);
  await server.advance(60_000);
  const pages = await alice.syncAll({ sync_token: null, limit: 300 });
  const received = pages.flatMap(({ retrieved_items: items }) => items);
  t.is(new Set(received.map(({ uuid }) => uuid)).size, 600);
  t.true(received.every(({ shared_vault_uuid: named }) => named === null));
});

test('every item comes home once, whichever commit its host dies around', async (t) => {
  const deaths = await atEveryCommit(async (commit, isApplied) => {
    const death = new Death();
    const { server, alice, bob, vault, end } = await started(t, death);
    await saved(t, alice, inVault(vault));
    await saved(t, bob, inVault(vault, { uuid: uuidNumber(2) }));
    death.plan(commit, isApplied);
    const ended = end();
    ended.catch(() => {});
    await server.advance(10_000);
    const { isDead } = death;
    death.over();
    if (isDead) await server.restart();
    await server.answered(
      ended.catch(() => undefined),
      60_000,
    );
    await server.answered(alice.call('DELETE', `${vaults}/${vault}`), 60_000);
    await server.advance(600_000);
    const said = `${isApplied ? 'after' : 'before'} commit ${commit}`;
    for (const [n, device] of [alice, bob].entries()) {
      const expected = { uuid: uuidNumber(n + 1), shared_vault_uuid: null };
      t.like(await held(device), [expected] as never, said);
      t.is((await held(device)).length, 1, said);
    }
    return isDead;
  });
  t.true(deaths >= 10);
});

test('an item that was in more than a hundred vaults still moves, and returns to its owner', async (t) => {
  const { server, alice } = await started(t);
  let vault = '';
  let version = 0;
  for (let moves = 0; moves < 103; moves += 1) {
    vault = await makeVault(alice);
    const [item] = await saved(t, alice, inVault(vault, { updated_at_timestamp: version }));
    t.is(item?.shared_vault_uuid, vault);
    version = item?.updated_at_timestamp ?? 0;
  }
  await alice.call('DELETE', `${vaults}/${vault}`);
  await server.advance(10_000);
  t.deepEqual(
    (await held(alice)).map((item) => item.shared_vault_uuid),
    [null],
  );
});
