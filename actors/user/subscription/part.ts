/** The subscription of an account, and its sharing (docs/protocol/account.md). */

import { command } from '../../../runtime/command.ts';
import { SubscriptionTokens } from '../../identity/subscription-tokens.ts';
import { AccountSettings } from '../../settings.ts';
import { userPart } from '../hooks.ts';
import { isActive, profileSlice } from '../profile.ts';
import { putSetting } from '../settings/stored.ts';
import { signedInRead } from '../signed-in.ts';
import { Subscription } from './contract.ts';
import { features } from './features.ts';
import {
  answerInvite,
  cancelInvites,
  createInvite,
  forgetInvites,
  inviteLeft,
  inviteMap,
  listInvites,
  subscriptionInviteTable,
} from './invites.ts';
import { ownSubscription, premiumSlice } from './own-subscription.ts';
import {
  acceptInvite,
  declineInvite,
  endInvite,
  leaveShares,
  sharedSubscriptionId,
  shareMap,
  subscriptionShared,
  subscriptionUnshared,
} from './shares.ts';
import {
  mailSubscriptionToken,
  makeSubscriptionToken,
  offlineFeatures,
  offlineSubscription,
} from './tokens.ts';

/** The length of a subscription whose activation names no end. */
const usualMicros = 365 * 86_400_000_000;

/** Gives an account the subscription of a conformance run (docs/protocol/account.md, "Conformance runs"). */
const activatePremium = command(
  Subscription.commands.activatePremium,
  (turn, { subscriptionId, planName, endsAtMicros, uploadBytesLimit, cancelPrevious }) => {
    if (!isActive(turn) || !turn.use(AccountSettings).endToEndTesting) return { activated: false };
    if (cancelPrevious) cancelInvites(turn);
    const sinceMicros = turn.nowMicros;
    const endMicros = endsAtMicros ?? sinceMicros + usualMicros;
    turn.set(premiumSlice, { subscriptionId, planName, endsAtMicros: endMicros, sinceMicros });
    putSetting(turn, 'FILE_UPLOAD_BYTES_LIMIT', String(uploadBytesLimit));
    return { activated: true };
  },
);

const getSubscription = signedInRead(Subscription.commands.getSubscription, (view) => {
  const uuid = view.self.id;
  const own = ownSubscription(view);
  const sharedId = sharedSubscriptionId(view);
  const subscription = {
    ...own,
    uuid,
    renewedAt: own.updatedAt,
    subscriptionId: sharedId ?? own.subscriptionId,
    subscriptionType: sharedId === undefined ? ('regular' as const) : ('shared' as const),
    userUuid: uuid,
  };
  return { success: true, user: { uuid, email: view.get(profileSlice).email }, subscription };
});

const getFeatures = signedInRead(Subscription.commands.getFeatures, (view) => ({
  success: true,
  userUuid: view.self.id,
  features,
}));

export const subscription = userPart(Subscription, {
  name: 'subscription',
  uses: [AccountSettings, SubscriptionTokens],
  slices: [premiumSlice, inviteMap, shareMap],
  tables: [subscriptionInviteTable],
  commands: {
    getSubscription,
    getFeatures,
    makeSubscriptionToken,
    offlineSubscription,
    offlineFeatures,
    createInvite,
    listInvites,
    declineInvite,
    endInvite,
    acceptInvite,
    answerInvite,
    activatePremium,
  },
  tells: {
    subscriptionShared,
    subscriptionUnshared,
    inviteLeft,
    mailSubscriptionToken,
  },
  on: {
    accountDeleted: (turn) => {
      forgetInvites(turn);
      leaveShares(turn);
    },
  },
});
