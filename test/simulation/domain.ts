/** The real kinds as the simulation runs them: with a hash that costs nothing, and without lock-outs. */
import type { PasswordHasher } from '../../actors/identity/password-hasher.ts';
import { kinds } from '../../actors/kinds.ts';
import { defaultMailSettings, MailSettings } from '../../actors/mailer/settings.ts';
import { createRefreshWaits } from '../../actors/pairing/waiting.ts';
import { providedOf } from '../../actors/provided.ts';
import { AccountSettings, defaultAccountSettings } from '../../actors/settings.ts';
import { type Provided, provide } from '../../runtime/dependency.ts';
import type { Kind } from '../../runtime/kind.ts';
import { fakeTools, keyedTools, testKeyring } from '../kit/provided.ts';
import { counterKind } from './counter.ts';
import { authorKind } from './delivery/author.ts';

export const { sessionTokens: tokens, signinKeys } = keyedTools;
export const syncTicketKey = testKeyring.derive('sync-ticket');

const passwordHasher: PasswordHasher = {
  hash: async (password) => `hash of ${password}`,
  verify: async (hashed, password) => hashed === `hash of ${password}`,
};

export const simulatedKinds: readonly Kind[] = [...kinds, counterKind, authorKind];

const accountSettings = (accessTokenAgeMs: number): AccountSettings => ({
  ...defaultAccountSettings,
  plainAttemptsMax: 10_000,
  captchaAttemptsMax: 10_000,
  unknownOriginAttemptsMax: 10_000,
  accessTokenAgeMs,
});

/** Replaces those if mail is sent. */
export function settingsOfDelivery(accessTokenAgeMs: number): readonly Provided[] {
  const from = { name: 'Notes', address: 'notes@notes.test' };
  return [
    provide(AccountSettings, {
      ...accountSettings(accessTokenAgeMs),
      emailReminders: true,
      reminderDelivery: true,
      reminderMessagesPerDay: 0,
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

export const simulatedRevisions = { pauseMs: 5_000, perItemMax: 100, ageMs: 60_000, bytesMax: 20_000 };

/** The dependencies of the kinds. A turn saves few items, so that many a sync takes several. */
export function simulatedSettings(accessTokenAgeMs: number, pageBytes: number): readonly Provided[] {
  return providedOf(
    fakeTools({
      accounts: accountSettings(accessTokenAgeMs),
      items: {
        generation: 'simulated',
        contentLimitBytes: 1_000_000,
        transferLimitBytes: pageBytes,
        quota: { items: 0, bytes: 0 },
        storedBytesMax: Number.MAX_SAFE_INTEGER,
        turnLimits: { items: 3, bytes: 1_000_000 },
        revisions: simulatedRevisions,
      },
      passwordHasher,
      refreshWaits: createRefreshWaits({ schedule: () => () => {} }),
    }),
  );
}
