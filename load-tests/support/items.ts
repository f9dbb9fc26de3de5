/** Notes as clients save and fetch them. */
import { api, type Call, dataOf, type Reply } from './call.ts';
import type { Operation } from './operations.ts';
import { uuid } from './uuid.ts';

const itemsKey = '11111111-2222-4333-8444-555555555555';
/** The limit that clients send. */
const pageItems = 150;

export interface SavedItem {
  readonly uuid: string;
  readonly updated_at_timestamp: number;
}

export interface SyncReply {
  readonly saved_items: readonly SavedItem[];
  readonly retrieved_items: readonly unknown[];
  readonly conflicts: readonly unknown[];
  readonly sync_token: string;
  readonly cursor_token?: string | null;
}

export const note = (content: string, base?: SavedItem): object => ({
  uuid: base?.uuid ?? uuid(),
  content_type: 'Note',
  content,
  enc_item_key: '004:enc-item-key',
  items_key_id: itemsKey,
  deleted: false,
  created_at_timestamp: 0,
  updated_at_timestamp: base?.updated_at_timestamp ?? 0,
});

export interface Sync {
  readonly operation: Operation;
  readonly token: string;
  readonly items?: readonly object[];
  readonly syncToken?: string | undefined;
  readonly cursorToken?: string | undefined;
}

export const syncCall = ({ operation, token, items = [], syncToken, cursorToken }: Sync): Call => ({
  operation,
  path: '/v1/items',
  token,
  body: { api, limit: pageItems, items, sync_token: syncToken, cursor_token: cursorToken },
});

export const synced = (reply: Reply): SyncReply | undefined => dataOf<SyncReply>(reply);

export function idle(reply: Reply): SyncReply | undefined {
  const data = synced(reply);
  return data?.retrieved_items.length === 0 ? data : undefined;
}

/** The one item was saved. */
export function saved(reply: Reply): SyncReply | undefined {
  const data = synced(reply);
  return data?.saved_items.length === 1 && data.conflicts.length === 0 ? data : undefined;
}
