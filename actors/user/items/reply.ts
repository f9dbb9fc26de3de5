/** What a sync answers (sync.md 1.4), in today's shape and in that of API version 20161215. */
import type { Conflict, UnsavedItem } from '../../collection/conflicts.ts';
import type { Head } from '../../collection/head.ts';
import type { ItemRow } from '../../collection/item.ts';
import type { Tokens } from '../../collection/retrieve.ts';
import type { SavedEntry } from '../../collection/save-items.ts';
import { type FullItem, fullItem, type SavedItem, savedItem } from '../../collection/wire.ts';

/** Every list is always there. Vaults, messages and notifications have none yet. */
export interface ModernSyncReply extends Tokens {
  readonly retrieved_items: readonly FullItem[];
  readonly saved_items: readonly SavedItem[];
  readonly conflicts: readonly Conflict[];
  readonly messages: readonly never[];
  readonly shared_vaults: readonly never[];
  readonly shared_vault_invites: readonly never[];
  readonly notifications: readonly never[];
}

export interface LegacySyncReply extends Tokens {
  readonly retrieved_items: readonly FullItem[];
  readonly saved_items: readonly FullItem[];
  readonly unsaved: readonly {
    readonly item: FullItem | UnsavedItem;
    readonly error: { readonly tag: string };
  }[];
}

export type SyncReply = ModernSyncReply | LegacySyncReply;

/** What became of a sync, before it is shaped. */
export interface SyncResult {
  readonly retrieved: readonly ItemRow[];
  readonly saved: readonly SavedEntry[];
  readonly conflicts: readonly Conflict[];
  readonly tokens: Tokens;
}

export function modernReply({ retrieved, saved, conflicts, tokens }: SyncResult): ModernSyncReply {
  return {
    retrieved_items: retrieved.map((row) => fullItem(row)),
    saved_items: saved.map(({ row, uuid }) => savedItem(row, uuid)),
    conflicts,
    ...tokens,
    messages: [],
    shared_vaults: [],
    shared_vault_invites: [],
    notifications: [],
  };
}

const idleReplies = new WeakMap<Head, ModernSyncReply>();
const idleTexts = new WeakMap<SyncReply, string>();

/** Nearly every sync brings nothing and finds nothing. What that is answered is made once per head, its JSON too. */
export function idleReply(head: Head, tokens: Tokens): ModernSyncReply {
  const known = idleReplies.get(head);
  if (known !== undefined) return known;
  const reply = modernReply({ retrieved: [], saved: [], conflicts: [], tokens });
  idleReplies.set(head, reply);
  idleTexts.set(reply, JSON.stringify(reply));
  return reply;
}

export function syncReplyJson(reply: SyncReply): string {
  return idleTexts.get(reply) ?? JSON.stringify(reply);
}

/** Legacy clients take two versions of one item closer than this for the same. */
const legacyDistanceMicros = 20_000_000;

export function legacyReply({ retrieved, saved, conflicts, tokens }: SyncResult): LegacySyncReply {
  const savedAt = new Map(saved.map(({ row }) => [row.uuid, row.updated_at_timestamp]));
  const overtaken = retrieved.filter(
    (row) => (savedAt.get(row.uuid) ?? 0) - row.updated_at_timestamp > legacyDistanceMicros,
  );
  return {
    retrieved_items: retrieved.filter((row) => !savedAt.has(row.uuid)).map((row) => fullItem(row)),
    saved_items: saved.map(({ row, uuid }) => fullItem(row, uuid)),
    unsaved: [
      ...conflicts.flatMap(({ type, unsaved_item: item }) =>
        type === 'uuid_conflict' && item !== undefined ? [{ item, error: { tag: type } }] : [],
      ),
      ...overtaken.map((row) => ({ item: fullItem(row), error: { tag: 'sync_conflict' } })),
    ],
    ...tokens,
  };
}
