/**
 * Subscription tokens (docs/protocol/account.md, "Subscription tokens"). A signed-in caller gets one; so does anyone who reads
 * the mail of the account's address.
 */
import { type ClockedView, sharedRead, tell } from '../../../runtime/command.ts';
import {
  invalidSubscriptionToken,
  type SubscriptionClaims,
  SubscriptionTokens,
  subscriptionTokenAgeMs,
} from '../../identity/subscription-tokens.ts';
import { mailAddress } from '../../mailer/address.ts';
import { sendMail } from '../mails.ts';
import { callerOf, isBanned, profileSlice } from '../profile.ts';
import { signedInRead } from '../signed-in.ts';
import { Subscription } from './contract.ts';
import { features } from './features.ts';
import { ownSubscription } from './own-subscription.ts';

export const makeSubscriptionToken = signedInRead(Subscription.commands.makeSubscriptionToken, (view) => ({
  token: mintToken(view),
}));

export const offlineSubscription = sharedRead(Subscription.commands.offlineSubscription, (view, claims) => {
  if (!isValid(view, claims)) return { refused: invalidSubscriptionToken };
  const { email } = view.get(profileSlice);
  return { ok: { success: true, subscription: { uuid: nilUuid, email, ...ownSubscription(view) } } };
});

export const offlineFeatures = sharedRead(Subscription.commands.offlineFeatures, (view, claims) => {
  if (!isValid(view, claims)) return { refused: invalidSubscriptionToken };
  const roles = callerOf(view).roles.map(({ name }) => name);
  return { ok: { success: true, features, roles } };
});

/** The caller is not signed in, so the reply does not tell the account's uuid. */
const nilUuid = '00000000-0000-0000-0000-000000000000';

function mintToken(view: ClockedView): string {
  const { credentialsVersion } = view.get(profileSlice);
  const endsSeconds = Math.floor((view.nowMs + subscriptionTokenAgeMs) / 1_000);
  return view.use(SubscriptionTokens).mint({ userUuid: view.self.id, credentialsVersion, endsSeconds });
}

/** A change of credentials ends every token. During a ban none is accepted. */
function isValid(view: ClockedView, claims: Omit<SubscriptionClaims, 'userUuid'>): boolean {
  const { state, credentialsVersion } = view.get(profileSlice);
  const isCurrent = state === 'active' && credentialsVersion === claims.credentialsVersion;
  return isCurrent && !isBanned(view) && view.nowMs < claims.endsSeconds * 1_000;
}

/** Anyone who knows the address may ask for it. Only the owner of the mailbox sees it. */
export const mailSubscriptionToken = tell(
  Subscription.tells.mailSubscriptionToken,
  (turn, { email: emailText }) => {
    const { state, email } = turn.get(profileSlice);
    const isTheirs = state === 'active' && email === emailText;
    if (!isTheirs || isBanned(turn) || mailAddress(email) === undefined) return;
    const text = [
      'This token shows an app the subscription and the features of your account:',
      '',
      `    ${mintToken(turn)}`,
      '',
      'It is valid for three hours, and opens nothing else. If you did not ask for it, there is nothing you need to do.',
    ];
    sendMail(turn, {
      id: `subscription-token:${turn.random.uuid()}`,
      source: 'other',
      recipient: email,
      expiresAtMs: turn.nowMs + subscriptionTokenAgeMs,
      subject: 'Your subscription token',
      text: text.join('\n'),
    });
  },
);
