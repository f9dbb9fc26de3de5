/**
 * Copies of invites to vaults, for the invited user's clients. The vault has the invite and decides about it. A copy may be
 * outdated for a moment.
 */
import { type KeysResult, keys, range, type Turn, tell, type View } from '../../../runtime/command.ts';
import type { VaultInvite } from '../../inbox-entries.ts';
import { User, userInvited } from '../contract.ts';
import { isActive } from '../profile.ts';
import { signedInRead } from '../signed-in.ts';
import { countedBytes, entriesMax, inviteCapacityBytes, surplus } from './capacity.ts';
import { Inbox } from './contract.ts';
import { inboxSlice, nextPosition } from './positions.ts';
import { isRecentlyDeleted, rememberDeleted } from './recently-deleted.ts';
import { type InboundInviteRow, inboundInviteTable } from './tables.ts';

export const inboundInvitesPlan = (view: View, columns?: readonly (keyof InboundInviteRow)[]) =>
  range(inboundInviteTable, {
    after: 0,
    through: view.get(inboxSlice).invites,
    limit: entriesMax,
    ...(columns !== undefined && { columns }),
  });

export const listInboundInvites = signedInRead(Inbox.commands.listInboundInvites, {
  reads: (view) => ({ invites: inboundInvitesPlan(view) }),
  answer: (_view, _request, { invites }) => ({ invites: invites.rows.map(inboundInvite) }),
});

export const invited = tell(Inbox.tells.invited, {
  reads: (view) => ({
    invites: inboundInvitesPlan(view, ['vault_uuid', 'uuid', 'sender_uuid', 'size', 'updated_at']),
  }),
  turn: (turn, { invite, isNew }, _sender, { invites }) => {
    if (!isActive(turn) || isRecentlyDeleted(turn, invite.uuid)) return;
    const before = invites.rows.find((row) => row.vault_uuid === invite.shared_vault_uuid);
    if ((before?.updated_at ?? 0) >= invite.updated_at_timestamp) return;
    const { position } = nextPosition(turn, 'invites');
    const row: InboundInviteRow = {
      user_uuid: turn.self.id,
      vault_uuid: invite.shared_vault_uuid,
      position,
      uuid: invite.uuid,
      sender_uuid: invite.sender_uuid,
      permission: invite.permission,
      encrypted_message: invite.encrypted_message,
      size: countedBytes(invite.encrypted_message),
      created_at: invite.created_at_timestamp,
      updated_at: invite.updated_at_timestamp,
    };
    turn.put(inboundInviteTable, row);
    const all = [...invites.rows.filter((each) => each !== before), row];
    for (const { vault_uuid } of surplus(all, inviteCapacityBytes)) {
      turn.remove(inboundInviteTable, { user_uuid: turn.self.id, vault_uuid });
    }
    if (isNew) turn.publish(User, userInvited(turn.self.id, turn.nowMicros, invite));
  },
});

/** The rows that a turn needs to forget the invite to this vault. */
export const inviteCopyPlan = (view: View, vaultUuid: string) => ({
  copy: keys(inboundInviteTable, [{ user_uuid: view.self.id, vault_uuid: vaultUuid }]),
});

/** Also called when the user has answered: the next sync must not show the invite. */
export function forgetInviteCopy(
  turn: Turn,
  { vaultUuid, inviteUuid }: { readonly vaultUuid: string; readonly inviteUuid: string },
  { copy }: { readonly copy: KeysResult<typeof inboundInviteTable> },
): void {
  const key = { user_uuid: turn.self.id, vault_uuid: vaultUuid };
  if (copy.get(key)?.uuid === inviteUuid) turn.remove(inboundInviteTable, key);
  // A change of the invite may still be on its way.
  rememberDeleted(turn, [inviteUuid]);
}

export const inviteGone = tell(Inbox.tells.inviteGone, {
  reads: (view, { vaultUuid }) => inviteCopyPlan(view, vaultUuid),
  turn: (turn, gone, _sender, reads) => {
    if (isActive(turn)) forgetInviteCopy(turn, gone, reads);
  },
});

export function inboundInvite(row: InboundInviteRow): VaultInvite {
  return {
    uuid: row.uuid,
    shared_vault_uuid: row.vault_uuid,
    user_uuid: row.user_uuid,
    sender_uuid: row.sender_uuid,
    encrypted_message: row.encrypted_message,
    permission: row.permission as VaultInvite['permission'],
    created_at_timestamp: row.created_at,
    updated_at_timestamp: row.updated_at,
  };
}
