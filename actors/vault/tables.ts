/**
 * The rows of a vault apart from its items. Other actors read them, and only the vault's own actor writes them.
 *
 * - Every row has a `position` of the vault's own collection (`actors/collection/head.ts`). So a client's cursor in the vault
 *   says whether it has seen the row.
 * - The row of a member gives access: reads of a vault's rows from outside require that it exists. The commit that removes it
 *   ends all access.
 */
import { type RowOf, table } from '../../runtime/table.ts';

export const vaultTable = table({
  name: 'shared_vault',
  columns: {
    vault: 'uuid',
    position: 'int8',
    owner_uuid: 'uuid',
    /** The member who gets the vault when its owner's account is deleted. */
    survivor_uuid: 'uuid?',
    file_bytes: 'int8',
    /** Microseconds since the epoch, as in all tables of a vault. */
    created_at: 'int8',
    updated_at: 'int8',
  },
  key: ['vault'],
  order: 'position',
});
export type VaultRow = RowOf<typeof vaultTable>;

export const memberTable = table({
  name: 'shared_vault_member',
  columns: {
    vault: 'uuid',
    member: 'uuid',
    uuid: 'uuid',
    position: 'int8',
    permission: 'text',
    /** The position at which the member joined: a greater one each time. */
    membership: 'int8',
    created_at: 'int8',
    updated_at: 'int8',
  },
  key: ['vault', 'member'],
  order: 'position',
});
export type MemberRow = RowOf<typeof memberTable>;

export const vaultInviteTable = table({
  name: 'shared_vault_invite',
  columns: {
    vault: 'uuid',
    invitee: 'uuid',
    uuid: 'uuid',
    position: 'int8',
    sender_uuid: 'uuid',
    permission: 'text',
    encrypted_message: 'text',
    /** The size of the message. */
    bytes: 'int8',
    created_at: 'int8',
    updated_at: 'int8',
  },
  key: ['vault', 'invitee'],
  order: 'position',
  size: 'bytes',
});
export type InviteRow = RowOf<typeof vaultInviteTable>;
