/** What a server of ours holds for an account, written down as the tables of the existing server have it. */
import { hashSync } from '@node-rs/bcrypt';
import { challengeOf, signIn, tokensOf } from '../kit/account.ts';
import { call } from '../kit/http.ts';
import type { Cell, Installation } from './installation.ts';

// biome-ignore lint/suspicious/noExplicitAny: JSON, as it comes
type Json = any;

export interface Holder {
  readonly email: string;
  readonly serverPassword: string;
}

export async function copyToInstallation(
  url: string,
  holders: readonly Holder[],
  there: Installation,
): Promise<void> {
  const written = new Set<string>();
  const once = async (uuid: string, write: () => Promise<unknown>) => {
    if (written.has(uuid)) return;
    written.add(uuid);
    await write();
  };
  for (const { email, serverPassword } of holders) {
    const params = { email, code_challenge: challengeOf('verifier') };
    const { pw_nonce } = (await call(url, 'POST', '/v2/login-params', { body: params })).body;
    const { access, userUuid } = tokensOf(await signIn({ url }, { email, password: serverPassword }));
    const get = async (path: string): Promise<Json> =>
      (await call(url, 'GET', path, { bearer: access })).body;
    await there.user(email, {
      uuid: userUuid,
      pw_nonce,
      encrypted_password: hashSync(serverPassword, 4).replace(/^\$2y/, '$2a'),
    });
    const body = { api: '20240226', items: [], sync_token: 'unknown', limit: 1_000 };
    const synced = (await call(url, 'POST', '/v1/items', { bearer: access, body })).body;
    for (const item of synced.retrieved_items) {
      await once(item.uuid, () => there.item(item.user_uuid, itemFields(item)));
      if (item.content_type !== 'Note') continue;
      for (const { uuid } of (await get(`/v2/items/${item.uuid}/revisions`)).revisions) {
        const { revision } = await get(`/v2/items/${item.uuid}/revisions/${uuid}`);
        await once(uuid, () => writeRevision(there, item.user_uuid, revision));
      }
    }
    for (const vault of (await get('/v1/shared-vaults')).sharedVaults) {
      const { users } = await get(`/v1/shared-vaults/${vault.uuid}/users`);
      await once(vault.uuid, () => writeVault(there, vault, users));
    }
    for (const message of (await get('/v1/messages')).messages) {
      await once(message.uuid, () => there.insert('messages', message));
    }
    for (const notification of synced.notifications) {
      await once(notification.uuid, () => there.insert('notifications', notification));
    }
  }
}

const itemFields = (item: Json): Readonly<Record<string, Cell>> => ({
  uuid: item.uuid,
  content: item.content,
  content_type: item.content_type,
  enc_item_key: item.enc_item_key,
  items_key_id: item.items_key_id,
  auth_hash: item.auth_hash,
  duplicate_of: item.duplicate_of,
  deleted: item.deleted ? 1 : 0,
  created_at_timestamp: item.created_at_timestamp,
  updated_at_timestamp: item.updated_at_timestamp,
  shared_vault_uuid: item.shared_vault_uuid,
  key_system_identifier: item.key_system_identifier,
  last_edited_by: item.last_edited_by_uuid,
});

function writeRevision(there: Installation, userUuid: string, revision: Json): Promise<void> {
  const at = revision.created_at.replace('T', ' ').replace('Z', '');
  return there.revision(revision.item_uuid, userUuid, at, {
    uuid: revision.uuid,
    content: revision.content,
    enc_item_key: revision.enc_item_key,
    items_key_id: revision.items_key_id,
    edited_by: revision.last_edited_by_uuid,
  });
}

async function writeVault(there: Installation, vault: Json, members: readonly Json[]): Promise<void> {
  const { uuid, user_uuid, created_at_timestamp, updated_at_timestamp } = vault;
  const times = { created_at_timestamp, updated_at_timestamp };
  await there.insert('shared_vaults', { uuid, user_uuid, file_upload_bytes_used: 0, ...times });
  for (const { is_designated_survivor, ...member } of members) {
    const survivor = { is_designated_survivor: is_designated_survivor ? 1 : 0 };
    await there.insert('shared_vault_users', { ...member, ...survivor });
  }
}
