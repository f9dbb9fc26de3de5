/**
 * What tells the repeat of a save whose reply was lost from another save (design 5): SHA-256 over the session and
 * all fields as sent, including the timestamp the save is based on.
 */
import { hash } from 'node:crypto';
import type { ClientItem } from './incoming.ts';

export function fingerprintOf(sessionUuid: string, sent: ClientItem): Buffer {
  const fields = [
    sessionUuid,
    sent.uuid,
    sent.content_type,
    sent.content,
    sent.enc_item_key,
    sent.items_key_id,
    sent.auth_hash,
    sent.duplicate_of,
    sent.deleted,
    sent.created_at,
    sent.created_at_timestamp,
    sent.updated_at,
    sent.updated_at_timestamp,
    sent.key_system_identifier,
    sent.shared_vault_uuid,
  ];
  return hash('sha256', JSON.stringify(fields), 'buffer');
}
