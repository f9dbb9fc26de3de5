/** Vaults, members and invites as clients see them (docs/protocol/shared-vaults.md). */
import { z } from 'zod';
import { type Permission, permissions, type VaultInvite } from '../inbox-entries.ts';
import type { InviteRow, MemberRow, VaultRow } from './tables.ts';

const times = { created_at_timestamp: z.number(), updated_at_timestamp: z.number() };

export const vaultSchema = z.object({
  uuid: z.string(),
  user_uuid: z.string(),
  file_upload_bytes_used: z.number(),
  ...times,
});
export type VaultResponse = z.infer<typeof vaultSchema>;

export const memberSchema = z.object({
  uuid: z.string(),
  shared_vault_uuid: z.string(),
  user_uuid: z.string(),
  permission: z.enum(permissions),
  is_designated_survivor: z.boolean(),
  ...times,
});
export type MemberResponse = z.infer<typeof memberSchema>;

const timestamps = ({ created_at, updated_at }: Pick<VaultRow, 'created_at' | 'updated_at'>) => ({
  created_at_timestamp: created_at,
  updated_at_timestamp: updated_at,
});

export const vaultResponse = (row: VaultRow): VaultResponse => ({
  uuid: row.vault,
  user_uuid: row.owner_uuid,
  file_upload_bytes_used: row.file_bytes,
  ...timestamps(row),
});

export const memberResponse = (row: MemberRow, { survivor_uuid }: VaultRow): MemberResponse => ({
  uuid: row.uuid,
  shared_vault_uuid: row.vault,
  user_uuid: row.member,
  permission: row.permission as Permission,
  is_designated_survivor: row.member === survivor_uuid,
  ...timestamps(row),
});

export const inviteResponse = (row: InviteRow): VaultInvite => ({
  uuid: row.uuid,
  shared_vault_uuid: row.vault,
  user_uuid: row.invitee,
  sender_uuid: row.sender_uuid,
  encrypted_message: row.encrypted_message,
  permission: row.permission as Permission,
  ...timestamps(row),
});
