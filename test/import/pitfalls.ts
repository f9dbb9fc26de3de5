/** Rows that only a long life leaves, each with what becomes of it: written once, and tried on both kinds of database. */
import { randomUUID } from 'node:crypto';
import type { ExecutionContext } from 'ava';
import { envelope, someTime } from './installation.ts';
import { firstSync, type Move, type Report } from './moving.ts';

export async function leavePitfalls({ there }: Move) {
  const ben = await there.user('ben@example.org');
  const ada = await there.user('ada@example.org');
  const vault = await there.vault(ada.uuid);
  const nobody = randomUUID();
  const noVault = randomUUID();
  const uuids = {
    ownerGone: await there.item(nobody),
    vaultGone: await there.item(ben.uuid, {
      shared_vault_uuid: noVault,
      last_edited_by: ben.uuid,
      key_system_identifier: randomUUID(),
    }),
    unknownType: await there.item(ben.uuid, { content_type: 'SN|Old|Kind' }),
    neverSaved: await there.item(ben.uuid, { created_at_timestamp: 0, updated_at_timestamp: 0 }),
    nullDeleted: await there.item(ben.uuid, { deleted: null }),
    fullTombstone: await there.item(ben.uuid, { deleted: 1, auth_hash: 'aa' }),
    withoutEditor: await there.item(ben.uuid, { shared_vault_uuid: vault, key_system_identifier: 'k' }),
    ofTheFuture: await there.item(ben.uuid, { created_at_timestamp: 4_070_908_800_000_000 }),
    empty: await there.item(ben.uuid, { content: null, enc_item_key: null, items_key_id: null }),
  };
  await there.revision(uuids.nullDeleted, null, '2019-06-01 10:00:00.000');
  await there.revision(uuids.nullDeleted, ada.uuid, '2023-06-01 10:00:00.000');
  await there.revision(uuids.nullDeleted, ben.uuid, null);
  await there.revision(randomUUID(), ben.uuid, '2019-06-01 10:00:00.000');
  await there.revision(uuids.fullTombstone, ben.uuid, '2019-06-01 10:00:00.000');
  await there.setting(ben.uuid, 'MUTE_MARKETING_EMAILS', 'muted');
  await there.setting(ben.uuid, 'MUTE_MARKETING_EMAILS', 'not_muted', { updated_at: someTime - 1 });
  await there.setting(ben.uuid, 'EXTENSION_KEY', 'not json at all', { server_encryption_version: 1 });
  await there.setting(ben.uuid, 'MUTE_FAILED_BACKUPS_EMAILS', 'muted');
  await there.setting(ben.uuid, 'MFA_SECRET', null, { server_encryption_version: 1 });
  const ofAnother = envelope('a token', ada.userKey);
  await there.setting(ben.uuid, 'DROPBOX_BACKUP_TOKEN', ofAnother, { server_encryption_version: 1 });
  await there.member(vault, ben.uuid, 'read', { created_at_timestamp: someTime - 7 });
  await there.member(vault, ben.uuid, 'write');
  await there.member(vault, nobody, 'write');
  await there.member(noVault, ben.uuid, 'write');
  const lost = await there.vault(nobody);
  const inherited = await there.vault(nobody);
  await there.member(inherited, ada.uuid, 'admin', { is_designated_survivor: 1 });
  const invite = {
    user_uuid: ben.uuid,
    sender_uuid: nobody,
    encrypted_message: 'x',
    permission: 'read',
    created_at_timestamp: someTime,
    updated_at_timestamp: someTime,
  };
  await there.insert('shared_vault_invites', { uuid: randomUUID(), shared_vault_uuid: noVault, ...invite });
  await there.insert('messages', {
    uuid: randomUUID(),
    recipient_uuid: ben.uuid,
    sender_uuid: nobody,
    encrypted_message: 'x',
    created_at_timestamp: someTime,
    updated_at_timestamp: someTime,
  });
  return { ben, ada, vault, lost, inherited, uuids };
}

