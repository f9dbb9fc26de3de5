/**
 * The configuration: environment -> settings, as every module declares its own -> one frozen Config, and the secrets
 * apart. No other module reads the environment. This file decides how settings depend on each other.
 */
import { readFileSync } from 'node:fs';
import { BlockList, isIP } from 'node:net';
import { join } from 'node:path';
import { assistantProblems, assistantWarnings } from '../../actors/assistant/policy.ts';
import { assistantSecrets, assistantSettings } from '../../actors/assistant/settings.ts';
import { itemSettings } from '../../actors/collection/settings.ts';
import { fileSettings } from '../../actors/files/settings.ts';
import { implicitTlsPort, mailSecrets, mailSettings } from '../../actors/mailer/settings.ts';
import { messengerSecrets, messengerSettings } from '../../actors/messengers/settings.ts';
import {
  pairingOf,
  pairingSecrets,
  pairingSettings,
  pairingWarnings,
} from '../../actors/pairing/settings.ts';
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
import type { Declarations, SettingsOf } from '../../runtime/setting.ts';
import { type BackupSettings, backupSecrets, backupSettings } from '../backup/settings.ts';
import { databaseContradictionsOf, databaseSettings } from '../database-settings.ts';
import {
  clusterSettings,
  dataSecrets,
  dataSettings,
  type FileStoreSettings,
  fileStoreSecrets,
  fileStoreSettings,
  type InternalApiSettings,
  internalApiSettings,
  internalApiSocket,
  internalApiTokenFile,
  natsSecrets,
  natsSettings,
  serverSettings,
} from '../settings.ts';
import { tracingSecrets, tracingSettings } from '../tracing/settings.ts';
import { nearNames } from './near-names.ts';
import { type Environment, read, type Sources, variablesOf } from './read.ts';

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

const everything = { settings, secrets: secretSettings };

interface Settings extends SettingsOf<typeof settings> {}

export interface Config extends Omit<Settings, 'webAuthn' | 'cookies' | 'gateway' | 'nats'> {
  readonly webAuthn: WebAuthnSettings;
  readonly cookies: CookieOptions;
  readonly gateway: GatewaySettings;
  /** Absent: this process is the whole server. */
  readonly nats: Settings['nats'] | undefined;
}

