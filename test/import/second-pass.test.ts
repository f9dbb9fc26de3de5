/** What has changed at the other server since the first pass: the second brings that, and nothing else. */
import { randomUUID } from 'node:crypto';
import test, { type ExecutionContext } from 'ava';
import { call } from '../kit/http.ts';
import { envelope, someTime } from './installation.ts';
import { firstSync, loginParams, signInWith, startMove } from './moving.ts';

const key = ['--keep-closed', '--source-key-file'];

/** A vault of Ada's at the other server, with Ben as a member who may write. */
async function sharedVault(t: ExecutionContext) {
  const move = await startMove(t);
  const { there, folder } = move;
  const ada = await there.user('ada@example.org');
  const ben = await there.user('ben@example.org');
  const vault = await there.vault(ada.uuid);
  await there.member(vault, ben.uuid, 'write');
  const inVault = { shared_vault_uuid: vault, key_system_identifier: 'k', last_edited_by: ada.uuid };
  return { move, there, folder, ada, ben, vault, inVault };
}

test('items that were changed, deleted, added or removed, or have moved, are where they are now', async (t) => {
  const { move, there, folder, ada, ben, vault, inVault } = await sharedVault(t);
  const remaining = await there.item(ada.uuid);
  const deleted = await there.item(ada.uuid);
  await there.revision(deleted, ada.uuid, '2023-11-14 22:13:20.000');
  const vanished = await there.item(ada.uuid);
  const moves = await there.item(ada.uuid);
  const returns = await there.item(ada.uuid, inVault);
  const changesHands = await there.item(ada.uuid, inVault);
  await move.pass([...key, `${folder}/key`]);

  const later = someTime + 1_000;
  await there.run(
    'UPDATE items SET deleted = 1, content = NULL, enc_item_key = NULL, items_key_id = NULL, updated_at_timestamp = ? WHERE uuid = ?',
    [later, deleted],
  );
  await there.run('DELETE FROM revisions_revisions WHERE item_uuid = ?', [deleted]);
  await there.run('DELETE FROM items WHERE uuid = ?', [vanished]);
  await there.run(
    'UPDATE items SET shared_vault_uuid = ?, last_edited_by = ?, updated_at_timestamp = ? WHERE uuid = ?',
    [vault, ben.uuid, later, moves],
  );
  // A vault that is left, or handed on, changes no time.
  await there.run('UPDATE items SET shared_vault_uuid = NULL WHERE uuid = ?', [returns]);
  await there.run('UPDATE items SET user_uuid = ? WHERE uuid = ?', [ben.uuid, changesHands]);
  const added = await there.item(ben.uuid);
  const { tables } = await move.pass();
  t.like(tables.items, { read: 6, unchanged: 1, written: 5 });
  t.like(await move.verify(), { same: true, items: 6, revisions: 0 });

  const { first, sync } = await firstSync(move, 'ada@example.org');
  const found = new Map(first.retrieved_items.map((item: { uuid: string }) => [item.uuid, item]));
  t.deepEqual([...found.keys()].toSorted(), [remaining, moves, returns, changesHands].toSorted());
  t.like(found.get(moves), { shared_vault_uuid: vault, last_edited_by_uuid: ben.uuid });
  t.like(found.get(returns), { shared_vault_uuid: null, updated_at_timestamp: someTime + 1 });
  t.like(found.get(changesHands), { user_uuid: ben.uuid, shared_vault_uuid: vault });
  const again = (await sync([], 'unknown')).body.retrieved_items;
  t.true(again.find((item: { uuid: string }) => item.uuid === deleted).deleted);
  const ofBen = (await firstSync(move, 'ben@example.org')).first.retrieved_items;
  t.true(ofBen.some((item: { uuid: string }) => item.uuid === added));
});

/** A vault of Ada's with an item of hers and one of Ben's, as a first pass has brought it. */
async function vaultOfTwo(t: ExecutionContext) {
  const { move, there, folder, ada, ben, vault, inVault } = await sharedVault(t);
  const [ofAda, ofBen] = [await there.item(ada.uuid, inVault), await there.item(ben.uuid, inVault)];
  const vanished = await there.item(ada.uuid, inVault);
  const firstPass = (options: readonly string[] = ['--keep-closed']) =>
    move.pass([...options, '--source-key-file', `${folder}/key`]);
  const deleteVault = async () => {
    for (const table of ['shared_vaults', 'shared_vault_users', 'shared_vault_invites'])
      await there.run(`DELETE FROM ${table}`);
    await there.run('UPDATE items SET shared_vault_uuid = NULL, key_system_identifier = NULL');
    await there.run('DELETE FROM items WHERE uuid = ?', [vanished]);
  };
  const vaultsOf = async (email: string) => {
    const { first, get } = await firstSync(move, email);
    const { sharedVaults } = (await get('/v1/shared-vaults')).body;
    const items = first.retrieved_items.map(({ uuid }: { uuid: string }) => uuid);
    return { items, vaults: sharedVaults.map(({ uuid }: { uuid: string }) => uuid) };
  };
  return { ...move, ada, ben, vault, ofAda, ofBen, firstPass, deleteVault, vaultsOf };
}

