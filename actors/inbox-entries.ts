/** The entries of an inbox, as clients get them (docs/protocol/inbox.md). */
import { z } from 'zod';

/** Microseconds since the epoch. */
const times = { created_at_timestamp: z.int(), updated_at_timestamp: z.int() };

export const messageSchema = z.object({
  uuid: z.string(),
  recipient_uuid: z.string(),
  sender_uuid: z.string(),
  encrypted_message: z.string(),
  replaceability_identifier: z.string().nullable(),
  ...times,
});
export type InboxMessage = z.infer<typeof messageSchema>;

export const notificationTypes = [
  'shared_vault_item_removed',
  'self_removed_from_shared_vault',
  'user_removed_from_shared_vault',
  'user_added_to_shared_vault',
  'user_designated_as_survivor',
  'shared_vault_invite_canceled',
  'shared_vault_file_uploaded',
  'shared_vault_file_removed',
] as const;

export const notificationSchema = z.object({
  uuid: z.string(),
  user_uuid: z.string(),
  type: z.enum(notificationTypes),
  /** JSON text. */
  payload: z.string(),
  ...times,
});
export type Notification = z.infer<typeof notificationSchema>;

export const permissions = ['read', 'write', 'admin'] as const;
export type Permission = (typeof permissions)[number];

export const vaultInviteSchema = z.object({
  uuid: z.string(),
  shared_vault_uuid: z.string(),
  /** The invitee. */
  user_uuid: z.string(),
  sender_uuid: z.string(),
  encrypted_message: z.string(),
  permission: z.enum(permissions),
  ...times,
});
export type VaultInvite = z.infer<typeof vaultInviteSchema>;

/** The inbox in the answer of a sync. Each list is in the order in which its entries came. */
export interface InboxEntries {
  readonly messages: readonly InboxMessage[];
  readonly notifications: readonly Notification[];
  readonly shared_vault_invites: readonly VaultInvite[];
}

/** The longest ciphertext of a message or an invite, in bytes of UTF-8. */
export const encryptedMessageBytesMax = 64 * 1024;
