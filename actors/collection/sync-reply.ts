/** The answer of a sync (docs/protocol/sync.md, "The answer"), in today's format and in that of API version 20161215. */
import { z } from 'zod';
import { messageSchema, notificationSchema, vaultInviteSchema } from '../inbox-entries.ts';
import { answeredCommandSchema } from '../sync-command.ts';
import { type Conflict, conflictTypes, type UnsavedItem } from './conflicts.ts';
import type { Head } from './head.ts';
import type { ItemRow } from './item.ts';
import { type FullItem, fullItem, fullItemSchema, savedItem, savedItemSchema } from './item-fields.ts';
import type { Tokens } from './retrieve.ts';
import type { SavedEntry } from './save-items.ts';

const conflictSchema = z.object({
  type: z.enum(conflictTypes),
  server_item: fullItemSchema.optional(),
  unsaved_item: z.record(z.string(), z.unknown()).optional(),
}) as unknown as z.ZodType<Conflict>;

const tokens = { sync_token: z.string(), cursor_token: z.string().optional() };
const vaultSchema = z.object({
  uuid: z.string(),
  user_uuid: z.string(),
  file_upload_bytes_used: z.number(),
  created_at_timestamp: z.number(),
  updated_at_timestamp: z.number(),
});
export type SharedVault = z.infer<typeof vaultSchema>;

/** Every list is always there. */
export const modernReplySchema = z.object({
  retrieved_items: z.array(fullItemSchema).readonly(),
  saved_items: z.array(savedItemSchema).readonly(),
  conflicts: z.array(conflictSchema).readonly(),
  ...tokens,
  messages: z.array(messageSchema).readonly(),
  shared_vaults: z.array(vaultSchema).readonly(),
  shared_vault_invites: z.array(vaultInviteSchema).readonly(),
  notifications: z.array(notificationSchema).readonly(),
  /** Present when the client has named the sync (docs/protocol/sockets.md, "Commands over HTTP"). */
  command: answeredCommandSchema.optional(),
});
export type ModernSyncReply = z.infer<typeof modernReplySchema>;

/** The answer in API version 20161215. */
const legacyReplySchema = z.object({
  retrieved_items: z.array(fullItemSchema).readonly(),
  saved_items: z.array(fullItemSchema).readonly(),
  unsaved: z
    .array(
      z.object({
        item: z.record(z.string(), z.unknown()) as unknown as z.ZodType<FullItem | UnsavedItem>,
        error: z.object({ tag: z.string() }),
      }),
    )
    .readonly(),
  ...tokens,
});
export type LegacySyncReply = z.infer<typeof legacyReplySchema>;

export const syncReplySchema = z.union([modernReplySchema, legacyReplySchema]);
export type SyncReply = z.infer<typeof syncReplySchema>;

/** The result of a sync, before it is shaped. */
export interface SyncResult {
  readonly retrieved: readonly ItemRow[];
  readonly saved: readonly SavedEntry[];
  readonly conflicts: readonly Conflict[];
  readonly tokens: Tokens;
  readonly vaults?: readonly SharedVault[] | undefined;
}

export function modernReply({
  retrieved,
  saved,
  conflicts,
  tokens,
  vaults = [],
}: SyncResult): ModernSyncReply {
  return {
    retrieved_items: retrieved.map((row) => fullItem(row)),
    saved_items: saved.map(({ row, uuid }) => savedItem(row, uuid)),
    conflicts,
    ...tokens,
    messages: [],
    shared_vaults: vaults,
    shared_vault_invites: [],
    notifications: [],
  };
}

const idleReplies = new WeakMap<Head, ModernSyncReply>();
const idleTexts = new WeakMap<SyncReply, string>();

/** Nearly every sync sends nothing and finds nothing. Its answer is made once per head, and so is its JSON. */
export function idleReply(head: Head, tokens: Tokens): ModernSyncReply {
  const known = idleReplies.get(head);
  if (known !== undefined) return known;
  const reply = modernReply({ retrieved: [], saved: [], conflicts: [], tokens });
  idleReplies.set(head, reply);
  keepText(reply);
  return reply;
}

/** For a reply that is given more than once. */
export function keepText(reply: SyncReply): void {
  idleTexts.set(reply, JSON.stringify(reply));
}

export function syncReplyJson(reply: SyncReply): string {
  const { command } = reply as Partial<ModernSyncReply>;
  if (command === undefined) return idleTexts.get(reply) ?? JSON.stringify(reply);
  const { replayed: _header, ...commandReply } = command;
  return JSON.stringify({ ...reply, command: commandReply });
}

/** Legacy clients treat two versions of one item closer than this as the same. */
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
