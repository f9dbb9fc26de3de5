/**
 * The configuration: environment names -> schema (`config/settings.ts`) -> one frozen Config, secrets apart. No
 * other module reads the environment. Durations are milliseconds and sizes bytes from here on, whatever unit a
 * variable has.
 */
import { BlockList, isIP } from 'node:net';
import {
  type AccountSettings,
  defaultAccountSettings,
  defaultItemSettings,
  type ItemSettings,
} from './actors/settings.ts';
import { nearNames } from './config/near-names.ts';
import { internalApiSettings } from './config/settings/cluster.ts';
import { settings } from './config/settings.ts';
import { type Environment, readValues, type Values } from './config/values.ts';
import type { AccessKeyExemption } from './gateway/admission/access-key.ts';
import type { CookieOptions } from './gateway/http/cookies.ts';
import { defaultGatewayConfig, type GatewayConfig } from './gateway/server.ts';

export interface Config {
  readonly host: string;
  /** 0: a free one. */
  readonly port: number;
  readonly adminHost: string;
  readonly adminPort: number;
  /** Absent: the address that is listened on. */
  readonly publicUrl: string | undefined;
  readonly logLevel: string;
  /** Requests in flight, and then commits, may each take as long to finish at the end. */
  readonly drainTimeoutMs: number;
  readonly dataDirectory: string;
  readonly migrateAtStart: boolean;
  readonly secretKeyFile: string | undefined;
  readonly nodeId: string;
  readonly shardCount: number;
  readonly leaseMs: number;
  readonly role: Role;
  readonly clusterName: string;
  /** Absent: this process is the whole server. */
  readonly nats: NatsSettings | undefined;
  readonly internalApi: InternalApiSettings;
  readonly captchaServerUrl: string | undefined;
  readonly captchaUiUrl: string | undefined;
  readonly accounts: AccountSettings;
  /** The generation of sync tokens is the database's and not configured. */
  readonly items: Omit<ItemSettings, 'generation'>;
  readonly cookies: CookieOptions;
  /** Without the access key, which is a secret. */
  readonly gateway: Omit<GatewayConfig, 'accessKey'>;
  readonly accessKeyMode: 'all' | 'registration' | 'off';
  readonly accessKeyExempt: readonly AccessKeyExemption[];
}

export type Role = 'all' | 'gateway' | 'host';

/** Without the addresses, which may hold passwords. */
export interface NatsSettings {
  readonly credentialsFile: string | undefined;
  readonly caFile: string | undefined;
  readonly certFile: string | undefined;
  readonly keyFile: string | undefined;
  readonly replicas: number;
}

export interface InternalApiSettings {
  readonly host: string;
  /** 0: a free one. */
  readonly port: number;
  readonly certFile: string | undefined;
  readonly keyFile: string | undefined;
  readonly clientCaFile: string | undefined;
}

/** Apart from the Config, so that neither a log nor a dump of it can show them. */
export interface Secrets {
  /** 64 hexadecimal characters. */
  readonly secretKey: string | undefined;
  readonly databaseUrl: string | undefined;
  readonly accessKey: string | undefined;
  readonly natsUrls: readonly string[] | undefined;
}

export interface Configuration {
  readonly config: Config;
  readonly secrets: Secrets;
  /** Sentences about what looks mistaken and is no error. */
  readonly warnings: readonly string[];
}

