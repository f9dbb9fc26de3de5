/**
 * Invites to share a subscription, on the inviter's side (docs/protocol/account.md, "Subscription invites"). The invitee's side
 * is in `shares.ts`.
 *
 *     sent      by the inviter; for a while
 *     accepted  by the owner of the invited address
 *     declined  by the same, before or after; or the account of the invitee is gone
 *     canceled  by the inviter, or nobody has answered in time
 *
 * Only this actor decides about an invite, each time in one commit. The invitee's actor commits that it wants to share before
 * it asks (`shares.ts`). The commit that ends sharing also tells the other side. So after a crash at any step both sides come
 * to say the same:
 *
 *     invitee                              inviter
 *     wanted, durable  -- answerInvite ->  accepted, durable, and tells `subscriptionShared`
 *     shared           <- its reply, or the tell, whichever comes first
 *
 *     deleted, tells `inviteLeft`  ----->  declined
 *     not shared  <- subscriptionUnshared  canceled, or deleted
 *
 * Tells come in no order. The invitee answers a `subscriptionShared` that it no longer wants with `inviteLeft`. No tell
 * reverses a later decision.
 */
import { z } from 'zod';
import { command, type Turn, tell, type View } from '../../../runtime/command.ts';
import { sliceMap } from '../../../runtime/slice.ts';
import { table } from '../../../runtime/table.ts';
import { normaliseUsername } from '../../identity/usernames.ts';
import { mailAddress } from '../../mailer/address.ts';
import { tellToRecall } from '../../mailer/outgoing.ts';
import { refuse } from '../../reply.ts';
import { audit } from '../audit/trail.ts';
import { sendMail } from '../mails.ts';
import { isActive, isBanned, profileSlice } from '../profile.ts';
import { signedInRead, signedInTurn } from '../signed-in.ts';
import { Subscription } from './contract.ts';
import { ownSubscriptionId } from './own-subscription.ts';

/** Finds the inviter: an invitee knows only the uuid of the invite. */
export const subscriptionInviteTable = table({
  name: 'subscription_invite',
  columns: { user_uuid: 'uuid', uuid: 'uuid' },
  key: ['user_uuid', 'uuid'],
  unique: [['uuid']],
});

/** Sent or accepted. */
const openInvitesMax = 5;
/** Each sends a mail, and cancelling one makes room for the next. */
const invitesPerDayMax = 20;
/** Old invites are listed while there is room for them. */
const invitesMax = 50;
const dayMicros = 86_400_000_000;
/** After this time without an answer, the address can be invited again. */
const answerMicros = 30 * dayMicros;

const inviteSchema = z.object({
  uuid: z.string(),
  /** The addresses at the time of the invite. */
  inviter: z.string(),
  invitee: z.string(),
  status: z.enum(['sent', 'canceled', 'accepted', 'declined']),
  /** The user who has accepted it. */
  inviteeUuid: z.string().nullable(),
  createdAtMicros: z.number(),
  updatedAtMicros: z.number(),
});
type Invite = z.infer<typeof inviteSchema>;

/** Keyed by uuid. */
export const inviteMap = sliceMap<Invite>({
  family: 'subscription-invite',
  entriesMax: invitesMax,
  schema: inviteSchema,
});

const notAnAddress = refuse.badRequest(
  'Please provide the e-mail address of the person whom you want to invite.',
);
const ownAddress = refuse.badRequest('You cannot invite yourself.');
const invitedBefore = refuse.badRequest('This address is invited already.');
const tooManyOpen = refuse.badRequest(`A subscription is shared with ${openInvitesMax} others at most.`);
const tooManyToday = refuse.badRequest('Too many invites were sent within a day. Please try again later.');

export const createInvite = signedInTurn(Subscription.commands.createInvite, {
  repeat: 'recorded',
  turn: (turn, { identifier }, _reads, { session }) => {
    const invitee = normaliseUsername(identifier);
    const { email: inviter } = turn.get(profileSlice);
    if (mailAddress(invitee) === undefined) return notAnAddress;
    if (invitee === inviter) return ownAddress;
    const invites = newestFirst(turn);
    const open = invites.filter(isOpen);
    if (open.some((each) => each.invitee === invitee)) return invitedBefore;
    if (open.length >= openInvitesMax) return tooManyOpen;
    const today = invites.filter(({ createdAtMicros }) => turn.nowMicros - createdAtMicros < dayMicros);
    if (today.length >= invitesPerDayMax) return tooManyToday;
    if (invites.length >= invitesMax)
      forget(
        turn,
        invites.findLast((each) => !isOpen(each)),
      );
    const times = { createdAtMicros: turn.nowMicros, updatedAtMicros: turn.nowMicros };
    const uuid = turn.random.uuid();
    turn.setEntry(inviteMap, uuid, { uuid, inviter, invitee, status: 'sent', inviteeUuid: null, ...times });
    turn.put(subscriptionInviteTable, { user_uuid: turn.self.id, uuid });
    mailInvite(turn, { uuid, inviter, invitee });
    audit(turn, 'subscription-invite-sent', session, uuid);
    return { success: true, sharedSubscriptionInvitationUuid: uuid };
  },
});

