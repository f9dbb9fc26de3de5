/** Settings of a process in any role: where it listens, its data, its part in a cluster. */
import {
  address,
  choice,
  choices,
  entriesOf,
  flag,
  integer,
  list,
  mebibytes,
  milliseconds,
  port,
  type SettingsOf,
  sameOnAllNodes,
  secret,
  section,
  setting,
  text,
  WrongValue,
  wholeNumber,
} from '../runtime/setting.ts';

export const serverSettings = section('Server', {
  host: text({
    name: 'HOST',
    default: '127.0.0.1',
    description: 'The address to listen on. `0.0.0.0` is every interface.',
  }),
  port: port({
    name: 'PORT',
    default: 3_000,
    description:
      'The port to listen on. 0 takes a free one; clients find files then only with `PUBLIC_URL` or `FILES_SERVER_URL`.',
  }),
  adminHost: text({
    name: 'ADMIN_HOST',
    default: '127.0.0.1',
    description: 'The address of the admin port, which is not meant for the public.',
  }),
  adminPort: port({
    name: 'ADMIN_PORT',
    default: 9_090,
    description:
      'The port of the status page, metrics and probes (`/`, `/metrics`, `/livez`, `/readyz`). 0 takes a free one.',
  }),
  adminNames: list({
    name: 'ADMIN_NAMES',
    default: '',
    description:
      'The host names that the admin port accepts, besides `localhost`, `ADMIN_HOST` and addresses. It refuses others, because a web page can give its own name any address.',
  }),
  readyWithout: choices(['database', 'host', 'transport', 'files'], {
    name: 'READY_WITHOUT',
    default: '',
    description:
      'The checks of readiness that may fail and leave the process ready, as `degraded`. With `transport`, a load balancer goes on with all processes when NATS is away, and each serves the users that it owns. With `files`, notes are served while files cannot be stored.',
  }),
  ...sameOnAllNodes({
    publicUrl: address({
      name: 'PUBLIC_URL',
      defaultText: '`http://` with `HOST` and `PORT`',
      description:
        'The address under which clients reach the server. With `https://`, the defaults of the cookies are those that work across sites.',
    }),
  }),
  logLevel: choice(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], {
    name: 'LOG_LEVEL',
    default: 'info',
    description: 'How much to log. `debug` has a line for every request.',
  }),
  logFailedSignIns: flag({
    name: 'LOG_FAILED_SIGN_INS',
    default: false,
    description:
      'Logs each failed sign-in with the address of the client, for programs that ban by it. A wrong code at the second factor or a recovery is one too. No other line holds the address of a client.',
  }),
  /** At the end, first requests in flight and then commits may each take this long to finish. */
  drainTimeoutMs: milliseconds({
    name: 'DRAIN_TIMEOUT_MS',
    min: 0,
    max: 600_000,
    default: 10_000,
    description: 'How long requests in flight, and then commits, may each take to finish after a SIGTERM.',
  }),
});

export const dataSettings = section('Data', {
  dataDirectory: text({
    name: 'DATA_DIR',
    default: './data',
    description: 'The directory of everything the server keeps. One server at a time.',
  }),
  migrateAtStart: flag({
    name: 'MIGRATE_AT_START',
    default: true,
    description:
      'Brings the schema of the database up to date at the start. Without it a server refuses a database that is behind, until `scriptorium migrate apply` was run. It can be turned off with `DATABASE_URL` only.',
  }),
  nodeId: text({
    name: 'NODE_ID',
    pattern: /^[\w.-]{1,64}$/,
    form: '1 to 64 letters, digits, dots, dashes and underscores',
    default: 'main',
    description:
      'The name of this node, unique for every process of a cluster. A starting process takes over from the previous one of its name once that has ended or its lease is over.',
  }),
  ...sameOnAllNodes({
    expectedHosts: integer({
      name: 'EXPECTED_HOSTS',
      min: 1,
      max: 1_310,
      default: 1,
      description:
        'How many hosts the cluster may grow to. A new database gets at least 50 shards for each of them; one that was used keeps what it has.',
    }),
    shardCount: setting(powerOfTwo, {
      name: 'SHARD_COUNT',
      bounds: 'a power of two, 1 to 65536',
      defaultText: 'what the database has; a new one 1024, or as many as `EXPECTED_HOSTS` needs',
      description:
        'The number of units of ownership, where you want to say it yourself. A database that was used is refused with another one.',
    }),
    leaseMs: milliseconds({
      name: 'LEASE_MS',
      min: 3_000,
      max: 600_000,
      default: 10_000,
      description: 'How long a node may serve without renewing its lease.',
    }),
    clockSkewMaxMs: milliseconds({
      name: 'CLOCK_SKEW_MAX_MS',
      min: 1_000,
      max: 3_600_000,
      default: 30_000,
      description:
        'How far the clock of a machine may be from that of the database. Beyond it the process serves nobody until the clock is right again, as sessions and shares would end at wrong times.',
    }),
  }),
});

