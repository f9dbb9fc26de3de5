/**
 * The digests by which `import verify` compares two servers: SHA-256 over JSON, in the same order on both sides. Not part of
 * what is generated.
 */
import { createHash } from 'node:crypto';

type Value = string | number | boolean | undefined;

const digest = (values: readonly Value[]): string =>
  createHash('sha256')
    .update(JSON.stringify(values.map((value) => value ?? null)))
    .digest('hex');

export interface DigestedItem {
  readonly uuid: string;
  readonly content?: string | undefined;
  readonly contentType?: string | undefined;
  readonly encItemKey?: string | undefined;
  readonly itemsKeyId?: string | undefined;
  readonly authHash?: string | undefined;
  readonly duplicateOf?: string | undefined;
  readonly deleted: boolean;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly keySystemIdentifier?: string | undefined;
  readonly ownerUuid: string;
  readonly lastEditedBy?: string | undefined;
}

export const itemDigest = (item: DigestedItem): string =>
  digest([
    item.uuid,
    item.content,
    item.contentType,
    item.encItemKey,
    item.itemsKeyId,
    item.authHash,
    item.duplicateOf,
    item.deleted,
    item.createdAt,
    item.updatedAt,
    item.keySystemIdentifier,
    item.ownerUuid,
    item.lastEditedBy,
  ]);

export interface DigestedRevision {
  readonly createdAtMs: number;
  readonly content?: string | undefined;
  readonly contentType?: string | undefined;
  readonly encItemKey?: string | undefined;
  readonly itemsKeyId?: string | undefined;
  readonly authHash?: string | undefined;
  readonly editedBy?: string | undefined;
}

/** Without its uuid, whose last digits are this server's. */
export const revisionDigest = (of: DigestedRevision): string =>
  digest([
    of.createdAtMs,
    of.content,
    of.contentType,
    of.encItemKey,
    of.itemsKeyId,
    of.authHash,
    of.editedBy,
  ]);

/** The digest of an object by these of its fields. */
const digestBy =
  <Name extends string>(...names: readonly Name[]) =>
  (of: Readonly<Record<Name, Value>>): string =>
    digest(names.map((name) => of[name]));

export const messageDigest = digestBy('senderUuid', 'encryptedMessage', 'createdAt', 'updatedAt');

export const notificationDigest = digestBy('type', 'payload', 'createdAt', 'updatedAt');

export const keyParamsDigest = (params: Readonly<Record<string, string | number | undefined>>): string =>
  digest(
    Object.entries(params)
      .filter(([, value]) => value !== undefined)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .flat(),
  );

export const valueDigest = (value: string | null | undefined): string =>
  value === null || value === undefined ? '' : digest([value]);

export const vaultDigest = (of: {
  readonly ownerUuid: string;
  readonly survivorUuid: string | null;
  readonly createdAt: number;
  readonly updatedAt: number;
}): string => digest([of.ownerUuid, of.survivorUuid ?? '', of.createdAt, of.updatedAt]);

export const memberDigest = digestBy('userUuid', 'permission', 'createdAt', 'updatedAt');

export const inviteDigest = digestBy(
  'inviteeUuid',
  'senderUuid',
  'permission',
  'encryptedMessage',
  'createdAt',
  'updatedAt',
);
