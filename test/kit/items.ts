/** Items in a client's form, and saves that bypass the interface, for tests of item sync. */
import type { ClientItem } from '../../actors/collection/item-fields.ts';
import type { Saver } from '../../actors/collection/save.ts';

export const userUuid = '11111111-1111-4111-8111-111111111111';
export const otherUserUuid = '22222222-2222-4222-8222-222222222222';
export const sessionUuid = '33333333-3333-4333-8333-333333333333';

/** The n-th of a series of distinct uuids. */
export function uuidNumber(n: number): string {
  return `00000000-0000-4000-8000-${n.toString(16).padStart(12, '0')}`;
}

/** A note that was never synced. */
export function note(overrides: ClientItem = {}): ClientItem {
  return {
    uuid: uuidNumber(1),
    content_type: 'Note',
    content: '004:ciphertext',
    enc_item_key: '004:key',
    items_key_id: uuidNumber(0xffff),
    deleted: false,
    created_at: '2024-02-26T10:11:12.345678Z',
    created_at_timestamp: 1_708_942_272_345_678,
    updated_at: '1970-01-01T00:00:00.000Z',
    updated_at_timestamp: 0,
    ...overrides,
  };
}

/** A note that its client puts into a vault, or has there. */
export const inVault = (vault: string, overrides: ClientItem = {}): ClientItem =>
  note({ shared_vault_uuid: vault, key_system_identifier: 'system', ...overrides });

/** A client's request to delete an item that it last saw at this version. */
export function deletion(uuid: string, updatedAtTimestamp: number): ClientItem {
  return { uuid, content_type: 'Note', deleted: true, updated_at_timestamp: updatedAtTimestamp };
}

export function saver(overrides: Partial<Saver> = {}): Saver {
  return {
    collection: userUuid,
    userUuid,
    sessionUuid,
    readOnly: false,
    legacy: false,
    snjsVersion: '2.204.7',
    contentLimitBytes: 16 * 1024 * 1024,
    revisionPauseMs: 300_000,
    ...overrides,
  };
}