/** Apart from the Config, so that neither a log nor a dump of it can show them. */
export interface Secrets extends SettingsOf<typeof secretSettings> {}

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
  const warnings = nearNames(Object.keys(environment), variablesOf(everything)).map(
    ({ given, meant }) => `The variable ${given} is not a setting. Did you mean ${meant}?`,
  );
  const { values, problems } = read({ environment, readFile }, everything);
  if (values === undefined) throw new ConfigError(problems, warnings);
  const { secrets } = values;
  const config = configOf(values.settings, secrets);
  const contradictions = [
    ...contradictionsOf(config, secrets),
    ...mailContradictionsOf(config),
    ...databaseContradictionsOf(config.database, secrets.databaseUrl === undefined),
    ...fileStoreContradictionsOf(config, secrets),
    ...assistantProblems(config.assistant, secrets, pairingOf(config, secrets)?.baseUrl),
    ...clusterContradictionsOf(config, values.settings.nats, secrets),
    ...backupContradictionsOf(config, secrets),
  ];
  if (contradictions.length > 0) throw new ConfigError(contradictions, warnings);
  return freezeDeeply({
    config,
    secrets,
    warnings: [
      ...warnings,
      ...publicWarningsOf(config, secrets),
      ...filesWarningsOf(config),
      ...mailWarningsOf(config),
      ...messengerWarningsOf(config, secrets),
      ...calendarWarningsOf(config),
      ...assistantWarnings(config.assistant, secrets),
      ...pairingWarnings(config, secrets),
    ],
  });
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
function webAuthnOf(given: Settings['webAuthn'], publicUrl: string | undefined): WebAuthnSettings {
  const relyingPartyId =
    given.relyingPartyId ?? (publicUrl === undefined ? 'localhost' : new URL(publicUrl).hostname);
  const origins =
    publicUrl === undefined
      ? [`https://${relyingPartyId}`, `http://${relyingPartyId}`]
      : [new URL(publicUrl).origin];
  return { ...given, relyingPartyId, expectedOrigins: given.expectedOrigins ?? origins };
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
 * Over plain http a browser drops Secure cookies, and SameSite=None cookies that are not Secure: a home server with its own app
 * works with Lax. Behind https, apps of other sites should work too. So should they on loopback, where browsers take
 * Secure cookies over plain http, and where `localhost` and `127.0.0.1` are two sites.
 */
function cookiesOf(given: Settings['cookies'], host: string, publicUrl: string | undefined): CookieOptions {
  const isTrusted =
    publicUrl === undefined ? isLoopback(host) : publicUrl.startsWith('https://') || isLoopbackUrl(publicUrl);
  const secure = given.secure ?? isTrusted;
  return {
    ...given,
    secure,
    sameSite: given.sameSite ?? (secure && isTrusted ? 'None' : 'Lax'),
    partitioned: given.partitioned ?? (secure && isTrusted),
  };
}

const isLoopbackUrl = (url: string): boolean => isLoopback(new URL(url).hostname.replace(/^\[|\]$/g, ''));

/** Whether anyone can register although no setting says that this is intended. */
function isOpen({ accounts, accessKey }: Config, secrets: Secrets): boolean {
  const hasKey = secrets.accessKey !== undefined && accessKey.mode !== 'off';
  return !accounts.registrationDisabled && !accounts.openRegistration && !hasKey;
}

/** A server behind a proxy listens on loopback and is as open as its address. */
function publicWarningsOf(config: Config, secrets: Secrets): string[] {
  const { publicUrl, role } = config;
  if (publicUrl === undefined || role === 'host' || !isOpen(config, secrets)) return [];
  if (isLoopbackUrl(publicUrl)) return [];
  return [
    'Whoever reaches PUBLIC_URL can register. DISABLE_USER_REGISTRATION=true or SHARED_SERVER_ACCESS_KEY closes that; ALLOW_OPEN_REGISTRATION=true says that it is meant.',
  ];
}

/** Clients on other machines would look for files on their own machine. */
function filesWarningsOf({ host, role, publicUrl, gateway: { filesServerUrl } }: Config): string[] {
  if (role === 'host' || publicUrl !== undefined) return [];
  if (isLoopback(host) || !isLoopbackUrl(filesServerUrl)) return [];
  return [
    `Clients look for files at ${filesServerUrl}, which other machines cannot reach. Set PUBLIC_URL to the address under which clients reach the server.`,
  ];
}

function mailContradictionsOf({ mail }: Config): string[] {
  const { host = '', port, user, isInsecureAllowed, isInsecurePasswordAllowed } = mail;
  if (!isInsecureAllowed) return [];
  if (mail.isImplicitTls ?? port === implicitTlsPort)
    return ['SMTP_ALLOW_INSECURE contradicts SMTP_SECURE, which is on by default for port 465.'];
  if (user === undefined || isInsecurePasswordAllowed || isLoopback(host)) return [];
  return [
    'SMTP_ALLOW_INSECURE would send the password of SMTP_USER in plain text: leave SMTP_USER out, or set SMTP_ALLOW_INSECURE_PASSWORD=true if nobody else sees that network.',
  ];
}

function mailWarningsOf({ mail: { host, from } }: Config): string[] {
  if ((host === undefined) === (from === undefined)) return [];
  return ['SMTP_HOST and SMTP_FROM do nothing without each other: no mail is sent.'];
}

function calendarWarningsOf({ gateway: { calendar } }: Config): string[] {
  if (calendar.dataPath === '') return [];
  return ['CALDAV_DATA_PATH has no effect: published calendars are in the database.'];
}

function messengerWarningsOf({ messengers }: Config, secrets: Secrets): string[] {
  const { whatsappPhoneId, twilioAccountSid, twilioWhatsappFrom } = messengers;
  const parts = [
    { WHATSAPP_TOKEN: secrets.whatsappToken, WHATSAPP_PHONE_ID: whatsappPhoneId },
    {
      TWILIO_ACCOUNT_SID: twilioAccountSid,
      TWILIO_AUTH_TOKEN: secrets.twilioAuthToken,
      TWILIO_WHATSAPP_FROM: twilioWhatsappFrom,
    },
  ];
  return parts.flatMap((of) => {
    const absent = Object.entries(of).filter(([, value]) => value === undefined);
    if (absent.length === 0 || absent.length === Object.keys(of).length) return [];
    const names = absent.map(([name]) => name).join(' and ');
    return [`Without ${names} nothing is sent by this provider of WhatsApp.`];
  });
}

function contradictionsOf(config: Config, secrets: Secrets): string[] {
  const { host, role, accounts, cookies, migrateAtStart } = config;
  const problems: string[] = [];
  if (accounts.endToEndTesting && !isLoopback(host)) {
    problems.push(
      'E2E_TESTING weakens the server and is only allowed on a loopback address, which HOST is not.',
    );
  }
  if (role !== 'host' && !isLoopback(host) && isOpen(config, secrets)) {
    problems.push(
      'HOST is not a loopback address, so anyone who reaches it could register: set DISABLE_USER_REGISTRATION=true or SHARED_SERVER_ACCESS_KEY, or ALLOW_OPEN_REGISTRATION=true if you intend that.',
    );
  }
  if (cookies.sameSite === 'None' && !cookies.secure) {
    problems.push('COOKIE_SAME_SITE=None needs COOKIE_SECURE=true: browsers drop such cookies otherwise.');
  }
  if (cookies.partitioned && !cookies.secure) {
    problems.push('COOKIE_PARTITIONED=true needs COOKIE_SECURE=true: browsers drop such cookies otherwise.');
  }
  const { smtpPassword, smtpPass } = secrets;
  if (smtpPassword !== undefined && smtpPass !== undefined && smtpPassword !== smtpPass) {
    problems.push('SMTP_PASSWORD and SMTP_PASS are the same setting and differ: set one of them.');
  }
  if (!migrateAtStart && secrets.databaseUrl === undefined) {
    problems.push(
      'MIGRATE_AT_START=false needs DATABASE_URL: only the server itself can reach its embedded database.',
    );
  }
  return problems;
}

function fileStoreContradictionsOf({ fileStore, nats }: Config, secrets: Secrets): string[] {
  return fileStore.kind === 's3'
    ? s3ContradictionsOf(fileStore.s3, secrets.s3SecretAccessKey)
    : folderContradictionsOf(fileStore, nats !== undefined);
}

function folderContradictionsOf(
  { folder, isFolderShared }: FileStoreSettings,
  isClustered: boolean,
): string[] {
  if (isFolderShared && folder === undefined) {
    return ['FILES_FOLDER_SHARED=true needs FILES_FOLDER: a data directory is of one process.'];
  }
  if (isClustered && !isFolderShared) {
    return [
      'NATS_URL needs files where all processes of the cluster reach them: set FILES_STORE=s3, or FILES_FOLDER to a folder that they share and FILES_FOLDER_SHARED=true.',
    ];
  }
  return [];
}

function s3ContradictionsOf(s3: FileStoreSettings['s3'], secretAccessKey: string | undefined): string[] {
  const problems: string[] = [];
  const { endpoint, bucket, accessKeyId, isInsecureAllowed } = s3;
  if (bucket === undefined) problems.push('FILES_STORE=s3 needs FILES_S3_BUCKET.');
  if (accessKeyId === undefined || secretAccessKey === undefined) {
    problems.push('FILES_STORE=s3 needs FILES_S3_ACCESS_KEY_ID and FILES_S3_SECRET_ACCESS_KEY.');
  }
  if (endpoint !== undefined && !isInsecureAllowed && isPlainHttp(endpoint)) {
    problems.push(
      'FILES_S3_ENDPOINT is not on loopback and without TLS: use https://, or FILES_S3_ALLOW_INSECURE=true if nobody else is on that network.',
    );
  }
  return problems;
}

function backupContradictionsOf({ backup, nats }: Config, secrets: Secrets): string[] {
  const problems: string[] = [];
  if (backup.schedule !== undefined && backup.target === undefined) {
    problems.push('BACKUP_SCHEDULE needs BACKUP_TARGET: a folder, or s3://bucket/prefix.');
  }
  if (backup.schedule !== undefined && nats !== undefined) {
    problems.push(
      'BACKUP_SCHEDULE is for a single process: in a cluster, let one cron job run `scriptorium backup`.',
    );
  }
  const hasKey = backup.s3.accessKeyId !== undefined && secrets.backupS3SecretAccessKey !== undefined;
  if (backup.target?.startsWith('s3://') && !hasKey) {
    problems.push('BACKUP_TARGET=s3://… needs BACKUP_S3_ACCESS_KEY_ID and BACKUP_S3_SECRET_ACCESS_KEY.');
  }
  return problems;
}

function clusterContradictionsOf(config: Config, nats: Settings['nats'], secrets: Secrets): string[] {
  const problems: string[] = [];
  const { role, nodeId, internalApi } = config;
  const isClustered = config.nats !== undefined;
  if (role !== 'all' && !isClustered) {
    problems.push(`ROLE=${role} needs NATS_URL: without it, other processes cannot be reached.`);
  }
  if (isClustered && secrets.databaseUrl === undefined) {
    problems.push('NATS_URL needs DATABASE_URL: the processes of a cluster share one database.');
  }
  if (isClustered && secrets.secretKey === undefined) {
    problems.push('NATS_URL needs SECRET_KEY or SECRET_KEY_FILE, the same for all processes of the cluster.');
  }
  if (isClustered && nodeId === dataSettings.nodeId.default) {
    problems.push('NATS_URL needs NODE_ID, a different one for each process of the cluster.');
  }
  for (const [names, { certFile, keyFile }] of [
    ['GRPC_CERT_FILE and GRPC_KEY_FILE', internalApi],
    ['NATS_CERT_FILE and NATS_KEY_FILE', nats],
  ] as const) {
    if ((certFile === undefined) !== (keyFile === undefined)) problems.push(`${names} must be set together.`);
  }
  const isNatsSecure = nats.caFile !== undefined || nats.certFile !== undefined || nats.isInsecureAllowed;
  if (!isNatsSecure && secrets.natsUrls?.some(isPlainNats)) {
    problems.push(
      'NATS_URL has an address that is not on loopback and without TLS: use tls:// (with NATS_CA_FILE for an authority of your own), or NATS_ALLOW_INSECURE=true if nobody else sees that network.',
    );
  }
  if (internalApi.clientCaFile !== undefined && internalApi.certFile === undefined) {
    problems.push('GRPC_CLIENT_CA_FILE needs GRPC_CERT_FILE and GRPC_KEY_FILE.');
  }
  const isGuarded = internalApi.clientCaFile !== undefined || internalApi.isInsecureAllowed;
  if (!isLoopback(internalApi.host) && !isGuarded) {
    problems.push(
      'GRPC_HOST is not a loopback address: set GRPC_CLIENT_CA_FILE, GRPC_CERT_FILE and GRPC_KEY_FILE (mutual TLS), or GRPC_ALLOW_INSECURE=true if nobody else can reach it.',
    );
  }
  return problems;
}

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

function isLoopback(host: string): boolean {
  const version = isIP(host);
  if (version === 0) return host === 'localhost';
  return loopback.check(host, version === 6 ? 'ipv6' : 'ipv4');
}

/** An invalid address is refused at the connection, without showing it. */
function isPlainNats(url: string): boolean {
  if (!url.startsWith('nats://') || !URL.canParse(url)) return false;
  return !isLoopback(new URL(url).hostname.replace(/^\[|\]$/g, ''));
}

function isPlainHttp(address: string): boolean {
  const { protocol, hostname } = new URL(address);
  return protocol === 'http:' && !isLoopback(hostname.replace(/^\[|\]$/g, ''));
}

/** The host part of an address; for every interface it is localhost. */
export function urlHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost';
  return isIP(host) === 6 ? `[${host}]` : host;
}

function freezeDeeply<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const inner of Object.values(value)) freezeDeeply(inner);
  return Object.freeze(value);
}
