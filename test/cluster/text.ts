/** What a write stores in place of ciphertext: text that names its user, item and mark, and can be told whole. */
import type { Seen, Write } from './history.ts';

const apiItem = { content_type: 'Note', created_at: '2026-01-01T00:00:00.000Z', created_at_timestamp: 0 };
const lengthMax = 1_500;
/** Beyond what one row and one frame hold. */
const largeLength = 700_000;
const largeOneIn = 250;

function textOf(user: string, uuid: string, mark: string): string {
  const number = Number.parseInt(mark.slice(0, 8), 16);
  const length = number % largeOneIn === 0 ? largeLength : number % lengthMax;
  return `004:${user}:${uuid}:${mark}:`.padEnd(length, mark);
}

const keyOf = (mark: string): string => `004:key:${mark}`;

/** The write as an item on the wire. A mark stands in `duplicate_of`, which a tombstone keeps. */
export function itemOf(user: string, { uuid, mark, base, deleted }: Write) {
  const text = deleted ? {} : { content: textOf(user, uuid, mark), enc_item_key: keyOf(mark) };
  return { ...apiItem, uuid, duplicate_of: mark, deleted, updated_at_timestamp: base, ...text };
}

/** An item as a sync gives it, as far as it is looked at. */
export interface WireItem {
  readonly uuid: string;
  readonly content: string | null;
  readonly enc_item_key: string | null;
  readonly duplicate_of: string | null;
  readonly deleted: boolean;
  readonly updated_at_timestamp: number;
  readonly user_uuid: string;
}

export function seenOf(item: WireItem): Seen {
  const { uuid, duplicate_of: mark, deleted, user_uuid: owner } = item;
  return { uuid, mark, deleted, owner, version: item.updated_at_timestamp, whole: isWhole(item) };
}

function isWhole({ uuid, content, enc_item_key, duplicate_of: mark, deleted, user_uuid }: WireItem): boolean {
  if (deleted) return content === null && enc_item_key === null;
  return mark !== null && content === textOf(user_uuid, uuid, mark) && enc_item_key === keyOf(mark);
}
