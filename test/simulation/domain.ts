/** The real kinds as the simulation runs them: a hash that costs nothing, and no lock-outs. */

import { BridgeTokens, createBridgeTokens } from '../../actors/identity/bridge-tokens.ts';
import { CaptchaVerifier, noCaptcha } from '../../actors/identity/captcha.ts';
import { PasswordHasher } from '../../actors/identity/password-hasher.ts';
import { createSessionTokens, SessionTokens } from '../../actors/identity/session-tokens.ts';
import { createShareIds, ShareIds } from '../../actors/identity/share-ids.ts';
import { createSigninKeys, SigninKeys } from '../../actors/identity/signin-keys.ts';
import { createSubscriptionTokens, SubscriptionTokens } from '../../actors/identity/subscription-tokens.ts';
import { createUserSecrets, UserSecrets } from '../../actors/identity/user-secrets.ts';
import { kinds } from '../../actors/kinds.ts';
import { MailSender } from '../../actors/mailer/sender.ts';
import {
  AccountSettings,
  defaultAccountSettings,
  defaultMailSettings,
  ItemSettings,
  MailSettings,
  WebAuthnSettings,
} from '../../actors/settings.ts';
import { type Provided, provide } from '../../runtime/dependency.ts';
import { createKeyring } from '../../runtime/keyring.ts';
import type { Kind } from '../../runtime/kind.ts';
import { Postbox } from '../kit/postbox.ts';
import { counterKind } from './counter.ts';

const keyring = createKeyring(Buffer.alloc(32, 7));
export const tokens = createSessionTokens(keyring.derive('session-token'));
export const signinKeys = createSigninKeys(keyring);
const bridgeTokens = createBridgeTokens(keyring);
const subscriptionTokens = createSubscriptionTokens(keyring);
const userSecrets = createUserSecrets(keyring);

const hasher: PasswordHasher = {
  hash: async (password) => `hash of ${password}`,
  verify: async (hashed, password) => hashed === `hash of ${password}`,
};

export const simulatedKinds: readonly Kind[] = [...kinds, counterKind];

/** What the kinds use. A turn saves few items, so that many a sync takes several. */
export function simulatedSettings(accessTokenAgeMs: number, pageBytes: number): readonly Provided[] {
  const attempts = { plainAttemptsMax: 10_000, captchaAttemptsMax: 10_000, strangerAttemptsMax: 10_000 };
  return [
    provide(AccountSettings, { ...defaultAccountSettings, ...attempts, accessTokenAgeMs }),
    provide(ItemSettings, {
      generation: 'simulated',
      contentLimitBytes: 1_000_000,
      transferLimitBytes: pageBytes,
      quota: { items: 0, bytes: 0 },
      storedBytesMax: Number.MAX_SAFE_INTEGER,
      turnLimits: { items: 3, bytes: 1_000_000 },
      revisions: { pauseMs: 5_000, perItemMax: 100, ageMs: 60_000, bytesMax: 20_000 },
    }),
    provide(SessionTokens, tokens),
    provide(SigninKeys, signinKeys),
    provide(UserSecrets, userSecrets),
    provide(BridgeTokens, bridgeTokens),
    provide(SubscriptionTokens, subscriptionTokens),
    provide(ShareIds, createShareIds(keyring)),
    provide(PasswordHasher, hasher),
    provide(CaptchaVerifier, noCaptcha),
    provide(WebAuthnSettings, {
      relyingPartyId: 'notes.test',
      relyingPartyName: 'Notes',
      expectedOrigins: [],
      requireUserVerification: false,
    }),
    provide(MailSettings, defaultMailSettings),
    provide(MailSender, new Postbox()),
  ];
}
