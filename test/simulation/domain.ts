/** The real kinds as the simulation runs them: a hash that costs nothing, and no lock-outs. */

import { AssistantPolicy, noAssistant } from '../../actors/assistant/policy.ts';
import { ItemSettings } from '../../actors/collection/settings.ts';
import { defaultFileSettings, FileSettings } from '../../actors/files/settings.ts';
import { FileStore } from '../../actors/files/store.ts';
import { BridgeTokens, createBridgeTokens } from '../../actors/identity/bridge-tokens.ts';
import {
  CalendarTokenHasher,
  CalendarTokens,
  createCalendarTokens,
  createProvenTokens,
  ProvenTokens,
} from '../../actors/identity/calendar-tokens.ts';
import { CaptchaVerifier, noCaptcha } from '../../actors/identity/captcha.ts';
import { createImportedPasswords, ImportedPasswords } from '../../actors/identity/imported-password.ts';
import { PasswordHasher } from '../../actors/identity/password-hasher.ts';
import { createSessionTokens, SessionTokens } from '../../actors/identity/session-tokens.ts';
import { createShareIds, ShareIds } from '../../actors/identity/share-ids.ts';
import { createSigninKeys, SigninKeys } from '../../actors/identity/signin-keys.ts';
import { createSubscriptionTokens, SubscriptionTokens } from '../../actors/identity/subscription-tokens.ts';
import { createUserSecrets, UserSecrets } from '../../actors/identity/user-secrets.ts';
import { createValetTokens, ValetTokens } from '../../actors/identity/valet-tokens.ts';
import { kinds } from '../../actors/kinds.ts';
import { MailRoom, unknownRoom } from '../../actors/mailer/room.ts';
import { MailSender } from '../../actors/mailer/sender.ts';
import { defaultMailSettings, MailSettings } from '../../actors/mailer/settings.ts';
import { Messengers } from '../../actors/messengers/messengers.ts';
import { noPairing, PairingTools } from '../../actors/pairing/tools.ts';
import { createRefreshWaits, RefreshWaits } from '../../actors/pairing/waiting.ts';
import { AccountSettings, defaultAccountSettings, WebAuthnSettings } from '../../actors/settings.ts';
import { defaultVaultSettings, VaultSettings } from '../../actors/vault/settings.ts';
import { type Provided, provide } from '../../runtime/dependency.ts';
import { createKeyring } from '../../runtime/keyring.ts';
import type { Kind } from '../../runtime/kind.ts';
import { systemRandom } from '../../runtime/random.ts';
import { Chats } from '../kit/chats.ts';
import { createMemoryFileStore } from '../kit/file-store.ts';
import { quickTokenHasher } from '../kit/hasher.ts';
import { Postbox } from '../kit/postbox.ts';
import { counterKind } from './counter.ts';
import { authorKind } from './delivery/author.ts';

const keyring = createKeyring(Buffer.alloc(32, 7));
export const tokens = createSessionTokens(keyring.derive('session-token'));
export const signinKeys = createSigninKeys(keyring);
export const syncTicketKey = keyring.derive('sync-ticket');
const bridgeTokens = createBridgeTokens(keyring);
const calendarTokens = createCalendarTokens(keyring);
const subscriptionTokens = createSubscriptionTokens(keyring);
const userSecrets = createUserSecrets(keyring);

const hasher: PasswordHasher = {
  hash: async (password) => `hash of ${password}`,
  verify: async (hashed, password) => hashed === `hash of ${password}`,
};

export const simulatedKinds: readonly Kind[] = [...kinds, counterKind, authorKind];

const accountSettings = (accessTokenAgeMs: number): AccountSettings => ({
  ...defaultAccountSettings,
  ...{ plainAttemptsMax: 10_000, captchaAttemptsMax: 10_000, strangerAttemptsMax: 10_000 },
  accessTokenAgeMs,
});

/** Instead of those, where mail is sent. */
export function settingsOfDelivery(accessTokenAgeMs: number): readonly Provided[] {
  const from = { name: 'Notes', address: 'notes@notes.test' };
  return [
    provide(AccountSettings, {
      ...accountSettings(accessTokenAgeMs),
      ...{ emailReminders: true, reminderDelivery: true, reminderMessagesPerDay: 0 },
    }),
    provide(MailSettings, {
      ...defaultMailSettings,
      host: 'localhost',
      from,
      othersPerDay: 0,
      accountPerDay: 0,
      mailboxPerDay: 0,
    }),
  ];
}

/** What the kinds use. A turn saves few items, so that many a sync takes several. */
export function simulatedSettings(accessTokenAgeMs: number, pageBytes: number): readonly Provided[] {
  return [
    provide(AccountSettings, accountSettings(accessTokenAgeMs)),
    provide(ItemSettings, {
      generation: 'simulated',
      contentLimitBytes: 1_000_000,
      transferLimitBytes: pageBytes,
      quota: { items: 0, bytes: 0 },
      storedBytesMax: Number.MAX_SAFE_INTEGER,
      turnLimits: { items: 3, bytes: 1_000_000 },
      revisions: { pauseMs: 5_000, perItemMax: 100, ageMs: 60_000, bytesMax: 20_000 },
    }),
    provide(VaultSettings, defaultVaultSettings),
    provide(SessionTokens, tokens),
    provide(SigninKeys, signinKeys),
    provide(UserSecrets, userSecrets),
    provide(BridgeTokens, bridgeTokens),
    provide(CalendarTokens, calendarTokens),
    provide(CalendarTokenHasher, quickTokenHasher),
    provide(ImportedPasswords, createImportedPasswords()),
    provide(ProvenTokens, createProvenTokens()),
    provide(SubscriptionTokens, subscriptionTokens),
    provide(ShareIds, createShareIds(keyring)),
    provide(ValetTokens, createValetTokens(keyring, systemRandom)),
    provide(FileSettings, defaultFileSettings),
    provide(FileStore, createMemoryFileStore()),
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
    provide(MailRoom, unknownRoom),
    provide(Messengers, new Chats([])),
    provide(AssistantPolicy, noAssistant),
    provide(PairingTools, noPairing),
    provide(RefreshWaits, createRefreshWaits({ schedule: () => () => {} })),
  ];
}
