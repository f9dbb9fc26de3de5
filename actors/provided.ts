/**
 * The dependencies that a process provides to its kinds: one list of names, each with its dependency. Starting a host takes all of
 * them (`Tools`), so a missing one is a type error, in tests as in the server.
 */

import { type Dependency, type Provided, provide } from '../runtime/dependency.ts';
import { AssistantPolicy } from './assistant/policy.ts';
import { ItemSettings } from './collection/settings.ts';
import { FileSettings } from './files/settings.ts';
import { FileStore } from './files/store.ts';
import { BridgeTokens } from './identity/bridge-tokens.ts';
import { CalendarTokenHasher, CalendarTokens, ProvenTokens } from './identity/calendar-tokens.ts';
import { CaptchaVerifier } from './identity/captcha.ts';
import { ImportedPasswords } from './identity/imported-password.ts';
import { PasswordHasher } from './identity/password-hasher.ts';
import { SessionTokens } from './identity/session-tokens.ts';
import { ShareIds } from './identity/share-ids.ts';
import { SigninKeys } from './identity/signin-keys.ts';
import { SubscriptionTokens } from './identity/subscription-tokens.ts';
import { UserSecrets } from './identity/user-secrets.ts';
import { ValetTokens } from './identity/valet-tokens.ts';
import { MailDiskSpace } from './mailer/capacity.ts';
import { MailSender } from './mailer/sender.ts';
import { MailSettings } from './mailer/settings.ts';
import { Messengers } from './messengers/messengers.ts';
import { PairingTools } from './pairing/tools.ts';
import { RefreshWaits } from './pairing/waiting.ts';
import { AccountSettings, WebAuthnSettings } from './settings.ts';
import { VaultSettings } from './vault/settings.ts';

const dependencies = {
  accounts: AccountSettings,
  items: ItemSettings,
  vaults: VaultSettings,
  files: FileSettings,
  mail: MailSettings,
  webAuthn: WebAuthnSettings,

  // Made by `createKeyedTools` (actors/identity/keyed-tools.ts).
  sessionTokens: SessionTokens,
  signinKeys: SigninKeys,
  userSecrets: UserSecrets,
  bridgeTokens: BridgeTokens,
  calendarTokens: CalendarTokens,
  subscriptionTokens: SubscriptionTokens,
  shareIds: ShareIds,
  valetTokens: ValetTokens,

  passwordHasher: PasswordHasher,
  importedPasswords: ImportedPasswords,
  calendarTokenHasher: CalendarTokenHasher,
  provenTokens: ProvenTokens,
  captcha: CaptchaVerifier,
  fileStore: FileStore,
  mailSender: MailSender,
  mailDiskSpace: MailDiskSpace,
  messengers: Messengers,
  assistant: AssistantPolicy,
  pairing: PairingTools,
  refreshWaits: RefreshWaits,
};

type Dependencies = typeof dependencies;

export type Tools = {
  readonly [Name in keyof Dependencies]: Dependencies[Name] extends Dependency<infer Tool> ? Tool : never;
};

export const providedOf = (tools: Tools): readonly Provided[] =>
  (Object.keys(dependencies) as (keyof Dependencies)[]).map((name) =>
    provide<unknown>(dependencies[name], tools[name]),
  );
