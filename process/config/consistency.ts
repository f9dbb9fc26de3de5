/**
 * How settings depend on each other. A contradiction keeps the server from starting. A likely mistake is a warning.
 */
import { assistantProblems, assistantWarnings } from '../../actors/assistant/policy.ts';
import { implicitTlsPort } from '../../actors/mailer/settings.ts';
import { pairingOf, pairingWarnings } from '../../actors/pairing/settings.ts';
import { databaseContradictionsOf } from '../database-settings.ts';
import { dataSettings, type FileStoreSettings } from '../settings.ts';
import { isLoopback, isLoopbackUrl, isPlainHttp, isPlainNats } from './hosts.ts';
import type { Config, Secrets, Settings } from './settings.ts';

/** @param nats the settings of NATS, which `config` has only if there is a cluster */
export const contradictionsOf = (config: Config, nats: Settings['nats'], secrets: Secrets): string[] => [
  ...serverContradictionsOf(config, secrets),
  ...mailContradictionsOf(config),
  ...databaseContradictionsOf(config.database, secrets.databaseUrl === undefined),
  ...fileStoreContradictionsOf(config, secrets),
  ...assistantProblems(config.assistant, secrets, pairingOf(config, secrets)?.baseUrl),
  ...clusterContradictionsOf(config, nats, secrets),
  ...backupContradictionsOf(config, secrets),
];

export const warningsOf = (config: Config, secrets: Secrets): string[] => [
  ...publicWarningsOf(config, secrets),
  ...filesWarningsOf(config),
  ...mailWarningsOf(config),
  ...messengerWarningsOf(config, secrets),
  ...calendarWarningsOf(config),
  ...assistantWarnings(config.assistant, secrets),
  ...pairingWarnings(config, secrets),
];

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
    'Anyone who reaches PUBLIC_URL can register. DISABLE_USER_REGISTRATION=true or SHARED_SERVER_ACCESS_KEY closes that; ALLOW_OPEN_REGISTRATION=true says that it is meant.',
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

function serverContradictionsOf(config: Config, secrets: Secrets): string[] {
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
