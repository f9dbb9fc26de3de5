/** The subscription of an account, and its sharing (docs/protocol/account.md). */
import { SubscriptionTokens } from '../../identity/subscription-tokens.ts';
import { AccountSettings } from '../../settings.ts';
import { userPart } from '../hooks.ts';
import { Subscription } from './contract.ts';
import {
  answerInvite,
  createInvite,
  forgetInvites,
  inviteLeft,
  inviteMap,
  inviteTable,
  listInvites,
} from './invites.ts';
import { premiumSlice } from './own-subscription.ts';
import { activatePremium } from './premium.ts';
import {
  acceptInvite,
  declineInvite,
  endInvite,
  leaveShares,
  shareMap,
  subscriptionShared,
  subscriptionUnshared,
} from './shares.ts';
import { getFeatures, getSubscription } from './subscription.ts';
import {
  mailSubscriptionToken,
  makeSubscriptionToken,
  offlineFeatures,
  offlineSubscription,
} from './tokens.ts';

const commands = {
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
};

const tells = {
  subscriptionShared,
  subscriptionUnshared,
  inviteLeft,
  mailSubscriptionToken,
};

export const subscription = userPart(Subscription, {
  name: 'subscription',
  uses: [AccountSettings, SubscriptionTokens],
  slices: [premiumSlice, inviteMap, shareMap],
  tables: [inviteTable],
  commands,
  tells,
  on: {
    accountDeleted: (turn) => {
      forgetInvites(turn);
      leaveShares(turn);
    },
  },
});
