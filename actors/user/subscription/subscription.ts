/** What clients read of subscription and features (docs/protocol/account.md, "Subscription and features"). */
import { profileSlice } from '../profile.ts';
import { signedInRead } from '../signed-in.ts';
import { Subscription } from './contract.ts';
import { features } from './features.ts';
import { ownSubscription } from './own-subscription.ts';
import { sharedSubscriptionId } from './shares.ts';

export const getSubscription = signedInRead({
  ...Subscription.commands.getSubscription,
  answer: (view) => {
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
  },
});

export const getFeatures = signedInRead({
  ...Subscription.commands.getFeatures,
  answer: (view) => ({ success: true, userUuid: view.self.id, features }),
});
