/**
 * Invites to a vault. There is at most one for each user, and the vault alone decides about it:
 *
 *     none      invited by the owner -> pending
 *     pending   invited again -> pending, under a new uuid; the old uuid is void
 *               accepted by the invitee -> a member
 *               declined by the invitee, cancelled by the sender, or the vault or its owner is gone -> none
 *
 * The invitee has a copy (`actors/user/inbox/invites.ts`), which the commit of each change updates by a tell. The sender's
 * answer does not show whether there is such a user.
 */
import {
  command,
  keys,
  type RangeResult,
  range,
  sharedRead,
  type Turn,
  type View,
} from '../../../runtime/command.ts';
import { head } from '../../collection/head.ts';
import type { Permission } from '../../inbox-entries.ts';
import { refuse } from '../../reply.ts';
import { Inbox } from '../../user/inbox/contract.ts';
import { Vaults } from '../../user/vaults/contract.ts';
import { noSuchInvite, noSuchVault, notTheOwner, Vault } from '../contract.ts';
import {
  addNotifications,
  admit,
  memberIn,
  memberListFor,
  memberListOf,
  memberListPlan,
} from '../member-list.ts';
import { inviteResponse } from '../responses.ts';
import { invitesMax, VaultSettings } from '../settings.ts';
import { nextChangeStamp } from '../state.ts';
import { type InviteRow, vaultInviteTable } from '../tables.ts';

const alreadyMember = refuse.badRequest('This user is a member of the shared vault already.');
const tooManyInvites = refuse.badRequest(
  'There are as many invites to this shared vault as there can be. Please cancel some first.',
);
const vaultIsFull = refuse.badRequest('This shared vault has as many members as it can have.');

const inviteKey = ({ self }: Pick<View, 'self'>, invitee: string) => ({ vault: self.id, invitee });

const invitePlan = (view: View, invitee: string) => ({
  invite: keys(vaultInviteTable, [inviteKey(view, invitee)]),
});

/** All pending invites, without their messages. */
export const pendingPlan = (view: View) => ({
  pending: range(vaultInviteTable, {
    ...everything(view),
    columns: ['invitee', 'uuid', 'sender_uuid'],
  }),
});

const everything = (view: View) => ({ after: 0, through: view.get(head).position, limit: invitesMax });

/** The columns that a change of the invite keeps. */
const withoutMessage = [
  'invitee',
  'uuid',
  'sender_uuid',
  'permission',
  'created_at',
] as const satisfies readonly (keyof InviteRow)[];

type PendingInvite = Pick<InviteRow, 'invitee' | 'uuid' | 'sender_uuid'>;

const invite = command(Vault.commands.invite, {
  repeat: 'recorded',
  reads: (view, { recipientUuid }) => ({
    ...memberListPlan(view),
    ...pendingPlan(view),
    ...invitePlan(view, recipientUuid),
  }),
  turn: (turn, { by, recipientUuid, ...invitation }, { invite, pending, ...reads }) => {
    const memberList = memberListFor(turn, by, reads);
    if (memberList === undefined) return noSuchVault;
    if (!memberList.isOwner) return notTheOwner;
    if (memberIn(memberList, recipientUuid) !== undefined) return alreadyMember;
    const before = invite.get(inviteKey(turn, recipientUuid));
    const isFull = pending.rows.length >= turn.use(VaultSettings).invitesMax;
    if (before === undefined && isFull) return tooManyInvites;
    const { position, micros } = nextChangeStamp(turn);
    const row = inviteRowOf(invitation, {
      vault: turn.self.id,
      invitee: recipientUuid,
      uuid: turn.random.uuid(),
      sender_uuid: by,
      position,
      created_at: micros,
      updated_at: micros,
    });
    turn.put(vaultInviteTable, row);
    turn.tell(Inbox, recipientUuid).invited({ invite: inviteResponse(row), isNew: true });
    if (before === undefined) turn.tell(Vaults, recipientUuid).mailVaultInvite({ inviteUuid: row.uuid });
    return { ok: { invite: inviteResponse(row) } };
  },
});

/** Matches the invite of that uuid, if the user has sent it. */
const sentBy = (by: string, inviteUuid: string) => (each: PendingInvite) =>
  each.uuid === inviteUuid && each.sender_uuid === by;

