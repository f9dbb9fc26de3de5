/** The server's dependencies for its kinds, in their test form: nothing costs time, and nothing outside is called. */
import { noAssistant } from '../../actors/assistant/policy.ts';
import { defaultItemSettings } from '../../actors/collection/settings.ts';
import { defaultFileSettings } from '../../actors/files/settings.ts';
import { createProvenTokens } from '../../actors/identity/calendar-tokens.ts';
import { noCaptcha } from '../../actors/identity/captcha.ts';
import { createImportedPasswords } from '../../actors/identity/imported-password.ts';
import { createKeyedTools } from '../../actors/identity/keyed-tools.ts';
import { unknownDiskSpace } from '../../actors/mailer/capacity.ts';
import { defaultMailSettings } from '../../actors/mailer/settings.ts';
import { noPairing } from '../../actors/pairing/tools.ts';
import { createRefreshWaits } from '../../actors/pairing/waiting.ts';
import type { Tools } from '../../actors/provided.ts';
import { defaultAccountSettings } from '../../actors/settings.ts';
import { defaultVaultSettings } from '../../actors/vault/settings.ts';
import { systemClock } from '../../runtime/clock.ts';
import { createKeyring } from '../../runtime/keyring.ts';
import { systemRandom } from '../../runtime/random.ts';
import { Chats } from './chats.ts';
import { createMemoryFileStore } from './file-store.ts';
import { CountingHasher, quickTokenHasher } from './hasher.ts';
import { Postbox } from './postbox.ts';

export const testKeyring = createKeyring(Buffer.alloc(32, 7));
export const keyedTools = createKeyedTools(testKeyring, systemRandom);

export const fakeTools = (tools: Partial<Tools> = {}): Tools => ({
  ...keyedTools,
  accounts: defaultAccountSettings,
  items: defaultItemSettings,
  vaults: defaultVaultSettings,
  files: defaultFileSettings,
  mail: defaultMailSettings,
  webAuthn: {
    relyingPartyId: 'notes.test',
    relyingPartyName: 'Notes',
    expectedOrigins: ['https://notes.test'],
    requireUserVerification: false,
  },
  passwordHasher: new CountingHasher(),
  importedPasswords: createImportedPasswords(),
  calendarTokenHasher: quickTokenHasher,
  provenTokens: createProvenTokens(),
  captcha: noCaptcha,
  fileStore: createMemoryFileStore(),
  mailSender: new Postbox(),
  mailDiskSpace: unknownDiskSpace,
  messengers: new Chats([]),
  assistant: noAssistant,
  pairing: noPairing,
  refreshWaits: createRefreshWaits(systemClock),
  ...tools,
});
