/** The members of a vault: listing and removing them, choosing the survivor, and subscribing gateways to the vault's events. */
import { command, keys, sharedRead, type Turn } from '../../../runtime/command.ts';
import { refuse } from '../../reply.ts';
import { Inbox } from '../../user/inbox/contract.ts';
import { noSuchVault, notTheOwner, Vault } from '../contract.ts';
import {
  addNotifications,
  changeMember,
  changeVault,
  dismiss,
  type MemberList,
  memberIn,
  memberKey,
  memberListFor,
  memberListPlan,
} from '../member-list.ts';
import { memberResponse } from '../responses.ts';
import { nextChangeStamp } from '../state.ts';
import { type MemberRow, memberTable } from '../tables.ts';

const notAnAdmin = refuse.badRequest('Only an admin of the shared vault may do this.');
const noSuchMember = refuse.badRequest('This user is not a member of the shared vault.');
const cannotRemoveOwner = refuse.badRequest('The owner of a shared vault cannot be removed from it.');
const ownSurvivor = refuse.badRequest('The owner of a shared vault cannot be its survivor.');

const members = sharedRead(Vault.commands.members, {
  reads: memberListPlan,
  answer: (view, { by }, reads) => {
    const memberList = memberListFor(view, by, reads);
    if (memberList === undefined) return noSuchVault;
    const inOrder = memberList.members.toSorted((a, b) => a.membership - b.membership);
    return { ok: { users: inOrder.map((each) => memberResponse(each, memberList.vault)) } };
  },
});

const removeMember = command(Vault.commands.removeMember, {
  repeat: 'recorded',
  reads: memberListPlan,
  turn: (turn, { by, userUuid }, reads) => {
    const memberList = memberListFor(turn, by, reads);
    if (memberList === undefined) return noSuchVault;
    if (userUuid !== by && !memberList.isOwner) return notTheOwner;
    const leaving = memberIn(memberList, userUuid);
    if (leaving === undefined) return noSuchMember;
    if (userUuid === memberList.vault.owner_uuid) return cannotRemoveOwner;
    part(turn, memberList, leaving);
    return { ok: { membership: leaving.membership } };
  },
});

/** Ends the membership of a member who is not the owner. */
export function part(turn: Turn, { vault, members }: MemberList, leaving: MemberRow): void {
  const { position } = nextChangeStamp(turn);
  dismiss(turn, leaving, position);
  if (vault.survivor_uuid === leaving.member) changeVault(turn, vault, { survivor_uuid: null });
  const others = members.filter(({ member }) => member !== leaving.member);
  addNotifications(turn, others, 'user_removed_from_shared_vault', position);
}

const designateSurvivor = command(Vault.commands.designateSurvivor, {
  reads: memberListPlan,
  turn: (turn, { by, userUuid }, reads) => {
    const memberList = memberListFor(turn, by, reads);
    if (memberList === undefined) return noSuchVault;
    if (memberList.asker.permission !== 'admin') return notAnAdmin;
    const survivor = memberIn(memberList, userUuid);
    if (survivor === undefined) return noSuchMember;
    if (userUuid === memberList.vault.owner_uuid) return ownSurvivor;
    if (memberList.vault.survivor_uuid !== userUuid) designate(turn, memberList, survivor);
    return { ok: {} };
  },
});

function designate(turn: Turn, memberList: MemberList, survivor: MemberRow): void {
  const { vault } = memberList;
  const before = vault.survivor_uuid === null ? undefined : memberIn(memberList, vault.survivor_uuid);
  if (before !== undefined) changeMember(turn, before, {});
  changeMember(turn, survivor, {});
  const { position: at } = changeVault(turn, vault, { survivor_uuid: survivor.member });
  const type = 'user_designated_as_survivor';
  const subject = { type, vaultUuid: vault.vault, userUuid: survivor.member } as const;
  turn.tell(Inbox, vault.owner_uuid).notified({ subject, at });
}

/** A gateway without sockets of members is not subscribed. */
const subscribe = command(Vault.commands.subscribe, {
  reads: (view, { users }) => ({
    members: keys(
      memberTable,
      users.map((each) => memberKey(view, each)),
    ),
  }),
  turn: (turn, { gateway, users }, { members }) => {
    const admitted = users.flatMap((each) => {
      const row = members.get(memberKey(turn, each));
      return row === undefined ? [] : [[each, row.membership] as const];
    });
    const memberships = Object.fromEntries(admitted);
    return admitted.length === 0 ? { memberships } : { memberships, host: turn.subscribe(gateway) };
  },
});

export const memberCommands = { members, removeMember, designateSurvivor, subscribe };