/** Every problem of the settings in one message. */
export class ConfigError extends Error {
  readonly problems: readonly string[];
  constructor(problems: readonly string[]) {
    super(`The settings are wrong:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`);
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

/** The configuration of this process. @throws ConfigError */
export const configuration = (): Configuration => configurationFrom(process.env);

/** @throws ConfigError */
export function configurationFrom(environment: Environment): Configuration {
  const { values, problems } = readValues(environment, settings);
  if (values === undefined) throw new ConfigError(problems);
  const config = configOf(values);
  const contradictions = [...contradictionsOf(values, config), ...clusterContradictionsOf(values)];
  if (contradictions.length > 0) throw new ConfigError(contradictions);
  const secrets = {
    secretKey: values.SECRET_KEY,
    databaseUrl: values.DATABASE_URL,
    accessKey: values.SHARED_SERVER_ACCESS_KEY,
    natsUrls: values.NATS_URL,
  };
  const warnings = nearNames(Object.keys(environment), Object.keys(settings)).map(
    ({ given, meant }) => `The variable ${given} is no setting. ${meant} may have been meant.`,
  );
  return freezeDeeply({ config, secrets, warnings });
}

/** Where the operator command line finds the internal API: what is set for the node it runs beside. */
export const internalApiConfiguration = (): InternalApiSettings => internalApiFrom(process.env);

/** Whatever else is set wrong is not the operator's concern. @throws ConfigError */
export function internalApiFrom(environment: Environment): InternalApiSettings {
  const { values, problems } = readValues(environment, internalApiSettings);
  if (values === undefined) throw new ConfigError(problems);
  return freezeDeeply(internalApiOf(values));
}

/** The database that operators work on by themselves, while no node runs. @throws ConfigError */
export const databaseUrl = (): string | undefined => databaseUrlFrom(process.env);

/** @throws ConfigError */
export function databaseUrlFrom(environment: Environment): string | undefined {
  const { values, problems } = readValues(environment, { DATABASE_URL: settings.DATABASE_URL });
  if (values === undefined) throw new ConfigError(problems);
  return values.DATABASE_URL;
}

function configOf(values: Values): Config {
  const publicUrl = values.PUBLIC_URL;
  const secure = publicUrl?.startsWith('https://') ?? false;
  const localUrl = `http://${urlHost(values.HOST)}:${values.PORT}`;
  return {
    host: values.HOST,
    port: values.PORT,
    adminHost: values.ADMIN_HOST,
    adminPort: values.ADMIN_PORT,
    publicUrl,
    logLevel: values.LOG_LEVEL,
    drainTimeoutMs: values.DRAIN_TIMEOUT_MS,
    dataDirectory: values.DATA_DIR,
    migrateAtStart: values.MIGRATE_AT_START,
    secretKeyFile: values.SECRET_KEY_FILE,
    nodeId: values.NODE_ID,
    shardCount: values.SHARD_COUNT,
    leaseMs: values.LEASE_MS,
    role: values.ROLE,
    clusterName: values.CLUSTER_NAME,
    nats: natsOf(values),
    internalApi: internalApiOf(values),
    captchaServerUrl: values.CAPTCHA_SERVER_URL,
    captchaUiUrl: values.CAPTCHA_UI_URL,
    accounts: accountsOf(values),
    items: {
      ...defaultItemSettings,
      contentLimitBytes: values.ITEM_CONTENT_LIMIT,
      transferLimitBytes: values.CONTENT_SIZE_TRANSFER_LIMIT,
    },
    // Over plain http a browser drops what is Secure, and what is SameSite=None without being Secure: a server at
    // home, reached by its own app, works with Lax. Behind https, apps of other sites are meant to work too.
    cookies: {
      sameSite: values.COOKIE_SAME_SITE ?? (secure ? 'None' : 'Lax'),
      secure: values.COOKIE_SECURE ?? secure,
      partitioned: values.COOKIE_PARTITIONED ?? secure,
      domain: values.COOKIE_DOMAIN,
    },
    gateway: gatewayOf(values, values.FILES_SERVER_URL ?? `${publicUrl ?? localUrl}/files`),
    accessKeyMode: values.SHARED_SERVER_ACCESS_KEY_MODE,
    accessKeyExempt: values.SHARED_SERVER_ACCESS_KEY_EXEMPT,
  };
}

function accountsOf(values: Values): AccountSettings {
  const ms = (seconds: number): number => seconds * 1_000;
  return {
    ...defaultAccountSettings,
    accessTokenAgeMs: ms(values.ACCESS_TOKEN_AGE),
    refreshTokenAgeMs: ms(values.REFRESH_TOKEN_AGE),
    sessionFreshnessBufferMs: ms(values.SESSION_FRESHNESS_BUFFER),
    ephemeralSessionAgeMs: ms(values.EPHEMERAL_SESSION_AGE),
    replacedPairGraceMs: ms(values.COOLDOWN_SESSION_TOKENS_TTL),
    plainAttemptsMax: values.MAX_LOGIN_ATTEMPTS,
    plainLockoutMs: ms(values.FAILED_LOGIN_LOCKOUT),
    captchaAttemptsMax: values.MAX_CAPTCHA_LOGIN_ATTEMPTS,
    captchaLockoutMs: ms(values.FAILED_LOGIN_CAPTCHA_LOCKOUT),
    registrationDisabled: values.DISABLE_USER_REGISTRATION,
    workspacesPerEmail: values.WORKSPACES_PER_EMAIL_ENABLED,
    readonlyUsers: emailsOf(values.READONLY_USERS),
    adminEmails: emailsOf(values.ADMIN_EMAILS),
    forceHeaderSessions: values.E2E_TESTING,
  };
}

function natsOf(values: Values): NatsSettings | undefined {
  if (values.NATS_URL === undefined) return undefined;
  return {
    credentialsFile: values.NATS_CREDENTIALS_FILE,
    caFile: values.NATS_CA_FILE,
    certFile: values.NATS_CERT_FILE,
    keyFile: values.NATS_KEY_FILE,
    replicas: values.NATS_REPLICAS,
  };
}

function internalApiOf(
  values: Pick<
    Values,
    'GRPC_HOST' | 'GRPC_PORT' | 'GRPC_CERT_FILE' | 'GRPC_KEY_FILE' | 'GRPC_CLIENT_CA_FILE'
  >,
): InternalApiSettings {
  return {
    host: values.GRPC_HOST,
    port: values.GRPC_PORT,
    certFile: values.GRPC_CERT_FILE,
    keyFile: values.GRPC_KEY_FILE,
    clientCaFile: values.GRPC_CLIENT_CA_FILE,
  };
}

const emailsOf = (list: readonly string[]): ReadonlySet<string> =>
  new Set(list.map((email) => email.toLowerCase()));

function gatewayOf(values: Values, filesServerUrl: string): Config['gateway'] {
  const unlimited = values.E2E_TESTING;
  return {
    ...defaultGatewayConfig,
    filesServerUrl,
    cors: {
      strict: values.CORS_ORIGIN_STRICT_MODE_ENABLED,
      allowedOrigins: values.CORS_ALLOWED_ORIGINS,
    },
    trustProxy: values.TRUST_PROXY,
    rateLimits: {
      publicPerMinute: unlimited ? 0 : values.RATE_LIMIT_PUBLIC,
      sessionPerMinute: unlimited ? 0 : values.RATE_LIMIT_SESSION,
    },
    largeBodyBytes: values.HTTP_REQUEST_PAYLOAD_LIMIT_MEGABYTES * 1_048_576,
    bodyMemoryBytes: values.BODY_MEMORY_BYTES,
    sockets: { ...defaultGatewayConfig.sockets, socketsMax: values.SOCKETS_MAX },
    drainTimeoutMs: values.DRAIN_TIMEOUT_MS,
    sharesPort: values.NATS_URL !== undefined,
  };
}

function contradictionsOf(values: Values, { cookies }: Config): string[] {
  const problems: string[] = [];
  if (values.E2E_TESTING && !isLoopback(values.HOST)) {
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
  if (values.SECRET_KEY !== undefined && values.SECRET_KEY_FILE !== undefined) {
    problems.push('SECRET_KEY and SECRET_KEY_FILE are both set; one of them has to go.');
  }
  if (!values.MIGRATE_AT_START && values.DATABASE_URL === undefined) {
    problems.push(
      'MIGRATE_AT_START=false needs DATABASE_URL: nobody but the server can reach a database of its own.',
    );
  }
  return problems;
}

function clusterContradictionsOf(values: Values): string[] {
  const problems: string[] = [];
  const clustered = values.NATS_URL !== undefined;
  if (values.ROLE !== 'all' && !clustered) {
    problems.push(`ROLE=${values.ROLE} needs NATS_URL: without it no other process can be reached.`);
  }
  if (clustered && values.DATABASE_URL === undefined) {
    problems.push('NATS_URL needs DATABASE_URL: the processes of a cluster share one database.');
  }
  if (clustered && values.SECRET_KEY === undefined && values.SECRET_KEY_FILE === undefined) {
    problems.push('NATS_URL needs SECRET_KEY or SECRET_KEY_FILE, the same for all processes of the cluster.');
  }
  if (clustered && values.NODE_ID === settings.NODE_ID.default) {
    problems.push('NATS_URL needs NODE_ID, another for each process of the cluster.');
  }
  for (const [certificate, key] of [
    ['GRPC_CERT_FILE', 'GRPC_KEY_FILE'],
    ['NATS_CERT_FILE', 'NATS_KEY_FILE'],
  ] as const) {
    if ((values[certificate] === undefined) !== (values[key] === undefined)) {
      problems.push(`${certificate} and ${key} need each other.`);
    }
  }
  if (values.GRPC_CLIENT_CA_FILE !== undefined && values.GRPC_CERT_FILE === undefined) {
    problems.push('GRPC_CLIENT_CA_FILE needs GRPC_CERT_FILE and GRPC_KEY_FILE.');
  }
  const isGuarded = values.GRPC_CLIENT_CA_FILE !== undefined || values.GRPC_ALLOW_INSECURE;
  if (!isLoopback(values.GRPC_HOST) && !isGuarded) {
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
