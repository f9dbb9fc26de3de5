/**
 * The configuration: environment -> settings, as every module declares its own -> one frozen Config, secrets apart. No
 * other module reads the environment. Here stands how settings bear on each other.
 */
import { readFileSync } from 'node:fs';
import { BlockList, isIP } from 'node:net';
import {
  accountSettings,
  captchaSettings,
  itemSettings,
  type WebAuthnSettings,
  webAuthnSettings,
} from './actors/settings.ts';
import { nearNames } from './config/near-names.ts';
import { type Environment, read, type Sources, variablesOf } from './config/read.ts';
import {
  accessKeySecrets,
  accessKeySettings,
  type CookieOptions,
  cookieSettings,
  type GatewaySettings,
  gatewaySettings,
} from './gateway/settings.ts';
import {
  clusterSettings,
  dataSecrets,
  dataSettings,
  type InternalApiSettings,
  internalApiSettings,
  natsSecrets,
  natsSettings,
  serverSettings,
} from './process/settings.ts';
import type { Declarations, SettingsOf } from './runtime/setting.ts';

/** As they stand in a `Config`; in this order, too, the reference for operators has them. */
export const settings = {
  ...serverSettings,
  ...dataSettings,
  accounts: accountSettings,
  webAuthn: webAuthnSettings,
  ...captchaSettings,
  cookies: cookieSettings,
  accessKey: accessKeySettings,
  gateway: gatewaySettings,
  items: itemSettings,
  ...clusterSettings,
  nats: natsSettings,
  internalApi: internalApiSettings,
};

export const secretSettings = { ...dataSecrets, ...accessKeySecrets, ...natsSecrets };

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
  /** Sentences about what looks mistaken and is no error. */
  readonly warnings: readonly string[];
}

/** Every problem of the settings in one message, and what looks mistaken besides. */
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
    ({ given, meant }) => `The variable ${given} is no setting. ${meant} may have been meant.`,
  );
  const { values, problems } = read({ environment, readFile }, everything);
  if (values === undefined) throw new ConfigError(problems, warnings);
  const { secrets } = values;
  const config = configOf(values.settings, secrets);
  const contradictions = [
    ...contradictionsOf(config, secrets),
    ...clusterContradictionsOf(config, values.settings.nats, secrets),
  ];
  if (contradictions.length > 0) throw new ConfigError(contradictions, warnings);
  return freezeDeeply({ config, secrets, warnings });
}

/** Where the operator command line finds the internal API: what is set for the node it runs beside. */
export const internalApiConfiguration = (): InternalApiSettings => internalApiFrom(process.env);

/** Whatever else is set wrong is not the operator's concern. @throws ConfigError */
export const internalApiFrom = (environment: Environment): InternalApiSettings =>
  freezeDeeply(readAlone({ environment, readFile: readText }, internalApiSettings));

/** The database that operators work on by themselves, while no node runs. @throws ConfigError */
export const databaseUrl = (): string | undefined => databaseUrlFrom(process.env);

/** @throws ConfigError */
export function databaseUrlFrom(environment: Environment, readFile = readText): string | undefined {
  const { databaseUrl } = dataSecrets;
  return readAlone({ environment, readFile }, { databaseUrl }).databaseUrl;
}

function readAlone<D extends Declarations>(sources: Sources, declarations: D): SettingsOf<D> {
  const { values, problems } = read(sources, declarations);
  if (values === undefined) throw new ConfigError(problems);
  return values;
}

const readText: Sources['readFile'] = (path) => readFileSync(path, 'utf8');

/** Keys belong to the domain that people see; a server of one's own is reached by its own app. */
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
  const isHttps = publicUrl?.startsWith('https://') ?? false;
  const localUrl = `http://${urlHost(host)}:${port}`;
  return {
    ...values,
    nats: secrets.natsUrls === undefined ? undefined : values.nats,
    webAuthn: webAuthnOf(webAuthn, publicUrl),
    // Over plain http a browser drops what is Secure, and what is SameSite=None without being Secure: a server at
    // home, reached by its own app, works with Lax. Behind https, apps of other sites are meant to work too.
    cookies: {
      ...cookies,
      sameSite: cookies.sameSite ?? (isHttps ? 'None' : 'Lax'),
      secure: cookies.secure ?? isHttps,
      partitioned: cookies.partitioned ?? isHttps,
    },
    gateway: {
      ...gateway,
      filesServerUrl: gateway.filesServerUrl ?? `${publicUrl ?? localUrl}/files`,
      ...(accounts.forceHeaderSessions && { rateLimits: { publicPerMinute: 0, sessionPerMinute: 0 } }),
    },
  };
}

function contradictionsOf({ host, accounts, cookies, migrateAtStart }: Config, secrets: Secrets): string[] {
  const problems: string[] = [];
  if (accounts.forceHeaderSessions && !isLoopback(host)) {
    problems.push(
      'E2E_TESTING weakens the server and is allowed on a loopback address only; HOST is another one.',
    );
  }
  if (cookies.sameSite === 'None' && !cookies.secure) {
    problems.push('COOKIE_SAME_SITE=None needs COOKIE_SECURE=true: browsers drop such cookies otherwise.');
  }
  if (cookies.partitioned && !cookies.secure) {
    problems.push('COOKIE_PARTITIONED=true needs COOKIE_SECURE=true: browsers drop such cookies otherwise.');
  }
  if (!migrateAtStart && secrets.databaseUrl === undefined) {
    problems.push(
      'MIGRATE_AT_START=false needs DATABASE_URL: nobody but the server can reach a database of its own.',
    );
  }
  return problems;
}

function clusterContradictionsOf(config: Config, nats: Settings['nats'], secrets: Secrets): string[] {
  const problems: string[] = [];
  const { role, nodeId, internalApi } = config;
  const isClustered = config.nats !== undefined;
  if (role !== 'all' && !isClustered) {
    problems.push(`ROLE=${role} needs NATS_URL: without it no other process can be reached.`);
  }
  if (isClustered && secrets.databaseUrl === undefined) {
    problems.push('NATS_URL needs DATABASE_URL: the processes of a cluster share one database.');
  }
  if (isClustered && secrets.secretKey === undefined) {
    problems.push('NATS_URL needs SECRET_KEY or SECRET_KEY_FILE, the same for all processes of the cluster.');
  }
  if (isClustered && nodeId === dataSettings.nodeId.default) {
    problems.push('NATS_URL needs NODE_ID, another for each process of the cluster.');
  }
  for (const [names, { certFile, keyFile }] of [
    ['GRPC_CERT_FILE and GRPC_KEY_FILE', internalApi],
    ['NATS_CERT_FILE and NATS_KEY_FILE', nats],
  ] as const) {
    if ((certFile === undefined) !== (keyFile === undefined)) problems.push(`${names} need each other.`);
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

/** A host as it stands in an address; every interface is reached as localhost. */
export function urlHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost';
  return isIP(host) === 6 ? `[${host}]` : host;
}

function freezeDeeply<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const inner of Object.values(value)) freezeDeeply(inner);
  return Object.freeze(value);
}
