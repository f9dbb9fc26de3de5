/**
 * Every field of an item, once: its column, whether clients send it, and to whom it is given. What is stored, sent,
 * compared and fingerprinted follows from this table; the order is that of the wire.
 */
import { hash } from 'node:crypto';
import { z } from 'zod';
import type { ColumnType, ColumnValue, NullableColumnType } from '../../runtime/table.ts';

/**
 * The content types that clients know (docs/protocol/sync.md, "Content types"). Clients fail on any other type, so the server
 * stores no other.
 */
const contentTypes: ReadonlySet<string> = new Set([
  '*',
  'Extension',
  'Folder',
  'Note',
  'SF|Item',
  'SN|Component',
  'SN|Editor',
  'SN|EncryptedStorage',
  'SN|ExtensionRepo',
  'SN|File',
  'SN|FileSafe|Credentials',
  'SN|FileSafe|FileMetadata',
  'SN|FileSafe|Integration',
  'SN|HistorySession',
  'SN|ItemsKey',
  'SN|KeySystemItemsKey',
  'SN|KeySystemRootKey',
  'SN|RootKey|NoSync',
  'SN|SmartTag',
  'SN|Theme',
  'SN|TrustedContact',
  'SN|UserPreferences',
  'SN|VaultListing',
  'Tag',
]);

/** What a client needs before it can show anything else, and so gets on the first page of a first sync. */
export const firstPageContentTypes = ['SN|ItemsKey', 'SN|UserPreferences', 'SN|Theme'] as const;

/** Clients compute integrity without these (docs/protocol/sync.md, "Integrity"). */
export const itemsKeyContentType = 'SN|ItemsKey';

/** `null` is a known content type, and a missing one is not. */
export function isKnownContentType(value: unknown): value is string | null {
  return value === null || (typeof value === 'string' && contentTypes.has(value));
}

export const knownContentTypes: readonly string[] = [...contentTypes];

interface Field {
  readonly column: ColumnType | NullableColumnType;
  /** The name of the column, where it differs from the field's. */
  readonly storedAs?: string;
  /** For a field without a column: the `_timestamp` column whose time it shows as ISO 8601. */
  readonly timeOf?: string;
  readonly sent: boolean;
  /** `full`: to readers of the item. `saved`: also in `saved_items`, whose client has the ciphertext already. */
  readonly includedIn: 'full' | 'saved';
}

const itemFields = {
  uuid: { column: 'uuid', sent: true, includedIn: 'saved' },
  items_key_id: { column: 'text?', sent: true, includedIn: 'full' },
  duplicate_of: { column: 'text?', sent: true, includedIn: 'saved' },
  enc_item_key: { column: 'text?', sent: true, includedIn: 'full' },
  content: { column: 'text?', sent: true, includedIn: 'full' },
  content_type: { column: 'text?', sent: true, includedIn: 'saved' },
  auth_hash: { column: 'text?', sent: true, includedIn: 'saved' },
  deleted: { column: 'bool', sent: true, includedIn: 'saved' },
  created_at: { column: 'int8', timeOf: 'created_at_timestamp', sent: true, includedIn: 'saved' },
  /** Microseconds since the epoch: when the item was made, according to the client. */
  created_at_timestamp: { column: 'int8', sent: true, includedIn: 'saved' },
  updated_at: { column: 'int8', timeOf: 'updated_at_timestamp', sent: true, includedIn: 'saved' },
  /** Microseconds since the epoch, strictly growing within the collection: the version clients save against. */
  updated_at_timestamp: { column: 'int8', sent: true, includedIn: 'saved' },
  updated_with_session: { column: 'uuid?', sent: false, includedIn: 'full' },
  key_system_identifier: { column: 'text?', sent: true, includedIn: 'saved' },
  shared_vault_uuid: { column: 'uuid?', sent: true, includedIn: 'saved' },
  /** Who created it; edits by other members of a vault do not change it. */
  user_uuid: { column: 'uuid', storedAs: 'owner_uuid', sent: false, includedIn: 'saved' },
  last_edited_by_uuid: { column: 'uuid?', sent: false, includedIn: 'saved' },
} as const satisfies Readonly<Record<string, Field>>;

type Fields = typeof itemFields;
type FieldName = keyof Fields;
type FieldsWith<Condition> = {
  [Name in FieldName]: Fields[Name] extends Condition ? Name : never;
}[FieldName];
type StoredName<Name extends FieldName> = Fields[Name] extends { storedAs: infer Column extends string }
  ? Column
  : Name;
type StoredField = Exclude<FieldName, FieldsWith<{ timeOf: string }>>;
type ItemColumns = { readonly [Name in StoredField as StoredName<Name>]: Fields[Name]['column'] };
type Value<Name extends FieldName> = Fields[Name] extends { timeOf: string }
  ? string
  : ColumnValue<Fields[Name]['column']>;

