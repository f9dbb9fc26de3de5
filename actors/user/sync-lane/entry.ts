/**
 * The part of a command that the journal stores (docs/protocol/sockets.md, "The journal"). It has the token that the command pulled
 * from, the saved items, the conflicts, and the token that it returned. It never keeps ciphertext: a repeat reads that again.
 *
 * A repeat pulls from the same token, and answers with the token that was given first. An item that has changed since lies
 * behind that token, so the next sync gives it. An item that has not changed is in the page that is read again, unless newer
 * items of other collections have taken its place there. So the token passes no item that this page does not reach.
 */
import { z } from 'zod';
import { type Conflict, conflictTypes, syncConflict, unsavedItem } from '../../collection/conflicts.ts';
import type { ItemRow } from '../../collection/item.ts';
import {
  type ClientItem,
  formatMicros,
  type SavedItem,
  savedFieldNames,
} from '../../collection/item-fields.ts';
import type { ModernSyncReply, SyncRequest } from '../../collection/sync-contract.ts';
import { notBeyond } from '../../collection/token.ts';

const tokens = { sync_token: z.string().nullish(), cursor_token: z.string().nullish() };

const fromSchema = z.object({
  ...tokens,
  limit: z.number().nullish(),
  api: z.string().nullish(),
  content_type: z.string().nullish(),
  shared_vault_uuids: z.array(z.string()).nullish(),
});

/** Absent: the command ran, and its answer is unknown. */
const outcomeSchema = z.object({
  saved: z.array(z.record(z.string(), z.unknown())).readonly(),
  conflicts: z.array(z.tuple([z.string(), z.enum(conflictTypes)])).readonly(),
  to: z.object({ sync_token: z.string(), cursor_token: z.string().optional() }),
});

const storedSchema = z.object({ from: fromSchema, outcome: outcomeSchema.optional() });
type StoredEntry = z.infer<typeof storedSchema>;

export interface JournalEntry extends StoredEntry {
  readonly digest: string;
}

/** The bound of one entry. A larger one keeps no lists: the client sends the items again, and each is recognised. */
const storedCharactersMax = 64 * 1024;

export function entryOf(digest: string, request: SyncRequest, reply: ModernSyncReply): JournalEntry {
  const { api, sync_token, cursor_token, limit, content_type, shared_vault_uuids } = request;
  const from = { api, sync_token, cursor_token, limit, content_type, shared_vault_uuids };
  const to = {
    sync_token: reply.sync_token,
    ...(reply.cursor_token !== undefined && { cursor_token: reply.cursor_token }),
  };
  const saved = reply.saved_items.map(compact);
  const conflicts = reply.conflicts.map(({ type, server_item, unsaved_item }): [string, Conflict['type']] => [
    String(server_item?.uuid ?? unsaved_item?.uuid ?? ''),
    type,
  ]);
  const stored = { from, outcome: { saved, conflicts, to } };
  return isLarge(stored) ? { digest, from: {} } : { digest, ...stored };
}

/** Clients send tokens and types of any length, and entries stay in memory. So this counts characters before anything is kept. */
function isLarge(stored: StoredEntry): boolean {
  let left = storedCharactersMax;
  const fits = (value: unknown): boolean => {
    left -= typeof value === 'string' ? value.length : 1;
    if (left < 0) return false;
    return typeof value !== 'object' || value === null || Object.values(value).every(fits);
  };
  return !fits(stored);
}

export function entryText({ from, outcome }: JournalEntry): string {
  const text = JSON.stringify({ from, outcome });
  return text.length <= storedCharactersMax ? text : JSON.stringify({ from: {} });
}

export const readEntry = (digest: string, text: string): JournalEntry => ({
  digest,
  ...storedSchema.parse(JSON.parse(text)),
});

/** The conflicts for which a repeat reads the server's item again. */
export const uuidsInConflict = ({ outcome }: JournalEntry): readonly string[] =>
  (outcome?.conflicts ?? []).flatMap(([uuid, type]) =>
    type === 'sync_conflict' ? [uuid.toLowerCase()] : [],
  );

/** What a repeat reads. */
export interface ReadAgain {
  readonly userUuid: string;
  /** What a sync from the same token gives now. */
  readonly pulled: ModernSyncReply;
  row(uuid: string): ItemRow | undefined;
  /** The items of the command, where the client has sent them again. */
  readonly sent: readonly ClientItem[] | undefined;
}

/** Undefined: only a repeat with the items can be answered. */
export function replyAgain({ outcome }: JournalEntry, again: ReadAgain): ModernSyncReply | undefined {
  if (outcome === undefined) return undefined;
  const conflicts = outcome.conflicts.map((each) => conflictAgain(each, again));
  if (conflicts.includes('unknown')) return undefined;
  const saved = outcome.saved.map(expanded);
  const known = new Set([
    ...saved.map(({ uuid }) => uuid.toLowerCase()),
    ...outcome.conflicts.map(([uuid]) => uuid.toLowerCase()),
  ]);
  const { cursor_token: _cursor, ...pulled } = again.pulled;
  const sync_token = notBeyond(outcome.to.sync_token, pulled.sync_token);
  return {
    ...pulled,
    retrieved_items: pulled.retrieved_items.filter(({ uuid }) => !known.has(uuid)),
    saved_items: saved,
    conflicts: conflicts.filter((each) => each !== undefined && each !== 'unknown'),
    sync_token,
    ...(outcome.to.cursor_token !== undefined && { cursor_token: sync_token }),
  };
}

/** Undefined: the server's item is gone, so the client sends its own again. */
function conflictAgain(
  [uuid, type]: readonly [string, Conflict['type']],
  { userUuid, row, sent }: ReadAgain,
): Conflict | 'unknown' | undefined {
  if (type === 'sync_conflict') {
    const stored = row(uuid.toLowerCase());
    return stored && syncConflict(stored, uuid);
  }
  if (sent === undefined) return 'unknown';
  const item = sent.find((each) => String(each.uuid ?? '') === uuid);
  return item && { type, unsaved_item: unsavedItem(item, userUuid) };
}

function compact({
  created_at: _created,
  updated_at: _updated,
  ...item
}: SavedItem): Record<string, unknown> {
  return Object.fromEntries(Object.entries(item).filter(([, value]) => value !== null));
}

function expanded(stored: Readonly<Record<string, unknown>>): SavedItem {
  const item = Object.fromEntries(savedFieldNames.map((name) => [name, stored[name] ?? null]));
  return {
    ...item,
    created_at: formatMicros(stored['created_at_timestamp'] as number),
    updated_at: formatMicros(stored['updated_at_timestamp'] as number),
  } as unknown as SavedItem;
}