export const dataSecrets = secret(
  sameOnAllNodes(
    section('Data', {
      databaseUrl: text({
        name: 'DATABASE_URL',
        pattern: /^postgres(ql)?:\/\/\S+$/,
        form: 'a postgresql:// address',
        defaultText: 'an embedded PostgreSQL in the data directory',
        description:
          'An external PostgreSQL or CockroachDB: `postgresql://user:password@host:port/database`.',
      }),
      secretKey: text({
        name: 'SECRET_KEY',
        pattern: /^[0-9a-fA-F]{64}$/,
        form: '64 hexadecimal characters',
        defaultText: 'generated once into the data directory',
        description:
          'The root secret, 32 random bytes, from which every other key is derived. Keep a copy: a database cannot be used with another one.',
      }),
    }),
  ),
);

export const fileStoreSettings = section('Files', {
  ...sameOnAllNodes({
    kind: choice(['local', 's3'], {
      name: 'FILES_STORE',
      default: 'local',
      description:
        'Where the server keeps the encrypted files of users: in a folder, or in a bucket of S3 or of a compatible server. It does not look in one for files of the other.',
    }),
  }),
  folder: text({
    name: 'FILES_FOLDER',
    defaultText: '`files` in `DATA_DIR`',
    description: 'The folder, of this server alone. It is made if it is absent.',
  }),
  ...sameOnAllNodes({
    isFolderShared: flag({
      name: 'FILES_FOLDER_SHARED',
      default: false,
      description:
        'Says that `FILES_FOLDER` is one folder, on a file system that all processes of the cluster share. A cluster is refused without this or `FILES_STORE=s3`.',
    }),
  }),
  reserveBytes: mebibytes({
    name: 'FILES_FREE_SPACE_RESERVE',
    min: 0,
    max: 1_048_576,
    default: 1_024,
    description:
      'How much of the disk of the folder uploads leave free, for the database and all else that is on it. Uploads that would take it are refused.',
  }),
  s3: sameOnAllNodes({
    endpoint: address({
      name: 'FILES_S3_ENDPOINT',
      defaultText: 'that of AWS for `FILES_S3_REGION`',
      description: 'The address of the server, without the bucket.',
    }),
    region: text({
      name: 'FILES_S3_REGION',
      pattern: /^[a-z0-9-]{1,32}$/,
      form: 'up to 32 small letters, digits and dashes',
      default: 'us-east-1',
      description: 'The region of the bucket.',
    }),
    bucket: text({
      name: 'FILES_S3_BUCKET',
      pattern: /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/,
      form: 'the name of a bucket',
      description:
        'The bucket, of this server alone: what its database does not know is removed from it. Needed with `FILES_STORE=s3`.',
    }),
    accessKeyId: text({
      name: 'FILES_S3_ACCESS_KEY_ID',
      pattern: /^[\x21-\x7e]{1,128}$/,
      form: '1 to 128 characters without spaces',
      description:
        'The key that may get, put, list and delete there. Needed with `FILES_STORE=s3`, and so is its secret.',
    }),
    isPathStyle: flag({
      name: 'FILES_S3_PATH_STYLE',
      defaultText: '`true` with `FILES_S3_ENDPOINT`',
      description: 'Whether addresses have the bucket in their path, and not in their host.',
    }),
    isInsecureAllowed: flag({
      name: 'FILES_S3_ALLOW_INSECURE',
      default: false,
      description:
        'Allows an endpoint beyond loopback without TLS: anyone in between can change files on their way, so that their owners cannot open them.',
    }),
  }),
});
export interface FileStoreSettings extends SettingsOf<typeof fileStoreSettings> {}

export const fileStoreSecrets = secret(
  sameOnAllNodes(
    section('Files', {
      s3SecretAccessKey: text({
        name: 'FILES_S3_SECRET_ACCESS_KEY',
        description: 'The secret of `FILES_S3_ACCESS_KEY_ID`.',
      }),
    }),
  ),
);

