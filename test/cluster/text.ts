/**
 * The text that a write stores in place of ciphertext. It names its item and nonce, and shows whether it is complete.
 */
import type { Seen, Write } from './history.ts';

const apiItem = { content_type: 'Note', created_at: '2026-01-01T00:00:00.000Z', created_at_timestamp: 0 };
const lengthMax = 1_500;
/** More than one row and one frame hold. */
const largeLength = 700_000;
const largeOneIn = 250;

function textOf(uuid: string, nonce: string): string {
  const number = Number.parseInt(nonce.slice(0, 8), 16);
  const length = number % largeOneIn === 0 ? largeLength : number % lengthMax;
  return `004:${uuid}:${nonce}:`.padEnd(length, nonce);
}

const keyOf = (nonce: string): string => `004:key:${nonce}`;

/** The write as an item on the wire. Its nonce is in `duplicate_of`, which a tombstone keeps. */
export function itemOf({ uuid, nonce, base, deleted, vault }: Write) {
  const text = deleted ? {} : { content: textOf(uuid, nonce), enc_item_key: keyOf(nonce) };
  const shared = vault === undefined ? {} : { shared_vault_uuid: vault, key_system_identifier: 'keys' };
  return { ...apiItem, uuid, duplicate_of: nonce, deleted, updated_at_timestamp: base, ...text, ...shared };
}

/** An item in a sync, with the fields that tests read. */
export interface WireItem {
  readonly uuid: string;
  readonly content: string | null;
  readonly enc_item_key: string | null;
  readonly duplicate_of: string | null;
  readonly deleted: boolean;
  readonly updated_at_timestamp: number;
  readonly user_uuid: string;
  readonly shared_vault_uuid: string | null;
}

export function seenOf(item: WireItem): Seen {
  const { uuid, duplicate_of: nonce, deleted, user_uuid: owner, shared_vault_uuid: vault } = item;
  const version = item.updated_at_timestamp;
  return { uuid, nonce, deleted, owner, version, whole: isWhole(item), ...(vault !== null && { vault }) };
}

function isWhole({ uuid, content, enc_item_key, duplicate_of: nonce, deleted }: WireItem): boolean {
  if (deleted) return content === null && enc_item_key === null;
  return nonce !== null && content === textOf(uuid, nonce) && enc_item_key === keyOf(nonce);
}
