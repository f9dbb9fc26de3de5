/**
 * The commands of an import for users and vaults, over the internal API alone. As with the other contracts of operators, a lint
 * rule keeps the gateway from importing this file.
 */
import { z } from 'zod';
import { contract } from '../../runtime/contract.ts';
import { revisionsPerItemMax } from '../collection/revisions/slots.ts';
import { answerSchema } from '../reply.ts';
import {
  collectionImportShapes,
  importedAuthenticatorSchema,
  importedInviteSchema,
  importedKeyParamsSchema,
  importedMemberSchema,
  importedMessageSchema,
  importedNotificationSchema,
  importedSettingSchema,
} from './messages.ts';
import { importPhases } from './phase.ts';

export { knownContentTypes } from '../collection/item-fields.ts';
export { notificationTypes } from '../inbox-entries.ts';
export { isUnusable } from './key-params.ts';

export const accountRefusals = ['used', 'native', 'deleted', 'taken', 'key-params'] as const;
const vaultRefusals = ['native', 'ended', 'used'] as const;

export const UserImport = contract({
  name: 'user',
  commands: {
    ...collectionImportShapes,
    importAccount: {
      request: z.object({
        identifier: z.string(),
        passwordHash: z.string(),
        keyParams: importedKeyParamsSchema,
        createdAtMs: z.int(),
        administrator: z.boolean(),
        locked: z.boolean(),
        settings: z.array(importedSettingSchema).readonly(),
        authenticators: z.array(importedAuthenticatorSchema).readonly(),
      }),
      reply: z.union([
        z.object({ refused: z.enum(accountRefusals) }),
        z.object({ fresh: z.boolean(), refusedSettings: z.array(z.string()) }),
      ]),
    },
    /** `unlock`: also an account whose second factor could not be read. Refusals: 409. */
    importOpen: {
      request: z.object({ unlock: z.boolean() }),
      reply: answerSchema(z.object({ opened: z.boolean() })),
    },
    importShow: {
      request: z.object({}),
      reply: z.object({
        phase: z.enum([...importPhases, 'locked']),
        keyParams: z.record(z.string(), z.union([z.string(), z.number()])),
        settings: z.record(z.string(), z.string().nullable()),
        authenticators: z.array(z.string()),
        messages: z.array(importedMessageSchema),
        notifications: z.array(importedNotificationSchema),
        items: z.int(),
        /** Absent from a host of the release before. */
        vaultUuids: z.array(z.string()).optional(),
      }),
    },
    importInbox: {
      request: z.object({
        messages: z.array(importedMessageSchema).readonly(),
        notifications: z.array(importedNotificationSchema).readonly(),
      }),
      reply: answerSchema(z.object({ messages: z.int(), notifications: z.int() })),
    },
  },
});

const importedVault = {
  ownerUuid: z.string(),
  survivorUuid: z.string().nullable(),
  createdAt: z.int(),
  updatedAt: z.int(),
};

export const VaultImport = contract({
  name: 'vault',
  commands: {
    ...collectionImportShapes,
    importVault: {
      request: z.object({
        ...importedVault,
        members: z.array(importedMemberSchema).readonly(),
        invites: z.array(importedInviteSchema).readonly(),
      }),
      reply: z.union([z.object({ refused: z.enum(vaultRefusals) }), z.object({ fresh: z.boolean() })]),
    },
    importShowVault: {
      request: z.object({}),
      reply: z.object({
        vault: z.object(importedVault).nullable(),
        /** Absent from a host of the release before. */
        isImported: z.boolean().optional(),
        members: z.array(importedMemberSchema.extend({ permission: z.string() })),
        invites: z.array(importedInviteSchema.extend({ permission: z.string() })),
      }),
    },
  },
});

/** The sizes that an import works with. The server tells them to its client, so that another release may choose others. */
const mebibyte = 1_048_576;

export const importLimits = {
  /** A larger call would block its actor for too long. A single larger item comes alone. */
  batchBytes: 2 * mebibyte,
  batchItems: 500,
  filePartBytes: 4 * mebibyte,
  revisionsPerItemMax,
} as const;

/** The largest call: an item of the largest size, or a part of a file, and the fields around it. */
export const importCallBytesMax = (contentBytesMax: number): number =>
  Math.max(contentBytesMax, importLimits.filePartBytes) + 4 * mebibyte;
