/** Items as clients get them (sync.md 1.3). Every field is always there; what has no value is null. */
import type { ItemRow } from './item.ts';
import { formatMicros } from './micros.ts';

/** What `saved_items` holds: clients overwrite their copy with it and keep their own ciphertext. */
export interface SavedItem {
  readonly uuid: string;
  readonly duplicate_of: string | null;
  readonly content_type: string | null;
  readonly auth_hash: string | null;
  readonly deleted: boolean;
  /** ISO 8601 UTC with six fraction digits; the `_timestamp` fields are the same in microseconds. */
  readonly created_at: string;
  readonly created_at_timestamp: number;
  readonly updated_at: string;
  readonly updated_at_timestamp: number;
  readonly key_system_identifier: string | null;
  readonly shared_vault_uuid: string | null;
  readonly user_uuid: string;
  readonly last_edited_by_uuid: string | null;
}

export interface FullItem extends SavedItem {
  readonly items_key_id: string | null;
  readonly enc_item_key: string | null;
  readonly content: string | null;
  readonly updated_with_session: string | null;
}

/** `uuid` as the client spells it, so that it finds its own item again. */
export function fullItem(row: ItemRow, uuid: string = row.uuid): FullItem {
  return {
    uuid,
    items_key_id: row.items_key_id,
    duplicate_of: row.duplicate_of,
    enc_item_key: row.enc_item_key,
    content: row.content,
    content_type: row.content_type,
    auth_hash: row.auth_hash,
    deleted: row.deleted,
    created_at: formatMicros(row.created_at_timestamp),
    created_at_timestamp: row.created_at_timestamp,
    updated_at: formatMicros(row.updated_at_timestamp),
    updated_at_timestamp: row.updated_at_timestamp,
    updated_with_session: row.updated_with_session,
    key_system_identifier: row.key_system_identifier,
    shared_vault_uuid: row.shared_vault_uuid,
    user_uuid: row.owner_uuid,
    last_edited_by_uuid: row.last_edited_by_uuid,
  };
}

export function savedItem(row: ItemRow, uuid: string = row.uuid): SavedItem {
  return {
    uuid,
    duplicate_of: row.duplicate_of,
    content_type: row.content_type,
    auth_hash: row.auth_hash,
    deleted: row.deleted,
    created_at: formatMicros(row.created_at_timestamp),
    created_at_timestamp: row.created_at_timestamp,
    updated_at: formatMicros(row.updated_at_timestamp),
    updated_at_timestamp: row.updated_at_timestamp,
    key_system_identifier: row.key_system_identifier,
    shared_vault_uuid: row.shared_vault_uuid,
    user_uuid: row.owner_uuid,
    last_edited_by_uuid: row.last_edited_by_uuid,
  };
}