export async function checkPitfalls(
  t: ExecutionContext,
  move: Move,
  left: Awaited<ReturnType<typeof leavePitfalls>>,
  report: Report,
): Promise<void> {
  const { tables, findings } = report;
  const isNoted = (reason: string, uuid: string) =>
    findings.some((each: { reason: string; uuid: string }) => each.reason === reason && each.uuid === uuid);
  t.deepEqual(tables.items.skipped, { 'account-gone': 1, 'content-type': 1 });
  t.deepEqual(tables.revisions_revisions.skipped, { 'item-not-here': 2 });
  t.deepEqual(tables.settings.skipped, {
    older: 1,
    'not-kept-here': 1,
    off: 1,
    'not-opened-by-the-key': 1,
  });
  t.deepEqual(tables.shared_vaults.skipped, { 'owner-gone': 1 });
  t.deepEqual(tables.shared_vault_users.skipped, { 'account-gone': 2, 'vault-gone': 2, twice: 1 });
  t.deepEqual(tables.shared_vault_invites.skipped, { 'vault-gone': 1 });
  t.true(isNoted('vault-gone', left.uuids.vaultGone));
  t.true(isNoted('deleted-with-content', left.uuids.fullTombstone));
  for (const { read, written, unchanged, skipped } of Object.values<Report>(tables)) {
    const sum = Object.values<number>(skipped).reduce((all, rows) => all + rows, written + unchanged);
    t.is(sum, read, 'every row is accounted for');
  }

  const { first, get, sync } = await firstSync(move, 'ben@example.org');
  const items = new Map<string, Report>(
    first.retrieved_items.map((item: { uuid: string }) => [item.uuid, item]),
  );
  const vaultGone = { shared_vault_uuid: null, last_edited_by_uuid: null, user_uuid: left.ben.uuid };
  t.like(items.get(left.uuids.vaultGone), vaultGone);
  t.truthy(items.get(left.uuids.vaultGone).key_system_identifier);
  t.like(items.get(left.uuids.neverSaved), { created_at_timestamp: 0, updated_at_timestamp: 0 });
  t.is(items.get(left.uuids.nullDeleted).deleted, false);
  t.like(items.get(left.uuids.withoutEditor), {
    shared_vault_uuid: left.vault,
    last_edited_by_uuid: left.ben.uuid,
  });
  t.is(items.get(left.uuids.ofTheFuture).created_at_timestamp, 4_070_908_800_000_000);
  t.is(items.get(left.uuids.empty).content, null);
  const again = (await sync([], 'unknown')).body.retrieved_items;
  const blank = { deleted: true, content: null, enc_item_key: null, auth_hash: null, items_key_id: null };
  t.like(
    again.find((item: { uuid: string }) => item.uuid === left.uuids.fullTombstone),
    blank,
  );

  const { revisions } = (await get(`/v2/items/${left.uuids.nullDeleted}/revisions`)).body;
  t.deepEqual(
    revisions.map(({ created_at }: { created_at: string }) => created_at),
    ['2023-11-14T22:13:20.123Z', '2023-06-01T10:00:00.000Z', '2019-06-01T10:00:00.000Z'],
    'a revision without a time has that of its item',
  );
  const setting = (name: string) => get(`/v1/users/${left.ben.uuid}/settings/${name}`);
  t.is((await setting('MUTE_MARKETING_EMAILS')).body.setting.value, 'muted');
  const { sharedVaults } = (await get('/v1/shared-vaults')).body;
  t.deepEqual(
    sharedVaults.map(({ uuid }: { uuid: string }) => uuid),
    [left.vault],
  );
  const { users } = (await get(`/v1/shared-vaults/${left.vault}/users`)).body;
  t.like(
    users.find(({ user_uuid }: { user_uuid: string }) => user_uuid === left.ben.uuid),
    { permission: 'write', created_at_timestamp: someTime - 7 },
  );
  t.is((await get('/v1/messages')).body.messages.length, 1);
  const ofAda = await firstSync(move, 'ada@example.org');
  const vaultsOfAda = (await ofAda.get('/v1/shared-vaults')).body.sharedVaults;
  t.deepEqual(
    vaultsOfAda.map(({ user_uuid }: { user_uuid: string }) => user_uuid),
    [left.ada.uuid, left.ada.uuid],
    'a vault without its owner is its survivor’s',
  );
}