const changeInvite = command(Vault.commands.changeInvite, {
  reads: (view) => ({ invites: range(vaultInviteTable, { ...everything(view), columns: withoutMessage }) }),
  turn: (turn, { by, inviteUuid, ...invitation }, { invites }) => {
    const before = invites.rows.find(sentBy(by, inviteUuid));
    if (before === undefined) return noSuchInvite;
    const { position, micros } = nextChangeStamp(turn);
    const permission = invitation.permission ?? (before.permission as Permission);
    const row = inviteRowOf({ ...invitation, permission }, { ...before, position, updated_at: micros });
    turn.put(vaultInviteTable, row);
    turn.tell(Inbox, row.invitee).invited({ invite: inviteResponse(row), isNew: false });
    return { ok: { invite: inviteResponse(row) } };
  },
});

function inviteRowOf(
  { encryptedMessage, permission }: { readonly encryptedMessage: string; readonly permission: Permission },
  rest: Omit<InviteRow, 'encrypted_message' | 'permission' | 'bytes'>,
): InviteRow {
  return {
    ...rest,
    permission,
    encrypted_message: encryptedMessage,
    bytes: Buffer.byteLength(encryptedMessage),
  };
}

const acceptInvite = command(Vault.commands.acceptInvite, {
  reads: (view, { by }) => ({ ...memberListPlan(view), ...invitePlan(view, by) }),
  turn: (turn, { by, inviteUuid }, { invite, ...reads }) => {
    const memberList = memberListOf(turn, reads);
    const member = memberList && memberIn(memberList, by);
    if (member !== undefined) return { ok: { membership: member.membership } };
    const accepted = invite.get(inviteKey(turn, by));
    if (memberList === undefined || accepted?.uuid !== inviteUuid) return noSuchInvite;
    if (memberList.members.length >= turn.use(VaultSettings).membersMax) return vaultIsFull;
    forget(turn, accepted);
    const changeStamp = nextChangeStamp(turn);
    const joined = admit(turn, by, accepted.permission as Permission, changeStamp);
    addNotifications(
      turn,
      [...memberList.members, joined],
      'user_added_to_shared_vault',
      changeStamp.position,
    );
    return { ok: { membership: joined.membership } };
  },
});

const endInvite = command(Vault.commands.endInvite, {
  repeat: 'recorded',
  reads: pendingPlan,
  turn: (turn, { by, inviteUuid }, { pending }) => {
    const isTheirs = (each: PendingInvite) => each.invitee === by || each.sender_uuid === by;
    const ended = pending.rows.find((each) => each.uuid === inviteUuid && isTheirs(each));
    if (ended === undefined) return noSuchInvite;
    cancel(turn, [ended]);
    return { ok: {} };
  },
});

const sentInvites = sharedRead(Vault.commands.sentInvites, {
  reads: (view) => ({ invites: range(vaultInviteTable, everything(view)) }),
  answer: (_view, { by }, { invites }) => ({
    invites: invites.rows.filter(({ sender_uuid }) => sender_uuid === by).map(inviteResponse),
  }),
});

const cancelInvites = command(Vault.commands.cancelInvites, {
  reads: pendingPlan,
  turn: (turn, { by }, { pending }) => {
    cancel(
      turn,
      pending.rows.filter(({ sender_uuid }) => sender_uuid === by),
    );
    return {};
  },
});

/** Removes the invites and notifies the invitees. */
export function cancel(turn: Turn, invites: readonly PendingInvite[]): void {
  if (invites.length === 0) return;
  const { position: at } = nextChangeStamp(turn);
  for (const each of invites) {
    forget(turn, each);
    const gone = { vaultUuid: turn.self.id, inviteUuid: each.uuid };
    const subject = { type: 'shared_vault_invite_canceled', ...gone } as const;
    turn.tell(Inbox, each.invitee).notified({ subject, at });
  }
}

function forget(turn: Turn, { invitee, uuid }: Pick<PendingInvite, 'invitee' | 'uuid'>): void {
  turn.remove(vaultInviteTable, inviteKey(turn, invitee));
  turn.tell(Inbox, invitee).inviteGone({ vaultUuid: turn.self.id, inviteUuid: uuid });
}

export type PendingInvites = RangeResult<typeof vaultInviteTable>;
export const inviteCommands = {
  invite,
  changeInvite,
  acceptInvite,
  endInvite,
  sentInvites,
  cancelInvites,
};