export const clusterSettings = section('Cluster', {
  role: choice(['all', 'gateway', 'host'], {
    name: 'ROLE',
    default: 'all',
    description:
      'What this process does in a cluster: `host` runs actors, `gateway` serves clients, `all` does both.',
  }),
  ...sameOnAllNodes({
    clusterName: text({
      name: 'CLUSTER_NAME',
      pattern: /^[A-Za-z0-9_-]{1,32}$/,
      form: '1 to 32 letters, digits, dashes and underscores',
      default: 'scriptorium',
      description:
        'The name of the cluster, fixed once a database has been used. Processes of other names on the same NATS are left alone.',
    }),
  }),
});

export const natsSettings = section('Cluster', {
  credentialsFile: text({
    name: 'NATS_CREDENTIALS_FILE',
    description:
      'A file with NATS credentials: a user JWT with its seed, or a bare nkey seed. Read anew for each connection.',
  }),
  caFile: text({
    name: 'NATS_CA_FILE',
    description: 'The CA certificates (PEM) to verify the NATS servers with.',
  }),
  certFile: text({
    name: 'NATS_CERT_FILE',
    description: 'The certificate (PEM) that this process shows to the NATS servers.',
  }),
  keyFile: text({
    name: 'NATS_KEY_FILE',
    description: 'The private key (PEM) of `NATS_CERT_FILE`.',
  }),
  isInsecureAllowed: flag({
    name: 'NATS_ALLOW_INSECURE',
    default: false,
    description:
      'Allows NATS on other than loopback addresses without TLS: anyone who sees its traffic reads what users send, and the password.',
  }),
  ...sameOnAllNodes({
    replicas: integer({
      name: 'NATS_REPLICAS',
      min: 1,
      max: 5,
      default: 1,
      description:
        'On how many NATS servers the stream of wake-ups is kept. Nothing is lost with it; 3 lets wake-ups go on while one is down.',
    }),
  }),
});

export const natsSecrets = secret(
  sameOnAllNodes(
    section('Cluster', {
      natsUrls: setting(natsAddresses, {
        name: 'NATS_URL',
        bounds: 'a list of nats:// or tls:// addresses',
        defaultText: 'none: this process is the whole server',
        description:
          'The NATS servers through which the processes of one cluster reach each other: all of them, separated by commas, or a DNS name for them. Each is written `nats://user:password@host:port`. Needs `DATABASE_URL` and `SECRET_KEY`.',
      }),
    }),
  ),
);

/** The internal API's files in the data directory: its socket, and the token for its port. */
export const internalApiSocket = 'internal-api.sock';
export const internalApiTokenFile = 'internal-api-token';

export const internalApiSettings = section('Internal API', {
  host: text({
    name: 'GRPC_HOST',
    default: '127.0.0.1',
    description: 'The address of `GRPC_PORT`.',
  }),
  port: port({
    name: 'GRPC_PORT',
    defaultText: 'none: the internal API listens only on a socket in `DATA_DIR`',
    description:
      'A port for the internal gRPC API besides its socket. Without mutual TLS its callers must send the token in the file `internal-api-token` in `DATA_DIR`. 0 takes a free one.',
  }),
  certFile: text({
    name: 'GRPC_CERT_FILE',
    description: 'The certificate (PEM) of the internal API. With `GRPC_KEY_FILE`, it speaks TLS.',
  }),
  keyFile: text({
    name: 'GRPC_KEY_FILE',
    description: 'The private key (PEM) of `GRPC_CERT_FILE`.',
  }),
  clientCaFile: text({
    name: 'GRPC_CLIENT_CA_FILE',
    description:
      'The certificates (PEM) that vouch for callers. With it, callers must show a certificate (mutual TLS).',
  }),
  isInsecureAllowed: flag({
    name: 'GRPC_ALLOW_INSECURE',
    default: false,
    description:
      'Allows the internal API on other than loopback addresses without mutual TLS: anyone who sees its traffic learns the token, and can operate the cluster.',
  }),
});
export interface InternalApiSettings extends SettingsOf<typeof internalApiSettings> {}

function powerOfTwo(text: string): number {
  const count = wholeNumber(text, { min: 1, max: 65_536 });
  if ((count & (count - 1)) !== 0) throw new WrongValue('is not a power of two');
  return count;
}

function natsAddresses(text: string): readonly string[] {
  const urls = entriesOf(text);
  if (urls.length > 0 && urls.every((url) => /^(nats|tls):\/\/\S+$/.test(url))) return urls;
  throw new WrongValue('is not a comma-separated list of nats:// or tls:// addresses');
}
