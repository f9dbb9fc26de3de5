/**
 * The requests of item commands (docs/protocol/sync.md, "The request" and "Integrity") and the reply of a sync, in the names of
 * the wire.
 */
import { z } from 'zod';
import { messageSchema, notificationSchema, vaultInviteSchema } from '../inbox-entries.ts';
import { type Refused, refuse } from '../reply.ts';
import { answeredCommandSchema, commandIdentitySchema } from '../sync-command.ts';
import { type Conflict, conflictTypes, type UnsavedItem } from './conflicts.ts';
import type { Head } from './head.ts';
import { isAbsent, isUuid } from './incoming.ts';
import type { ItemRow } from './item.ts';
import {
  type ClientItem,
  type FullItem,
  fullItem,
  fullItemSchema,
  savedItem,
  savedItemJson,
  savedItemSchema,
} from './item-fields.ts';
import type { Tokens } from './retrieve.ts';
import type { SavedEntry } from './save-items.ts';

const vaultsMax = 1_000;
const payloadsMax = 500_000;

/** How the API description states what is checked by hand. */
const listOfObjects = { type: 'array', items: { type: 'object' } };

/** A field of a wrong type is that item's conflict, so items only have to be objects here. */
const objects = z
  .custom<readonly ClientItem[]>(
    (value) => Array.isArray(value) && value.every(isObject),
    'must be a list of objects',
  )
  .meta(listOfObjects);

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The body of a sync. */
export const syncBody = z.object({
  items: objects.nullish(),
  /** Absent, null or empty: a first sync. */
  sync_token: z.string().nullish(),
  cursor_token: z.string().nullish(),
  limit: z.number().nullish(),
  shared_vault_uuids: z.array(z.string()).max(vaultsMax).nullish(),
  api: z.string().nullish(),
  /** Legacy filter: only items of this type are given. */
  content_type: z.string().nullish(),
  /** The client's name for this sync. It is checked by hand, as its refusals have tags of their own. */
  command: z.unknown().optional(),
});

/** The request of `sync` and its siblings: the body and the X-SNJS-Version header. */
export const syncFields = syncBody.extend({
  snjs_version: z.string().nullable(),
  /** The name of this sync, from the body or from headers; undefined without one. */
  identity: commandIdentitySchema.optional(),
});
export type SyncRequest = z.infer<typeof syncFields>;

export const integrityFields = z.object({
  integrityPayloads: z
    .custom<readonly ClientItem[]>(
      (value) => Array.isArray(value) && value.length <= payloadsMax && value.every(isObject),
      'must be a list of objects',
    )
    .meta({ ...listOfObjects, maxItems: payloadsMax })
    .nullish(),
});

/** The item that a request names. */
export const itemFields = z.object({ uuid: z.string() });

const modernVersions: ReadonlySet<string> = new Set(['20190520', '20200115', '20240226']);

/** Whether the old shape of the protocol applies: a missing or unknown version means 20161215. */
export function isLegacy({ api }: SyncRequest): boolean {
  return !modernVersions.has(api ?? '');
}

/** A request that names vaults asks for their items alone (docs/protocol/sync.md, "Vaults"). */
export function isVaultExclusive({ shared_vault_uuids: vaults }: SyncRequest): boolean {
  return !isAbsent(vaults) && vaults.length > 0;
}

/** Clients send 150. */
const itemsMax = 20_000;

/** Defects that fail the whole request rather than one item of it. */
export function malformed(items: readonly ClientItem[]): Refused | undefined {
  if (items.length > itemsMax)
    return refuse.badRequest(`No more than ${itemsMax} items can be saved at once.`);
  const wrong = items.find(({ shared_vault_uuid: vault }) => !isAbsent(vault) && !isUuid(vault));
  if (wrong === undefined) return undefined;
  return refuse.badRequest(`Given value is not a valid uuid: ${quoted(wrong.shared_vault_uuid)}`);
}

const printedLengthMax = 64;

function quoted(value: unknown): string {
  return (JSON.stringify(value) ?? 'undefined').slice(0, printedLengthMax);
}

// --- replies -----------------------------------------------------------------------------------------------

/* The answer of a sync (docs/protocol/sync.md, "The answer"), in today's format and in that of API version 20161215. */

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

/** Keeps the text of a reply that is sent more than once. */
export function keepText(reply: SyncReply): void {
  idleTexts.set(reply, syncReplyJson(reply));
}

export function syncReplyJson(reply: SyncReply): string {
  return idleTexts.get(reply) ?? ('conflicts' in reply ? modernJson(reply) : JSON.stringify(reply));
}

/** `JSON.stringify` takes three times as long, as most lists are empty and most texts need no look for what has to be escaped. */
function modernJson(reply: ModernSyncReply): string {
  const { sync_token, cursor_token, command } = reply;
  let saved = '';
  for (const item of reply.saved_items) saved += (saved === '' ? '' : ',') + savedItemJson(item);
  return (
    `{"retrieved_items":${listJson(reply.retrieved_items)},"saved_items":[${saved}]` +
    `,"conflicts":${listJson(reply.conflicts)},"sync_token":"${sync_token}"` +
    (cursor_token === undefined ? '' : `,"cursor_token":"${cursor_token}"`) +
    `,"messages":${listJson(reply.messages)},"shared_vaults":${listJson(reply.shared_vaults)}` +
    `,"shared_vault_invites":${listJson(reply.shared_vault_invites)}` +
    `,"notifications":${listJson(reply.notifications)}${command === undefined ? '' : commandJson(command)}}`
  );
}

const listJson = (list: readonly unknown[]): string => (list.length === 0 ? '[]' : JSON.stringify(list));

/** Whether the command was answered before is said by a header. */
const commandJson = ({ replayed: _header, ...command }: NonNullable<ModernSyncReply['command']>): string =>
  `,"command":${JSON.stringify(command)}`;

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
