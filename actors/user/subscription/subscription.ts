/**
 * Every account has full access and no account has bought it: what clients read of subscriptions and features is made
 * from the account itself (docs/protocol/account.md, "Subscription and features").
 */
import type { View } from '../../../runtime/command.ts';
import { derivedUuid } from '../../identity/derived-uuid.ts';
import { User } from '../contract.ts';
import { profileSlice } from '../profile.ts';
import { signedInRead } from '../signed-in.ts';
import { features } from './features.ts';

const dayMicros = 86_400_000_000;
const lengthMicros = 36_500 * dayMicros;

const getSubscription = signedInRead({
  ...User.commands.getSubscription,
  answer: (view) => {
    const user = { uuid: view.self.id, email: view.get(profileSlice).email };
    return { success: true, user, subscription: subscriptionOf(view) };
  },
});

const getFeatures = signedInRead({
  ...User.commands.getFeatures,
  answer: (view) => ({ success: true, userUuid: view.self.id, features }),
});

function subscriptionOf(view: View) {
  const sinceMicros = view.get(profileSlice).createdAtMs * 1_000;
  return {
    uuid: view.self.id,
    planName: 'PRO_PLAN',
    endsAt: view.nowMicros + lengthMicros,
    createdAt: sinceMicros,
    updatedAt: sinceMicros,
    renewedAt: sinceMicros,
    cancelled: false,
    subscriptionId: subscriptionId(view.self.id),
    subscriptionType: 'regular',
    userUuid: view.self.id,
  };
}

/** A number of ten digits that stays the same, as clients know it from elsewhere. */
export const subscriptionId = (userUuid: string): number =>
  1_000_000_000 + (Number.parseInt(derivedUuid(`subscription ${userUuid}`).slice(0, 8), 16) % 1_000_000_000);

export const subscriptionCommands = { getSubscription, getFeatures };