test('a vault that was deleted there ends here, and its items are where they are now', async (t) => {
  const move = await vaultOfTwo(t);
  const { vault, ofAda, ofBen } = move;
  await move.firstPass();
  await move.deleteVault();
  const { differences } = await move.verify(65);
  t.true(differences.some(({ uuid, why }: Record<string, string>) => uuid === vault && why === 'surplus'));
  t.like(await move.firstPass(['--dry-run']), { endedVaults: 1 });
  t.like(await move.firstPass(['--dry-run']), { endedVaults: 1 });

  const { endedVaults, findings } = await move.pass();
  t.is(endedVaults, 1);
  t.like(findings, [{ table: 'shared_vaults', reason: 'deleted-there', uuid: vault, imported: false }]);
  t.like(await move.verify(), { same: true, items: 2, vaults: 0 });
  t.like(await move.pass(), { endedVaults: 0 });
  t.deepEqual(await move.vaultsOf('ada@example.org'), { items: [ofAda], vaults: [] });
  t.deepEqual(await move.vaultsOf('ben@example.org'), { items: [ofBen], vaults: [] });
});

for (const table of ['shared_vaults', 'shared_vaults, shared_vault_users']) {
  test(`a vault does not end because the source lacks its rows of ${table}`, async (t) => {
    const move = await vaultOfTwo(t);
    await move.firstPass();
    for (const name of table.split(', ')) await move.there.run(`DELETE FROM ${name}`);
    t.like(await move.firstPass(['--dry-run']), { endedVaults: 0 });
    t.is((await move.pass(undefined, 65)).endedVaults, 0);
    t.deepEqual((await move.vaultsOf('ben@example.org')).vaults, [move.vault]);
  });
}

test('a vault that was deleted there stays if a member has signed in here', async (t) => {
  const move = await vaultOfTwo(t);
  await move.firstPass([]);
  const { vaults } = await move.vaultsOf('ben@example.org');
  t.deepEqual(vaults, [move.vault]);
  await move.deleteVault();
  const { endedVaults, tables } = await move.pass(undefined, 65);
  t.is(endedVaults, 0);
  t.deepEqual(tables.items.skipped, { taken: 1, 'account-gone': 1 }, 'the vault still has them');
  t.deepEqual((await move.vaultsOf('ben@example.org')).vaults, [move.vault]);
});

test('accounts and vaults of a server that was imported before stay, and verify names the accounts', async (t) => {
  const move = await vaultOfTwo(t);
  const { there, ada, ben, vault } = move;
  await move.firstPass([]);
  // From here on it is another server, with other users.
  await there.run('DELETE FROM users');
  await move.deleteVault();
  await there.run('DELETE FROM items');
  await there.user('cyd@example.org');
  t.like(await move.pass(), { endedVaults: 0, opened: 1 });
  const named = (await move.verify(65)).differences;
  t.deepEqual(
    named.map(({ what, uuid, why }: Record<string, string>) => `${what} ${why} ${uuid}`).toSorted(),
    [ada.uuid, ben.uuid].map((uuid) => `account surplus ${uuid}`).toSorted(),
  );
  t.deepEqual((await move.vaultsOf('ada@example.org')).vaults, [vault]);
});

test('a new password, a factor, a setting and a message that are gone, and a member who has left', async (t) => {
  const move = await startMove(t);
  const { there, folder } = move;
  const ada = await there.user('ada@example.org');
  const ben = await there.user('ben@example.org');
  const secret = envelope('JBSWY3DPEHPK3PXP', ada.userKey);
  await there.setting(ada.uuid, 'MFA_SECRET', secret, { server_encryption_version: 1 });
  await there.setting(ada.uuid, 'MUTE_MARKETING_EMAILS', 'muted');
  const vault = await there.vault(ada.uuid);
  await there.member(vault, ben.uuid, 'write');
  const times = { created_at_timestamp: someTime, updated_at_timestamp: someTime };
  const message = { recipient_uuid: ada.uuid, sender_uuid: ben.uuid, encrypted_message: 'x', ...times };
  const processed = randomUUID();
  await there.insert('messages', { uuid: processed, ...message });
  await there.insert('messages', { uuid: randomUUID(), ...message });
  await move.pass([...key, `${folder}/key`]);
  t.is((await loginParams(move, 'ada@example.org')).body.error.tag, 'mfa-required');

  await there.run('DELETE FROM settings');
  await there.run('DELETE FROM messages WHERE uuid = ?', [processed]);
  await there.run('DELETE FROM shared_vault_users WHERE user_uuid = ?', [ben.uuid]);
  await there.run('UPDATE users SET pw_nonce = ? WHERE uuid = ?', ['other'.padEnd(64, '0'), ada.uuid]);
  await move.pass();
  t.true((await move.verify()).same);
  t.like((await loginParams(move, 'ada@example.org')).body, { pw_nonce: 'other'.padEnd(64, '0') });
  const { get } = await firstSync(move, 'ada@example.org');
  t.is((await get('/v1/messages')).body.messages.length, 1);
  t.is((await get(`/v1/users/${ada.uuid}/settings/MUTE_MARKETING_EMAILS`)).body.setting.value, 'not_muted');
  t.is((await get(`/v1/shared-vaults/${vault}/users`)).body.users.length, 1);
  const ofBen = await firstSync(move, 'ben@example.org');
  t.deepEqual((await ofBen.get('/v1/shared-vaults')).body.sharedVaults, []);
});