const entries: readonly (readonly [FieldName, Field])[] = Object.entries(itemFields) as [FieldName, Field][];

/** The columns that hold what clients see. */
export const itemColumns = Object.fromEntries(
  entries
    .filter(([, { timeOf }]) => timeOf === undefined)
    .map(([name, { column, storedAs }]) => [storedAs ?? name, column]),
) as unknown as ItemColumns;

/** One item as a client sent it, unchecked. Clients add fields of their own; only these are read. */
export type ClientItem = { readonly [Name in FieldsWith<{ sent: true }>]?: unknown };

/**
 * The fields that distinguish one save from another, in the order in which they are fingerprinted. The order is part of
 * what is stored: it may grow at its end and never change otherwise.
 */
export const fingerprintedFields = [
  'uuid',
  'content_type',
  'content',
  'enc_item_key',
  'items_key_id',
  'auth_hash',
  'duplicate_of',
  'deleted',
  'created_at',
  'created_at_timestamp',
  'updated_at',
  'updated_at_timestamp',
  'key_system_identifier',
  'shared_vault_uuid',
] as const satisfies readonly (keyof ClientItem)[];

/**
 * Distinguishes the repeat of a save whose reply was lost from another save. It is SHA-256 over the session and all fields as
 * sent, including the timestamp that the save is based on.
 *
 * The vault of a deletion does not count. The server saves a deletion that names an ended vault as if it named none
 * (`actors/user/items/save-across-collections.ts`). The client's repeat names the vault again.
 */
export function fingerprintOfSave(sessionUuid: string, sent: ClientItem): Buffer {
  let text = `["${sessionUuid}"`;
  for (const name of fingerprintedFields) {
    const isUncounted = name === 'shared_vault_uuid' && sent.deleted === true;
    text += `,${isUncounted ? 'null' : json(sent[name])}`;
  }
  return sha256(`${text}]`);
}

/** As bytes in V8's own memory. The library would allocate these few outside it. */
function sha256(text: string): Buffer {
  const characters = hash('sha256', text, 'binary');
  const bytes = Buffer.allocUnsafeSlow(characters.length);
  for (let at = 0; at < characters.length; at += 1) bytes[at] = characters.charCodeAt(at);
  return bytes;
}

