/** Messages from an import to an actor (docs/import.md), in the words of `proto/scriptorium/v1/import.proto`. Uuids in lower case. */
import { z } from 'zod';
import { permissions } from '../inbox-entries.ts';
import { answerSchema } from '../reply.ts';

const text = z.string();
const maybe = z.string().optional();
const micros = z.int();

const importedItemSchema = z.object({
  uuid: text,
  content: maybe,
  contentType: maybe,
  encItemKey: maybe,
  itemsKeyId: maybe,
  authHash: maybe,
  duplicateOf: maybe,
  deleted: z.boolean(),
  createdAt: micros,
  updatedAt: micros,
  keySystemIdentifier: maybe,
  ownerUuid: text,
  lastEditedBy: maybe,
  revisions: z.int().min(0),
  revisedAt: micros,
});
export type ImportedItem = z.infer<typeof importedItemSchema>;

const importedRevisionSchema = z.object({
  uuid: text,
  itemUuid: text,
  number: z.int().min(0),
  createdAtMs: z.int(),
  ownerUuid: text,
  content: maybe,
  contentType: maybe,
  encItemKey: maybe,
  itemsKeyId: maybe,
  authHash: maybe,
  keySystemIdentifier: maybe,
  vaultUuid: maybe,
  editedBy: maybe,
});
export type ImportedRevision = z.infer<typeof importedRevisionSchema>;

const itemVersionSchema = z.object({
  uuid: text,
  updatedAt: micros,
  deleted: z.boolean(),
  ownerUuid: text,
  vaultUuid: text,
  revisions: z.int(),
  revisedAt: micros,
});
export type ItemVersion = z.infer<typeof itemVersionSchema>;

export const refusalReasons = ['content-type', 'too-large', 'taken', 'not-text'] as const;

export const importedKeyParamsSchema = z.object({
  version: text,
  pwNonce: maybe,
  pwCost: z.int().optional(),
  pwSalt: maybe,
  pwAlg: maybe,
  pwFunc: maybe,
  pwKeySize: z.int().optional(),
  created: maybe,
  origination: maybe,
});

export const importedSettingSchema = z.object({
  name: text,
  value: maybe,
  uuid: text,
  createdAt: micros,
  updatedAt: micros,
});
export type ImportedSetting = z.infer<typeof importedSettingSchema>;

export const importedAuthenticatorSchema = z.object({
  uuid: text,
  credentialId: text,
  publicKey: z.instanceof(Uint8Array) as z.ZodType<Uint8Array>,
  counter: z.int(),
  transports: z.array(z.string()),
  createdAtMs: z.int(),
});
export type ImportedAuthenticator = z.infer<typeof importedAuthenticatorSchema>;

export const importedMessageSchema = z.object({
  uuid: text,
  senderUuid: text,
  encryptedMessage: text,
  replaceabilityIdentifier: maybe,
  createdAt: micros,
  updatedAt: micros,
});
export const importedNotificationSchema = z.object({
  uuid: text,
  type: text,
  payload: text,
  createdAt: micros,
  updatedAt: micros,
});

export const importedMemberSchema = z.object({
  uuid: text,
  userUuid: text,
  permission: z.enum(permissions),
  createdAt: micros,
  updatedAt: micros,
});
export const importedInviteSchema = z.object({
  uuid: text,
  inviteeUuid: text,
  senderUuid: text,
  permission: z.enum(permissions),
  encryptedMessage: text,
  createdAt: micros,
  updatedAt: micros,
});

/** Commands for a collection of a user or of a vault. Those that write are refused with 409 unless an import may write. */
export const collectionImportShapes = {
  importWantItems: {
    request: z.object({ items: z.array(itemVersionSchema).readonly() }),
    reply: z.object({ uuids: z.array(text) }),
  },
  importItems: {
    request: z.object({ items: z.array(importedItemSchema).readonly() }),
    reply: answerSchema(
      z.object({
        written: z.int(),
        unchanged: z.int(),
        refusedItems: z.array(z.object({ uuid: text, reason: z.enum(refusalReasons) })),
      }),
    ),
  },
  importRevisions: {
    request: z.object({ revisions: z.array(importedRevisionSchema).readonly() }),
    reply: answerSchema(z.object({ written: z.int() })),
  },
  importRemoveItems: {
    request: z.object({ uuids: z.array(text).readonly() }),
    reply: answerSchema(z.object({ removed: z.int() })),
  },
  importListItems: {
    request: z.object({ after: z.int(), limit: z.int(), whole: z.boolean() }),
    reply: z.object({ items: z.array(importedItemSchema), vaultUuids: z.array(text), nextAfter: z.int() }),
  },
  importListRevisions: {
    request: z.object({ itemUuid: text }),
    reply: z.object({ revisions: z.array(importedRevisionSchema) }),
  },
  /** Its parts are in the store, and durable. */
  importFile: {
    request: z.object({
      remoteIdentifier: text,
      uploadUuid: text,
      bytes: z.int(),
      layout: z.instanceof(Uint8Array) as z.ZodType<Uint8Array>,
    }),
    reply: answerSchema(z.object({})),
  },
  importShowFile: {
    request: z.object({ remoteIdentifier: text }),
    reply: z.object({
      file: z
        .object({
          uploadUuid: text,
          storedUnder: text,
          bytes: z.int(),
          layout: z.instanceof(Uint8Array) as z.ZodType<Uint8Array>,
        })
        .nullable(),
    }),
  },
};