export const listInvites = signedInRead(Subscription.commands.listInvites, (view) => {
  const subscriptionId = ownSubscriptionId(view);
  const invitations = newestFirst(view).map((invite) => ({
    uuid: invite.uuid,
    inviterIdentifier: invite.inviter,
    inviterIdentifierType: 'email',
    inviteeIdentifier: invite.invitee,
    inviteeIdentifierType: 'email',
    status: invite.status,
    subscriptionId,
    createdAt: invite.createdAtMicros,
    updatedAt: invite.updatedAtMicros,
  }));
  return { invitations };
});

/** False: the account has sent no such invite. */
export function cancelInvite(turn: Turn, inviteUuid: string): boolean {
  const invite = currentInvite(turn, inviteUuid);
  if (invite === undefined) return false;
  if (!isOpen(invite)) return true;
  change(turn, invite, { status: 'canceled' });
  if (invite.inviteeUuid === null) tellToRecall(turn, inviteMailId(inviteUuid));
  else turn.tell(Subscription, invite.inviteeUuid).subscriptionUnshared({ inviteUuid });
  return true;
}

export function cancelInvites(turn: Turn): void {
  for (const uuid of turn.entries(inviteMap).keys()) cancelInvite(turn, uuid);
}

/** Removes all invites of an account that is being deleted. */
export function forgetInvites(turn: Turn): void {
  cancelInvites(turn);
  for (const invite of turn.entries(inviteMap).values()) forget(turn, invite);
}

export const answerInvite = command(
  Subscription.commands.answerInvite,
  (turn, { inviteUuid, userUuid, email, answer }) => {
    const invite = currentInvite(turn, inviteUuid);
    if (!isActive(turn) || invite === undefined) return {};
    const subscriptionId = ownSubscriptionId(turn);
    const isTheirs = invite.inviteeUuid === userUuid;
    if (invite.status === 'sent' ? invite.invitee !== email : !isTheirs) return {};
    if (invite.status === answer) return { subscriptionId };
    if (!isOpen(invite)) return {};
    // The invite can be accepted once the ban is over.
    if (answer === 'accepted' && isBanned(turn)) return {};
    change(turn, invite, { status: answer, inviteeUuid: userUuid });
    if (answer === 'accepted')
      turn.tell(Subscription, userUuid).subscriptionShared({ inviteUuid, subscriptionId });
    return { subscriptionId };
  },
);

export const inviteLeft = tell(Subscription.tells.inviteLeft, (turn, { inviteUuid, email }, { address }) => {
  const invite = currentInvite(turn, inviteUuid);
  if (invite === undefined || !isOpen(invite)) return;
  const isTheirs = invite.status === 'sent' ? invite.invitee === email : invite.inviteeUuid === address.id;
  if (isTheirs) change(turn, invite, { status: 'declined' });
});

const isOpen = ({ status }: Invite): boolean => status === 'sent' || status === 'accepted';

/** An invite without an answer in time counts as cancelled from then on. */
function asOf(view: View, invite: Invite): Invite {
  const endsAtMicros = invite.createdAtMicros + answerMicros;
  if (invite.status !== 'sent' || view.nowMicros < endsAtMicros) return invite;
  return { ...invite, status: 'canceled', updatedAtMicros: endsAtMicros };
}

function currentInvite(view: View, uuid: string): Invite | undefined {
  const invite = view.entry(inviteMap, uuid);
  return invite && asOf(view, invite);
}

const newestFirst = (view: View): readonly Invite[] =>
  [...view.entries(inviteMap).values()]
    .map((invite) => asOf(view, invite))
    .toSorted((a, b) => b.createdAtMicros - a.createdAtMicros);

function change(turn: Turn, invite: Invite, to: Partial<Invite>): void {
  turn.setEntry(inviteMap, invite.uuid, { ...invite, ...to, updatedAtMicros: turn.nowMicros });
}

function forget(turn: Turn, invite: Invite | undefined): void {
  if (invite === undefined) return;
  turn.removeEntry(inviteMap, invite.uuid);
  turn.remove(subscriptionInviteTable, { user_uuid: turn.self.id, uuid: invite.uuid });
}

const inviteMailId = (inviteUuid: string): string => `invite:${inviteUuid}`;

/** If no mail can be sent, the invite exists all the same. */
function mailInvite(
  turn: Turn,
  { uuid, inviter, invitee }: Pick<Invite, 'uuid' | 'inviter' | 'invitee'>,
): void {
  const text = [
    `${inviter} invites you to share a subscription for notes.`,
    '',
    `To accept, sign in as ${invitee} where ${inviter} has an account, and give your app this invite:`,
    '',
    `    ${uuid}`,
    '',
    'If you do not know who that is, there is nothing you need to do.',
  ];
  sendMail(turn, {
    id: inviteMailId(uuid),
    source: 'invite',
    recipient: invitee,
    accountSinceMs: turn.get(profileSlice).createdAtMs,
    subject: 'You are invited to share a subscription',
    text: text.join('\n'),
  });
}
