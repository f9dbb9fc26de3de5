import { flag, integer, setting, text } from '../setting.ts';

const group = 'Data';

export const dataSettings = {
  DATA_DIR: setting({
    group,
    schema: text,
    default: './data',
    description: 'The directory of everything the server keeps. One server at a time.',
  }),
  DATABASE_URL: setting({
    group,
    schema: text.regex(/^postgres(ql)?:\/\/\S+$/, 'is not a postgresql:// address'),
    secret: true,
    defaultText: 'a PostgreSQL of our own in the data directory',
    description: 'An external PostgreSQL or CockroachDB: `postgresql://user:password@host:port/database`.',
  }),
  MIGRATE_AT_START: setting({
    group,
    schema: flag,
    default: true,
    description:
      'Brings the schema of the database up to date at the start. Without it a server refuses a database that is behind, until `scriptorium migrate apply` was run. It can be turned off with `DATABASE_URL` only.',
  }),
  SECRET_KEY: setting({
    group,
    schema: text.regex(/^[0-9a-fA-F]{64}$/, 'is not 64 hexadecimal characters'),
    secret: true,
    defaultText: 'generated once into the data directory',
    description:
      'The root secret, 32 random bytes as 64 hexadecimal characters, from which every other key is derived. Keep a copy: a database cannot be used with another one.',
  }),
  SECRET_KEY_FILE: setting({
    group,
    schema: text,
    description: 'A file that holds the root secret, instead of `SECRET_KEY`.',
  }),
  NODE_ID: setting({
    group,
    schema: text.regex(/^[\w.-]{1,64}$/, 'is not 1 to 64 letters, digits, dots, dashes and underscores'),
    default: 'main',
    description:
      'The name of this node, one of its own for every process of a cluster. A process that starts takes over from the former one of its name when that has ended or its lease has.',
  }),
  SHARD_COUNT: setting({
    group,
    schema: integer(1, 65_536).refine((count) => (count & (count - 1)) === 0, 'is not a power of two'),
    default: 1_024,
    description: 'The number of units of ownership. A power of two, fixed once a database has been used.',
  }),
  LEASE_MS: setting({
    group,
    schema: integer(3_000, 600_000),
    default: 10_000,
    unit: 'ms',
    description: 'How long a node may serve without renewing its lease.',
  }),
};
