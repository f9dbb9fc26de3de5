/**
 * All settings of the server, each as the module that needs it declares it, and the types of the configuration that
 * `config.ts` makes of them.
 */
import { assistantSecrets, assistantSettings } from '../../actors/assistant/settings.ts';
import { itemSettings } from '../../actors/collection/settings.ts';
import { fileSettings } from '../../actors/files/settings.ts';
import { mailSecrets, mailSettings } from '../../actors/mailer/settings.ts';
import { messengerSecrets, messengerSettings } from '../../actors/messengers/settings.ts';
import { pairingSecrets, pairingSettings } from '../../actors/pairing/settings.ts';
import {
  accountSettings,
  captchaSettings,
  type WebAuthnSettings,
  webAuthnSettings,
} from '../../actors/settings.ts';
import { vaultSettings } from '../../actors/vault/settings.ts';
import {
  accessKeySecrets,
  accessKeySettings,
  type CookieOptions,
  codeHostSettings,
  cookieSettings,
  type GatewaySettings,
  gatewaySettings,
} from '../../gateway/settings.ts';
import type { SettingsOf } from '../../runtime/setting.ts';
import { backupSecrets, backupSettings } from '../backup/settings.ts';
import { databaseSettings } from '../database-settings.ts';
import {
  clusterSettings,
  dataSecrets,
  dataSettings,
  fileStoreSecrets,
  fileStoreSettings,
  internalApiSettings,
  natsSecrets,
  natsSettings,
  serverSettings,
} from '../settings.ts';
import { tracingSecrets, tracingSettings } from '../tracing/settings.ts';

/** As they appear in a `Config`, in the order of the reference for operators. */
export const settings = {
  ...serverSettings,
  ...dataSettings,
  database: databaseSettings,
  accounts: accountSettings,
  webAuthn: webAuthnSettings,
  ...captchaSettings,
  cookies: cookieSettings,
  accessKey: accessKeySettings,
  gateway: gatewaySettings,
  items: itemSettings,
  files: fileSettings,
  mail: mailSettings,
  vaults: vaultSettings,
  messengers: messengerSettings,
  assistant: assistantSettings,
  pairing: pairingSettings,
  ...codeHostSettings,
  fileStore: fileStoreSettings,
  ...clusterSettings,
  nats: natsSettings,
  internalApi: internalApiSettings,
  backup: backupSettings,
  tracing: tracingSettings,
};

export const secretSettings = {
  ...dataSecrets,
  ...accessKeySecrets,
  ...mailSecrets,
  ...messengerSecrets,
  ...assistantSecrets,
  ...pairingSecrets,
  ...fileStoreSecrets,
  ...natsSecrets,
  ...backupSecrets,
  ...tracingSecrets,
};

export interface Settings extends SettingsOf<typeof settings> {}

export interface Config extends Omit<Settings, 'webAuthn' | 'cookies' | 'gateway' | 'nats'> {
  readonly webAuthn: WebAuthnSettings;
  readonly cookies: CookieOptions;
  readonly gateway: GatewaySettings;
  /** Absent: this process is the whole server. */
  readonly nats: Settings['nats'] | undefined;
}

/** Apart from the Config, so that neither a log nor a dump of it can show them. */
export interface Secrets extends SettingsOf<typeof secretSettings> {}
