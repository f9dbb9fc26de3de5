/** The members of a vault: who they are, how one leaves, and who gets it when its owner is gone. */
import { command, sharedRead, type Turn } from '../../runtime/command.ts';
import { refuse } from '../reply.ts';
import { Inbox } from '../user/inbox/contract.ts';
import { noSuchVault, notTheOwner, Vault } from './contract.ts';
import { nextMoment } from './moment.ts';
import {
  changeMember,
  changeVault,
  dismiss,
  memberIn,
  notify,
  type Roster,
  rosterFor,
  rosterPlan,
} from './roster.ts';
import { shownMember } from './shown.ts';
import type { MemberRow } from './tables.ts';

const notAnAdmin = refuse.badRequest('Only an admin of the shared vault may do this.');
const noSuchMember = refuse.badRequest('This user is not a member of the shared vault.');
const ownerStays = refuse.badRequest('The owner of a shared vault cannot be removed from it.');
const ownSurvivor = refuse.badRequest('The owner of a shared vault cannot be its survivor.');

const members = sharedRead({
  ...Vault.commands.members,
  reads: rosterPlan,
  answer: (view, { by }, reads) => {
    const roster = rosterFor(view, by, reads);
    if (roster === undefined) return noSuchVault;
    const inOrder = roster.members.toSorted((a, b) => a.membership - b.membership);
    return { ok: { users: inOrder.map((each) => shownMember(each, roster.vault)) } };
  },
});

const removeMember = command({
  ...Vault.commands.removeMember,
  repeat: 'recorded',
  reads: rosterPlan,
  turn: (turn, { by, userUuid }, reads) => {
    const roster = rosterFor(turn, by, reads);
    if (roster === undefined) return noSuchVault;
    if (userUuid !== by && !roster.isOwner) return notTheOwner;
    const leaving = memberIn(roster, userUuid);
    if (leaving === undefined) return noSuchMember;
    if (userUuid === roster.vault.owner_uuid) return ownerStays;
    part(turn, roster, leaving);
    return { ok: { membership: leaving.membership } };
  },
});

/** Somebody who is not the owner is no member any more; everybody else stays. */
export function part(turn: Turn, { vault, members }: Roster, leaving: MemberRow): void {
  const { position } = nextMoment(turn);
  dismiss(turn, leaving, position);
  if (vault.survivor_uuid === leaving.member) changeVault(turn, vault, { survivor_uuid: null });
  const others = members.filter(({ member }) => member !== leaving.member);
  notify(turn, others, 'user_removed_from_shared_vault', position);
}

const designateSurvivor = command({
  ...Vault.commands.designateSurvivor,
  reads: rosterPlan,
  turn: (turn, { by, userUuid }, reads) => {
    const roster = rosterFor(turn, by, reads);
    if (roster === undefined) return noSuchVault;
    if (roster.asker.permission !== 'admin') return notAnAdmin;
    const survivor = memberIn(roster, userUuid);
    if (survivor === undefined) return noSuchMember;
    if (userUuid === roster.vault.owner_uuid) return ownSurvivor;
    if (roster.vault.survivor_uuid !== userUuid) designate(turn, roster, survivor);
    return { ok: {} };
  },
});

function designate(turn: Turn, roster: Roster, survivor: MemberRow): void {
  const { vault } = roster;
  const before = vault.survivor_uuid === null ? undefined : memberIn(roster, vault.survivor_uuid);
  if (before !== undefined) changeMember(turn, before, {});
  changeMember(turn, survivor, {});
  const { position: at } = changeVault(turn, vault, { survivor_uuid: survivor.member });
  const type = 'user_designated_as_survivor';
  const subject = { type, vaultUuid: vault.vault, userUuid: survivor.member } as const;
  turn.tell(Inbox, vault.owner_uuid).notified({ subject, at });
}

export const memberCommands = { members, removeMember, designateSurvivor };
