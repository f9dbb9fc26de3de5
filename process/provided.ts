/**
 * What a process provides to the kinds it runs: one list of names, each with the dependency it answers. Whoever starts a host
 * hands in all of them (`Tools`), so that one that is missing is a type error, in tests as in the server.
 */
import { AssistantPolicy } from '../actors/assistant/policy.ts';
import { ItemSettings } from '../actors/collection/settings.ts';
import { FileSettings } from '../actors/files/settings.ts';
import { FileStore } from '../actors/files/store.ts';
import { BridgeTokens } from '../actors/identity/bridge-tokens.ts';
import { CalendarTokenHasher, CalendarTokens, ProvenTokens } from '../actors/identity/calendar-tokens.ts';
import { CaptchaVerifier } from '../actors/identity/captcha.ts';
import { PasswordHasher } from '../actors/identity/password-hasher.ts';
import { SessionTokens } from '../actors/identity/session-tokens.ts';
import { ShareIds } from '../actors/identity/share-ids.ts';
import { SigninKeys } from '../actors/identity/signin-keys.ts';
import { SubscriptionTokens } from '../actors/identity/subscription-tokens.ts';
import { UserSecrets } from '../actors/identity/user-secrets.ts';
import { ValetTokens } from '../actors/identity/valet-tokens.ts';
import { MailRoom } from '../actors/mailer/room.ts';
import { MailSender } from '../actors/mailer/sender.ts';
import { MailSettings } from '../actors/mailer/settings.ts';
import { Messengers } from '../actors/messengers/messengers.ts';
import { PairingTools } from '../actors/pairing/tools.ts';
import { RefreshWaits } from '../actors/pairing/waiting.ts';
import { AccountSettings, WebAuthnSettings } from '../actors/settings.ts';
import { VaultSettings } from '../actors/vault/settings.ts';
import { type Dependency, type Provided, provide } from '../runtime/dependency.ts';

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
  calendarTokenHasher: CalendarTokenHasher,
  provenTokens: ProvenTokens,
  captcha: CaptchaVerifier,
  fileStore: FileStore,
  mailSender: MailSender,
  mailRoom: MailRoom,
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
