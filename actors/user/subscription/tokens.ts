/**
 * Subscription tokens (docs/protocol/account.md, "Subscription tokens"). A signed-in caller gets one, and so does anyone who
 * reads the mail of the account's address.
 */
import { sharedRead, type View } from '../../../runtime/command.ts';
import {
  invalidSubscriptionToken,
  type SubscriptionClaims,
  SubscriptionTokens,
  subscriptionTokenAgeMs,
} from '../../identity/subscription-tokens.ts';
import { isBanned, profileSlice } from '../profile.ts';
import { callerOf } from '../roles.ts';
import { signedInRead } from '../signed-in.ts';
import { Subscription } from './contract.ts';
import { features } from './features.ts';
import { ownSubscription } from './own-subscription.ts';

type Now = View & { readonly nowMs: number };

export const makeSubscriptionToken = signedInRead({
  ...Subscription.commands.makeSubscriptionToken,
  answer: (view) => ({ token: mintToken(view) }),
});

export const offlineSubscription = sharedRead({
  ...Subscription.commands.offlineSubscription,
  answer: (view, claims) => {
    if (!stands(view, claims)) return { refused: invalidSubscriptionToken };
    const { email } = view.get(profileSlice);
    return { ok: { success: true, subscription: { uuid: nilUuid, email, ...ownSubscription(view) } } };
  },
});

export const offlineFeatures = sharedRead({
  ...Subscription.commands.offlineFeatures,
  answer: (view, claims) => {
    if (!stands(view, claims)) return { refused: invalidSubscriptionToken };
    const roles = callerOf(view).roles.map(({ name }) => name);
    return { ok: { success: true, features, roles } };
  },
});

/** Who is not signed in learns no uuid. */
const nilUuid = '00000000-0000-0000-0000-000000000000';

export function mintToken(view: Now): string {
  const { credentialsVersion } = view.get(profileSlice);
  const endsSeconds = Math.floor((view.nowMs + subscriptionTokenAgeMs) / 1_000);
  return view.use(SubscriptionTokens).mint({ userUuid: view.self.id, credentialsVersion, endsSeconds });
}

/** A change of credentials ends every token, and a ban lets none be used while it lasts. */
function stands(view: Now, claims: Omit<SubscriptionClaims, 'userUuid'>): boolean {
  const { state, credentialsVersion } = view.get(profileSlice);
  const isCurrent = state === 'active' && credentialsVersion === claims.credentialsVersion;
  return isCurrent && !isBanned(view) && view.nowMs < claims.endsSeconds * 1_000;
}
