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

export const messageDigest = (of: {
  readonly senderUuid: string;
  readonly encryptedMessage: string;
  readonly createdAt: number;
  readonly updatedAt: number;
}): string => digest([of.senderUuid, of.encryptedMessage, of.createdAt, of.updatedAt]);

export const notificationDigest = (of: {
  readonly type: string;
  readonly payload: string;
  readonly createdAt: number;
  readonly updatedAt: number;
}): string => digest([of.type, of.payload, of.createdAt, of.updatedAt]);

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

export const memberDigest = (of: {
  readonly userUuid: string;
  readonly permission: string;
  readonly createdAt: number;
  readonly updatedAt: number;
}): string => digest([of.userUuid, of.permission, of.createdAt, of.updatedAt]);

export const inviteDigest = (of: {
  readonly inviteeUuid: string;
  readonly senderUuid: string;
  readonly permission: string;
  readonly encryptedMessage: string;
  readonly createdAt: number;
  readonly updatedAt: number;
}): string =>
  digest([of.inviteeUuid, of.senderUuid, of.permission, of.encryptedMessage, of.createdAt, of.updatedAt]);
