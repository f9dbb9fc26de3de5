/**
 * Subscriptions that others share with an account: the invites that its owner has accepted. `invites.ts` has the protocol
 * between both accounts.
 *
 *     wanted   stored before the inviter is asked. If the account is deleted meanwhile, it still tells the inviter
 *     shared   the inviter has agreed, by its reply or by a tell. The entry has a subscription id
 *     (gone)   the inviter has refused, or one of them has ended it
 *
 * A crash after `wanted` leaves the entry, which shares nothing. The invite can be accepted again, and the entry gives way to
 * others when the list is full.
 */
import { z } from 'zod';
import { lookup, type Turn, tell, type View } from '../../../runtime/command.ts';
import { unlessAbsent } from '../../../runtime/handles.ts';
import { sliceMap } from '../../../runtime/slice.ts';
import { isUuid } from '../../collection/incoming.ts';
import { refuse } from '../../reply.ts';
import { profileSlice } from '../profile.ts';
import { type SignedInWorkflow, signedInWorkflow } from '../signed-in.ts';
import { Subscription } from './contract.ts';
import { cancelInvite, subscriptionInviteTable } from './invites.ts';

const sharesMax = 20;

const shareSchema = z.object({
  inviterUuid: z.string(),
  /** Null: the inviter has not answered yet. */
  subscriptionId: z.number().nullable(),
  sinceMicros: z.number(),
});
type SharedSubscription = Readonly<z.infer<typeof shareSchema>>;

/** Keyed by the uuid of the invite. */
export const shareMap = sliceMap<SharedSubscription>({
  family: 'subscription-share',
  entriesMax: sharesMax,
  schema: shareSchema,
});

const unknown = refuse.badRequest('This invite is not valid any more.');
const tooMany = refuse.badRequest(`You have accepted ${sharesMax} invites already.`);

export const acceptInvite = signedInWorkflow(
  Subscription.commands.acceptInvite,
  async (workflow, request) => {
    const inviteUuid = request.inviteUuid.toLowerCase();
    const { email, inviterUuid } = await workflow.turn({
      reads: () => inviteNamed(inviteUuid),
      turn: (turn, { invite }) => {
        const [row] = invite.rows;
        if (row === undefined || row.user_uuid === turn.self.id) return unknown;
        if (!addWanted(turn, inviteUuid, row.user_uuid)) return tooMany;
        return { email: turn.get(profileSlice).email, inviterUuid: row.user_uuid };
      },
    });
    const subscriptionId = await answerInviter(workflow, inviterUuid, {
      inviteUuid,
      email,
      answer: 'accepted',
    });
    return workflow.lastTurn({
      turn: (turn) => {
        if (subscriptionId !== undefined && setShared(turn, inviteUuid, subscriptionId))
          return { success: true };
        unshare(turn, inviteUuid);
        return unknown;
      },
    });
  },
);

export const endInvite = signedInWorkflow(Subscription.commands.endInvite, async (workflow, request) => {
  const inviteUuid = request.inviteUuid.toLowerCase();
  const isCancelled = await workflow.turn({ turn: (turn) => cancelInvite(turn, inviteUuid) });
  return isCancelled ? { success: true } : decline(workflow, inviteUuid);
});

export const declineInvite = signedInWorkflow(
  Subscription.commands.declineInvite,
  (workflow, { inviteUuid }) => decline(workflow, inviteUuid.toLowerCase()),
);

async function decline(workflow: SignedInWorkflow<{ success: boolean }>, inviteUuid: string) {
  const { email, inviterUuid } = await workflow.turn({
    reads: () => inviteNamed(inviteUuid),
    turn: (turn, { invite }) => {
      const [row] = invite.rows;
      if (row === undefined || row.user_uuid === turn.self.id) return unknown;
      return { email: turn.get(profileSlice).email, inviterUuid: row.user_uuid };
    },
  });
  const subscriptionId = await answerInviter(workflow, inviterUuid, {
    inviteUuid,
    email,
    answer: 'declined',
  });
  return workflow.lastTurn({
    turn: (turn) => {
      unshare(turn, inviteUuid);
      return subscriptionId === undefined ? unknown : { success: true };
    },
  });
}

export const subscriptionShared = tell(
  Subscription.tells.subscriptionShared,
  (turn, { inviteUuid, subscriptionId }, { address }) => {
    if (setShared(turn, inviteUuid, subscriptionId)) return;
    turn.tell(Subscription, address.id).inviteLeft({ inviteUuid, email: turn.get(profileSlice).email });
  },
);

export const subscriptionUnshared = tell(Subscription.tells.subscriptionUnshared, (turn, { inviteUuid }) =>
  unshare(turn, inviteUuid),
);

/** Tells all inviters that this account leaves. Called while a deleted account still has its e-mail address. */
export function leaveShares(turn: Turn): void {
  const { email } = turn.get(profileSlice);
  for (const [inviteUuid, { inviterUuid }] of turn.entries(shareMap)) {
    turn.tell(Subscription, inviterUuid).inviteLeft({ inviteUuid, email });
    turn.removeEntry(shareMap, inviteUuid);
  }
}

/** The subscription that has been shared with the account for the longest time. */
export function sharedSubscriptionId(view: View): number | undefined {
  const shared = [...view.entries(shareMap).values()].filter(({ subscriptionId }) => subscriptionId !== null);
  const [first] = shared.toSorted((a, b) => a.sinceMicros - b.sinceMicros);
  return first?.subscriptionId ?? undefined;
}

/** Text that is not a uuid names no invite. The column would refuse it. */
const inviteNamed = (uuid: string) => ({
  invite: lookup(subscriptionInviteTable, isUuid(uuid) ? [{ uuid }] : []),
});

/** Adds a `wanted` entry. False if the list is full of shared subscriptions. */
function addWanted(turn: Turn, inviteUuid: string, inviterUuid: string): boolean {
  const shares = turn.entries(shareMap);
  if (shares.has(inviteUuid)) return true;
  if (shares.size >= sharesMax) {
    const [unanswered] = [...shares].filter(([, { subscriptionId }]) => subscriptionId === null);
    if (unanswered === undefined) return false;
    turn.removeEntry(shareMap, unanswered[0]);
  }
  turn.setEntry(shareMap, inviteUuid, { inviterUuid, subscriptionId: null, sinceMicros: turn.nowMicros });
  return true;
}

/** Makes a `wanted` entry `shared`. False if there is no such entry any more. */
function setShared(turn: Turn, inviteUuid: string, subscriptionId: number): boolean {
  const entry = turn.entry(shareMap, inviteUuid);
  if (entry === undefined) return false;
  if (entry.subscriptionId !== subscriptionId) {
    turn.setEntry(shareMap, inviteUuid, { ...entry, subscriptionId });
  }
  return true;
}

function unshare(turn: Turn, inviteUuid: string): void {
  if (turn.entry(shareMap, inviteUuid) !== undefined) turn.removeEntry(shareMap, inviteUuid);
}

interface InviteAnswer {
  readonly inviteUuid: string;
  readonly email: string;
  readonly answer: 'accepted' | 'declined';
}

/** Sends the answer to the inviter, and returns the id of the subscription. Undefined if there is no such inviter or invite. */
async function answerInviter(
  { self, actors }: Pick<SignedInWorkflow<unknown>, 'self' | 'actors'>,
  inviterUuid: string,
  inviteAnswer: InviteAnswer,
): Promise<number | undefined> {
  const { ask } = actors.get(Subscription, inviterUuid);
  return (await unlessAbsent(ask.answerInvite({ ...inviteAnswer, userUuid: self.id })))?.subscriptionId;
}
