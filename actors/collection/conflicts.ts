/**
 * Refusals of one item (docs/protocol/sync.md, "Conflicts"). Clients ignore a type they do not know and upload the item
 * again on every sync, so only these may be sent.
 */

import type { ItemRow } from './item.ts';
import type { ClientItem } from './item-fields.ts';
import { type FullItem, fullItem } from './item-fields.ts';

export const conflictTypes = [
  'sync_conflict',
  'uuid_conflict',
  'content_type_error',
  'content_error',
  'uuid_error',
  'readonly_error',
  'shared_vault_not_member_error',
  'shared_vault_insufficient_permissions_error',
  'shared_vault_invalid_state',
  'shared_vault_snjs_version_error',
] as const;
export type ConflictType = (typeof conflictTypes)[number];

export interface Conflict {
  readonly type: ConflictType;
  readonly server_item?: FullItem;
  readonly unsaved_item?: UnsavedItem;
}

/** The item as the client sent it. It is returned whole, so that the client can make a conflict copy. */
export type UnsavedItem = ClientItem & {
  readonly user_uuid: string;
  readonly key_system_identifier: unknown;
  readonly shared_vault_uuid: unknown;
};

/** The stored item is not the one this save was based on. */
export function syncConflict(stored: ItemRow, uuid: string): Conflict {
  return { type: 'sync_conflict', server_item: fullItem(stored, uuid) };
}

/**
 * Any other refusal. `readable` is the stored item, if the user may read it: the client then takes the server's version.
 * Without it the client keeps its own.
 */
export function refusal(
  type: Exclude<ConflictType, 'sync_conflict'>,
  sent: ClientItem,
  userUuid: string,
  readable?: ItemRow,
): Conflict {
  const unsaved = unsavedItem(sent, userUuid);
  if (readable === undefined) return { type, unsaved_item: unsaved };
  const uuid = typeof sent.uuid === 'string' ? sent.uuid : readable.uuid;
  return { type, unsaved_item: unsaved, server_item: fullItem(readable, uuid) };
}

export function unsavedItem(sent: ClientItem, userUuid: string): UnsavedItem {
  return {
    ...sent,
    user_uuid: userUuid,
    key_system_identifier: sent.key_system_identifier ?? null,
    shared_vault_uuid: sent.shared_vault_uuid ?? null,
  };
}