/** Has more than printable ASCII without quotes and backslashes. */
const mayNeedEscapes = /[^ !#-[\]-~]/;

/** What `JSON.stringify` gives for a value from JSON, or for an absent one in an array. It takes twice as long for a text. */
function json(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  if (typeof value === 'string') return mayNeedEscapes.test(value) ? JSON.stringify(value) : `"${value}"`;
  return JSON.stringify(value);
}

/** Every field that clients send, for the test that none is left out of the fingerprint. */
export const sentFields: readonly string[] = entries.filter(([, { sent }]) => sent).map(([name]) => name);

/** An item as clients get it. Every field is always there; what has no value is null. */
export type FullItem = { readonly [Name in FieldName]: Value<Name> };
/** An entry of `saved_items`: clients overwrite their copy with it and keep their own ciphertext. */
export type SavedItem = { readonly [Name in FieldsWith<{ includedIn: 'saved' }>]: Value<Name> };

type StoredItem = { readonly [Column in keyof ItemColumns]: ColumnValue<ItemColumns[Column]> };

/* These are written out, because building an item field by field from the table above costs twenty times as much. */

/** `uuid` as the client spells it, so that it finds its own item again. */
export const fullItem = (row: StoredItem, uuid: string = row.uuid): FullItem => ({
  uuid,
  items_key_id: row.items_key_id,
  duplicate_of: row.duplicate_of,
  enc_item_key: row.enc_item_key,
  content: row.content,
  content_type: row.content_type,
  auth_hash: row.auth_hash,
  deleted: row.deleted,
  created_at: formatMicros(row.created_at_timestamp),
  created_at_timestamp: row.created_at_timestamp,
  updated_at: formatMicros(row.updated_at_timestamp),
  updated_at_timestamp: row.updated_at_timestamp,
  updated_with_session: row.updated_with_session,
  key_system_identifier: row.key_system_identifier,
  shared_vault_uuid: row.shared_vault_uuid,
  user_uuid: row.owner_uuid,
  last_edited_by_uuid: row.last_edited_by_uuid,
});

export const savedItem = (row: StoredItem, uuid: string = row.uuid): SavedItem => ({
  uuid,
  duplicate_of: row.duplicate_of,
  content_type: row.content_type,
  auth_hash: row.auth_hash,
  deleted: row.deleted,
  created_at: formatMicros(row.created_at_timestamp),
  created_at_timestamp: row.created_at_timestamp,
  updated_at: formatMicros(row.updated_at_timestamp),
  updated_at_timestamp: row.updated_at_timestamp,
  key_system_identifier: row.key_system_identifier,
  shared_vault_uuid: row.shared_vault_uuid,
  user_uuid: row.owner_uuid,
  last_edited_by_uuid: row.last_edited_by_uuid,
});

/** What `JSON.stringify` gives, at a third of its cost. */
export const savedItemJson = (item: SavedItem): string =>
  `{"uuid":"${item.uuid}","duplicate_of":${json(item.duplicate_of)}` +
  `,"content_type":${json(item.content_type)},"auth_hash":${json(item.auth_hash)}` +
  `,"deleted":${item.deleted},"created_at":"${item.created_at}"` +
  `,"created_at_timestamp":${item.created_at_timestamp},"updated_at":"${item.updated_at}"` +
  `,"updated_at_timestamp":${item.updated_at_timestamp}` +
  `,"key_system_identifier":${json(item.key_system_identifier)}` +
  `,"shared_vault_uuid":${json(item.shared_vault_uuid)},"user_uuid":"${item.user_uuid}"` +
  `,"last_edited_by_uuid":${json(item.last_edited_by_uuid)}}`;

const valueSchemas: Readonly<Record<ColumnType, z.ZodType>> = {
  uuid: z.string(),
  text: z.string(),
  int8: z.int(),
  bool: z.boolean(),
  bytea: z.never(),
};

function schemaOf({ column, timeOf }: Field): z.ZodType {
  if (timeOf !== undefined) return z.iso.datetime();
  const [type = '', ...nullable] = column.split('?');
  const value = valueSchemas[type as ColumnType];
  return nullable.length > 0 ? value.nullable() : value;
}

const schemaOfAll = (chosen: typeof entries): z.ZodType =>
  z.object(Object.fromEntries(chosen.map(([name, field]) => [name, schemaOf(field)])));

const savedEntries = entries.filter(([, { includedIn }]) => includedIn === 'saved');
export const savedFieldNames: readonly string[] = savedEntries.map(([name]) => name);

export const fullItemSchema = schemaOfAll(entries) as z.ZodType<FullItem>;
export const savedItemSchema = schemaOfAll(savedEntries) as z.ZodType<SavedItem>;

// --- times -------------------------------------------------------------------------------------------------

/* ISO 8601 times with microseconds, which the platform's dates would round away. */

const isoTime =
  /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2})?)(?:\.(\d{1,9}))?\s*(Z|[+-]\d{2}:?\d{2})?)?$/i;

const isoLengthMax = 64;

const dayMicros = 86_400_000_000;
const twoDigits = Array.from({ length: 100 }, (_, n) => String(n).padStart(2, '0'));

/** A cache of formatted dates. An item has two times, and those of one page fall on few days. */
const dates = new Map<number, string>();
const datesMax = 4_096;

/** `2024-02-26T10:11:12.345678Z`: UTC with exactly six fraction digits. */
export function formatMicros(micros: number): string {
  const day = Math.floor(micros / dayMicros);
  const ofDay = micros - day * dayMicros;
  const seconds = Math.floor(ofDay / 1_000_000);
  const fraction = String(ofDay - seconds * 1_000_000).padStart(6, '0');
  const hour = twoDigits[Math.floor(seconds / 3_600)];
  const minute = twoDigits[Math.floor(seconds / 60) % 60];
  return `${dateOf(day)}T${hour}:${minute}:${twoDigits[seconds % 60]}.${fraction}Z`;
}

function dateOf(day: number): string {
  const known = dates.get(day);
  if (known !== undefined) return known;
  const date = new Date(day * (dayMicros / 1_000)).toISOString().slice(0, 10);
  if (dates.size >= datesMax) dates.clear();
  dates.set(day, date);
  return date;
}

/**
 * Microseconds since the epoch, or undefined for what is not an ISO time (years 1685 to 2255). Without a zone it is
 * UTC.
 */
export function parseMicros(text: unknown): number | undefined {
  if (typeof text !== 'string' || text.length > isoLengthMax) return undefined;
  const match = isoTime.exec(text);
  if (match === null) return undefined;
  const [, date, time = '00:00:00', fraction = '', zone = 'Z'] = match;
  const millis = Date.parse(`${date}T${time}${offset(zone)}`);
  const micros = millis * 1_000 + Number(fraction.padEnd(6, '0').slice(0, 6));
  return Number.isSafeInteger(micros) ? micros : undefined;
}

function offset(zone: string): string {
  if (zone.length < 5) return 'Z';
  return zone.includes(':') ? zone : `${zone.slice(0, 3)}:${zone.slice(3)}`;
}
