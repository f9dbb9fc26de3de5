/**
 * Items as a client sent them (docs/protocol/sync.md, "An item as sent"), unchecked, and the batches in which they are saved. A field of a wrong type is a
 * conflict of that item alone, never an error of the request. So the checks are made here and not by a schema.
 */
import { isStorableText } from '../../runtime/table.ts';
import { type ClientItem, isKnownContentType, parseMicros } from './item-fields.ts';
import type { ItemSettings } from './settings.ts';

/** The fields the row is made of, once `defectOf` has found nothing wrong with them. An absent one is null. */
export interface ClientFields {
  readonly contentType: string | null;
  readonly content: string | null;
  readonly encItemKey: string | null;
  readonly itemsKeyId: string | null;
  readonly authHash: string | null;
  readonly duplicateOf: string | null;
  readonly deleted: boolean | null;
  readonly createdAtMicros: number | null;
  /** The time of creation or, if the client does not send it, that of the last change. */
  readonly createdOrUpdatedAtMicros: number | null;
  readonly keySystemIdentifier: string | null;
  readonly sharedVaultUuid: string | null;
}

/** Real item keys are a few hundred characters. */
const encItemKeyLengthMax = 16 * 1024;
const identifierLengthMax = 255;

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** A save asks several times in a row for the uuid of its item. */
let lastUuid = '';

export function isUuid(value: unknown): value is string {
  if (typeof value !== 'string' || value.length !== 36) return false;
  if (value !== lastUuid && !uuidPattern.test(value)) return false;
  lastUuid = value;
  return true;
}

/**
 * The conflict that the fields themselves cause, with types clients know how to resolve (docs/protocol/sync.md,
 * "Conflicts").
 */
export function defectOf(
  sent: ClientItem,
  contentLimitBytes: number,
): 'content_type_error' | 'content_error' | 'uuid_error' | undefined {
  if (!isKnownContentType(sent.content_type)) return 'content_type_error';
  if (!isContent(sent.content, contentLimitBytes)) return 'content_error';
  if (!isText(sent.enc_item_key, encItemKeyLengthMax)) return 'content_error';
  if (!isText(sent.items_key_id, identifierLengthMax)) return 'content_error';
  if (!isText(sent.auth_hash, identifierLengthMax)) return 'content_error';
  if (!isText(sent.key_system_identifier, identifierLengthMax)) return 'content_error';
  if (!isAbsent(sent.deleted) && typeof sent.deleted !== 'boolean') return 'content_error';
  if (!isAbsent(sent.duplicate_of) && sent.duplicate_of !== '' && !isUuid(sent.duplicate_of)) {
    return 'uuid_error';
  }
  return undefined;
}

export function fieldsOf(sent: ClientItem): ClientFields {
  const createdAtMicros = microsOf(sent.created_at_timestamp, sent.created_at);
  return {
    contentType: text(sent.content_type),
    content: text(sent.content),
    encItemKey: text(sent.enc_item_key),
    itemsKeyId: text(sent.items_key_id),
    authHash: text(sent.auth_hash),
    duplicateOf: text(sent.duplicate_of) || null,
    deleted: typeof sent.deleted === 'boolean' ? sent.deleted : null,
    createdAtMicros,
    createdOrUpdatedAtMicros: createdAtMicros ?? microsOf(sent.updated_at_timestamp, sent.updated_at),
    keySystemIdentifier: text(sent.key_system_identifier) || null,
    sharedVaultUuid: text(sent.shared_vault_uuid)?.toLowerCase() ?? null,
  };
}

/** Bytes of the item's ciphertext and key, closely estimated. */
function sentBytes(sent: ClientItem): number {
  return lengthOf(sent.content) + lengthOf(sent.enc_item_key);
}

export function isAbsent(value: unknown): value is null | undefined {
  return value === undefined || value === null;
}

function lengthOf(value: unknown): number {
  return typeof value === 'string' ? value.length : 0;
}

function text(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

function isText(value: unknown, lengthMax: number): boolean {
  if (isAbsent(value)) return true;
  return typeof value === 'string' && value.length <= lengthMax && isStorableText(value);
}

function isContent(value: unknown, limitBytes: number): boolean {
  if (!isText(value, limitBytes)) return false;
  return typeof value !== 'string' || Buffer.byteLength(value) <= limitBytes;
}

/** A timestamp of 0 means "unknown", and the ISO time is used (docs/protocol/sync.md, "An item as sent"). */
function microsOf(timestamp: unknown, iso: unknown): number | null {
  if (typeof timestamp === 'number' && Number.isSafeInteger(timestamp) && timestamp !== 0) return timestamp;
  return parseMicros(iso) ?? null;
}

// --- batches -------------------------------------------------------------------------------------------------

type TurnLimits = ItemSettings['turnLimits'];

export function fitsOneTurn(items: readonly ClientItem[], limits: TurnLimits): boolean {
  if (items.length > limits.items) return false;
  return items.length <= 1 || sum(items) <= limits.bytes;
}

/** Cuts the items, in order, into batches for one turn each. Only a batch of a single item may exceed the byte limit. */
export function batchesOf(
  items: readonly ClientItem[],
  limits: TurnLimits,
): readonly (readonly ClientItem[])[] {
  const batches: ClientItem[][] = [];
  let batch: ClientItem[] = [];
  let bytes = 0;
  for (const item of items) {
    const size = sentBytes(item);
    const full = batch.length >= limits.items || bytes + size > limits.bytes;
    if (full && batch.length > 0) {
      batches.push(batch);
      batch = [];
      bytes = 0;
    }
    batch.push(item);
    bytes += size;
  }
  if (batch.length > 0) batches.push(batch);
  return batches;
}

function sum(items: readonly ClientItem[]): number {
  return items.reduce((bytes, item) => bytes + sentBytes(item), 0);
}
