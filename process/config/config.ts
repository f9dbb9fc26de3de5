/**
 * The configuration: environment -> settings, as every module declares its own -> one frozen Config, and the secrets
 * apart. No other module reads the environment.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { WebAuthnSettings } from '../../actors/settings.ts';
import type { CookieOptions } from '../../gateway/settings.ts';
import type { Declarations, SettingsOf } from '../../runtime/setting.ts';
import { type BackupSettings, backupSecrets, backupSettings } from '../backup/settings.ts';
import {
  dataSecrets,
  dataSettings,
  type FileStoreSettings,
  fileStoreSecrets,
  fileStoreSettings,
  type InternalApiSettings,
  internalApiSettings,
  internalApiSocket,
  internalApiTokenFile,
} from '../settings.ts';
import { contradictionsOf, warningsOf } from './consistency.ts';
import { isLoopback, isLoopbackUrl, urlHost } from './hosts.ts';
import { nearNames } from './near-names.ts';
import { type Environment, read, type Sources, variablesOf } from './read.ts';
import { type Config, type Secrets, type Settings, secretSettings, settings } from './settings.ts';

const declared = { settings, secrets: secretSettings };

export interface Configuration {
  readonly config: Config;
  readonly secrets: Secrets;
  /** Sentences about settings that look like a mistake but are no error. */
  readonly warnings: readonly string[];
}

/** Every problem of the settings in one message, with the warnings. */
export class ConfigError extends Error {
  readonly problems: readonly string[];
  constructor(problems: readonly string[], warnings: readonly string[] = []) {
    const list = problems.map((problem) => `  - ${problem}`);
    super(['The settings are wrong:', ...list, ...warnings].join('\n'));
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

/** The configuration of this process. @throws ConfigError */
export const configuration = (): Configuration => configurationFrom(process.env);

/** @throws ConfigError */
export function configurationFrom(environment: Environment, readFile = readText): Configuration {
  const warnings = nearNames(Object.keys(environment), variablesOf(declared)).map(
    ({ variable, meant }) => `The variable ${variable} is not a setting. Did you mean ${meant}?`,
  );
  const { values, problems } = read({ environment, readFile }, declared);
  if (values === undefined) throw new ConfigError(problems, warnings);
  const { secrets } = values;
  const config = configOf(values.settings, secrets);
  const contradictions = contradictionsOf(config, values.settings.nats, secrets);
  if (contradictions.length > 0) throw new ConfigError(contradictions, warnings);
  return freezeDeeply({ config, secrets, warnings: [...warnings, ...warningsOf(config, secrets)] });
}

/** Where the operator command line finds the internal API: the settings of the node on the same machine. */
export interface InternalApiConfiguration extends InternalApiSettings {
  readonly socketPath: string;
  /** Exists while a node has a port without mutual TLS. */
  readonly tokenFile: string;
}

/** Other wrong settings do not matter here. @throws ConfigError */
export const internalApiConfiguration = (): InternalApiConfiguration => {
  const { dataDirectory } = dataSettings;
  const declarations = { dataDirectory, internalApi: internalApiSettings };
  const read = readAlone({ environment: process.env, readFile: readText }, declarations);
  return freezeDeeply({
    ...read.internalApi,
    socketPath: join(read.dataDirectory, internalApiSocket),
    tokenFile: join(read.dataDirectory, internalApiTokenFile),
  });
};

/** The database that operators work on directly, while no node runs. @throws ConfigError */
export const databaseUrl = (): string | undefined => databaseUrlFrom(process.env);

/** @throws ConfigError */
export function databaseUrlFrom(environment: Environment, readFile = readText): string | undefined {
  const { databaseUrl } = dataSecrets;
  return readAlone({ environment, readFile }, { databaseUrl }).databaseUrl;
}

/** What backups and restores need of the settings of a server. */
export interface BackupConfiguration {
  readonly dataDirectory: string;
  readonly databaseUrl: string | undefined;
  readonly secretKey: string | undefined;
  readonly backup: BackupSettings;
  readonly backupS3SecretAccessKey: string | undefined;
  readonly fileStore: FileStoreSettings;
  readonly s3SecretAccessKey: string | undefined;
}

/** Other wrong settings do not matter here. @throws ConfigError */
export const backupConfiguration = (): BackupConfiguration =>
  freezeDeeply(
    readAlone(
      { environment: process.env, readFile: readText },
      {
        dataDirectory: dataSettings.dataDirectory,
        ...dataSecrets,
        backup: backupSettings,
        ...backupSecrets,
        fileStore: fileStoreSettings,
        ...fileStoreSecrets,
      },
    ),
  );

function readAlone<D extends Declarations>(sources: Sources, declarations: D): SettingsOf<D> {
  const { values, problems } = read(sources, declarations);
  if (values === undefined) throw new ConfigError(problems);
  return values;
}

const readText: Sources['readFile'] = (path) => readFileSync(path, 'utf8');

/** Keys belong to the domain that people see; a private server has its own app. */
function webAuthnOf(configured: Settings['webAuthn'], publicUrl: string | undefined): WebAuthnSettings {
  const relyingPartyId =
    configured.relyingPartyId ?? (publicUrl === undefined ? 'localhost' : new URL(publicUrl).hostname);
  const origins =
    publicUrl === undefined
      ? [`https://${relyingPartyId}`, `http://${relyingPartyId}`]
      : [new URL(publicUrl).origin];
  return { ...configured, relyingPartyId, expectedOrigins: configured.expectedOrigins ?? origins };
}

function configOf(values: Settings, secrets: Secrets): Config {
  const { host, port, publicUrl, accounts, webAuthn, cookies, gateway } = values;
  const localUrl = `http://${urlHost(host)}:${port}`;
  return {
    ...values,
    nats: secrets.natsUrls === undefined ? undefined : values.nats,
    webAuthn: webAuthnOf(webAuthn, publicUrl),
    cookies: cookiesOf(cookies, host, publicUrl),
    gateway: {
      ...gateway,
      filesServerUrl: gateway.filesServerUrl ?? publicUrl ?? localUrl,
      ...(accounts.endToEndTesting && { rateLimits: { publicPerMinute: 0, sessionPerMinute: 0 } }),
    },
  };
}

/**
 * Over plain http a browser drops Secure cookies, and SameSite=None cookies that are not Secure. A home server with its own app
 * works with Lax. Behind https, apps of other sites should work too. So should they on loopback, where browsers take Secure
 * cookies over plain http, and where `localhost` and `127.0.0.1` are two sites.
 */
function cookiesOf(
  configured: Settings['cookies'],
  host: string,
  publicUrl: string | undefined,
): CookieOptions {
  const isTrusted =
    publicUrl === undefined ? isLoopback(host) : publicUrl.startsWith('https://') || isLoopbackUrl(publicUrl);
  const secure = configured.secure ?? isTrusted;
  return {
    ...configured,
    secure,
    sameSite: configured.sameSite ?? (secure && isTrusted ? 'None' : 'Lax'),
    partitioned: configured.partitioned ?? (secure && isTrusted),
  };
}

function freezeDeeply<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const inner of Object.values(value)) freezeDeeply(inner);
  return Object.freeze(value);
}
