/** The commands and tells of subscriptions (docs/protocol/account.md). */
import { answerInvite, createInvite, inviteLeft, listInvites } from './invites.ts';
import { mailSubscriptionToken } from './mails.ts';
import { activatePremium } from './premium.ts';
import {
  acceptInvite,
  declineInvite,
  endInvite,
  subscriptionShared,
  subscriptionUnshared,
} from './shares.ts';
import { getFeatures, getSubscription } from './subscription.ts';
import { makeSubscriptionToken, offlineFeatures, offlineSubscription } from './tokens.ts';

export const subscriptionCommands = {
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

export const subscriptionTells = {
  subscriptionShared,
  subscriptionUnshared,
  inviteLeft,
  mailSubscriptionToken,
};