test('an invite that waits for an answer comes as the last pass finds it, and the invitee accepts it', async (t) => {
  const move = await startMove(t);
  const { there } = move;
  const ada = await there.user('ada@example.org');
  const ben = await there.user('ben@example.org');
  const vault = await there.vault(ada.uuid);
  const inVault = { shared_vault_uuid: vault, key_system_identifier: 'k', last_edited_by: ada.uuid };
  const shared = await there.item(ada.uuid, inVault);
  const invite = {
    uuid: randomUUID(),
    shared_vault_uuid: vault,
    user_uuid: ben.uuid,
    sender_uuid: ada.uuid,
    encrypted_message: 'the key of the vault',
    permission: 'read',
    created_at_timestamp: someTime,
    updated_at_timestamp: someTime,
  };
  await there.insert('shared_vault_invites', invite);
  await move.pass();
  const later = { permission: 'write', updated_at_timestamp: someTime + 5 };
  await there.run('UPDATE shared_vault_invites SET permission = ?, updated_at_timestamp = ?', [
    later.permission,
    later.updated_at_timestamp,
  ]);
  await move.pass();
  const { get, sync, access } = await firstSync(move, 'ben@example.org');
  const { invites } = (await get('/v1/shared-vaults/invites')).body;
  t.like(invites, [{ ...invite, ...later }]);
  const path = `/v1/shared-vaults/${vault}/invites/${invite.uuid}/accept`;
  t.is((await call(move.world.server.url, 'POST', path, { bearer: access })).status, 200);
  const { retrieved_items: found } = (await sync()).body;
  t.true(found.some(({ uuid }: { uuid: string }) => uuid === shared));
});

test('a vault with a member who has signed in here is left as it is, and verify says what is in use', async (t) => {
  const move = await startMove(t);
  const { there } = move;
  const ada = await there.user('ada@example.org');
  const ben = await there.user('ben@example.org');
  const vault = await there.vault(ada.uuid);
  await there.member(vault, ben.uuid, 'write');
  await move.pass();
  t.is((await signInWith(move, 'ben@example.org')).status, 200);
  const inVault = { shared_vault_uuid: vault, key_system_identifier: 'k', last_edited_by: ada.uuid };
  await there.item(ada.uuid, inVault);
  await there.item(ada.uuid);
  const { tables } = await move.pass();
  t.deepEqual(tables.users.skipped, { used: 1 });
  t.deepEqual(tables.shared_vaults.skipped, { 'in-use': 1 });
  t.deepEqual(tables.items.skipped, { 'vault-in-use': 1 });
  t.is(tables.items.written, 1);
  t.like(await move.verify(), { same: true, accounts: 1, inUse: 1 });
});

test('verify finds what is missing, what is more, and what differs', async (t) => {
  const move = await startMove(t);
  const { there } = move;
  const ada = await there.user('ada@example.org');
  const [changed, removed] = [await there.item(ada.uuid), await there.item(ada.uuid)];
  await there.revision(changed, ada.uuid, '2023-11-14 22:13:20.000');
  await move.pass();
  await there.run('UPDATE items SET content = ? WHERE uuid = ?', ['004:other', changed]);
  await there.run('UPDATE revisions_revisions SET content = ?', ['004:other']);
  await there.run('DELETE FROM items WHERE uuid = ?', [removed]);
  const added = await there.item(ada.uuid);
  const { same, differences } = await move.verify(65);
  t.false(same);
  const named = differences.map(({ what, uuid, why }: Record<string, string>) => [what, uuid, why]);
  const [[, revisionUuid] = []] = named.filter(([what]: string[]) => what === 'revision');
  t.deepEqual(
    named.map(String).toSorted(),
    [
      ['item', changed, 'differs'],
      ['item', removed, 'surplus'],
      ['item', added, 'missing'],
      ['revision', revisionUuid, 'differs'],
    ]
      .map(String)
      .toSorted(),
  );
});
