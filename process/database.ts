import type pg from 'pg';
import type { Clock } from '../runtime/clock.ts';
import type { Keyring } from '../runtime/keyring.ts';
import { shardCountFor, shardsOfHostMin } from '../runtime/ownership/placement.ts';
import type { Logger } from '../runtime/ports.ts';
import type { Random } from '../runtime/random.ts';
import { resharding, shardCountSetting } from '../runtime/store/postgres/reshard.ts';
import { openPostgresStore, type PostgresStore } from '../runtime/store/postgres/store.ts';
import type { Store } from '../runtime/store/store.ts';
import type { DataDirectory } from './data-directory.ts';
import { type DatabaseSettings, storeLimitsOf } from './database-settings.ts';
import { startEmbeddedPostgres } from './postgres/embedded.ts';
import { checkFingerprint } from './root-secret.ts';
import { ensureSchema, type SchemaPolicy } from './schema.ts';
import { StartError } from './start-error.ts';

const passwordBytes = 24;
const generationBytes = 12;

export interface Database {
  readonly connection: pg.ClientConfig;
  /** False while the database is known to be down. */
  isUp(): boolean;
  stop(): Promise<void>;
}

/** The external database of `databaseUrl`, or else the embedded one. @throws StartError */
export async function openDatabase(
  databaseUrl: string | undefined,
  directory: DataDirectory,
  ports: { readonly clock: Clock; readonly random: Random; readonly logger: Logger },
): Promise<Database> {
  if (databaseUrl !== undefined) {
    return { connection: { connectionString: databaseUrl }, isUp: () => true, stop: async () => undefined };
  }
  return needing('The embedded PostgreSQL could not be started', async () => {
    const password = await directory.keep('postgres-password', () =>
      ports.random.bytes(passwordBytes).toString('base64url'),
    );
    const server = await startEmbeddedPostgres({ dataDirectory: directory.path, password, ...ports });
    return {
      connection: { ...server.connection },
      isUp: () => server.state() === 'running',
      stop: () => server.stop(),
    };
  });
}

/** Opens the store once the schema is up to date. @throws StartError */
export async function openStore(
  { connection, isUp }: Database,
  settings: DatabaseSettings,
  { clock, logger, ...policy }: SchemaPolicy & { readonly clock: Clock },
): Promise<PostgresStore> {
  return needing('The database cannot be used', async () => {
    await ensureSchema(connection, { logger, ...policy });
    return await openPostgresStore({
      connection,
      clock,
      ...storeLimitsOf(settings),
      // While the database is known to be down, the log has the reason already.
      onConnectionError: (error) =>
        isUp() && logger.warn({ error: error.message }, 'a database connection broke'),
    });
  });
}

/** Reports any failure of `work` as the database's. @throws StartError */
export async function needing<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof StartError) throw error;
    throw StartError.unavailable(`${what}: ${chainOf(error).join(': ').replace(/\.$/, '')}.`, error);
  }
}

function chainOf(error: unknown): string[] {
  if (!(error instanceof Error)) return [];
  return [error.message, ...chainOf(error.cause)];
}

/** The file by which an operator marks the database as a restored backup. */
export const restoredMarker = 'restored';

/**
 * Names this run of sync positions: random, as old as the database, and new after a restore. The database has the new
 * name before the marker is removed. A crash between the two costs devices one more full sync.
 */
export async function syncGeneration(
  store: Store,
  directory: Pick<DataDirectory, 'has' | 'forget'>,
  random: Random,
): Promise<string> {
  if (!(await directory.has(restoredMarker))) return generationOf(store, random);
  const fresh = freshGeneration(random);
  await store.replaceSetting(generationSetting, fresh);
  await directory.forget(restoredMarker);
  return fresh;
}

/** The value in the database. */
export const generationOf = (store: Pick<Store, 'fixedSetting'>, random: Random): Promise<string> =>
  store.fixedSetting(generationSetting, freshGeneration(random));

const generationSetting = 'generation';
export const freshGeneration = (random: Random): string =>
  random.bytes(generationBytes).toString('base64url');

/** The number of shards: the operator's setting, or else that of the database, or else what the expected hosts need. */
export async function shardCountOf(
  store: Pick<Store, 'fixedSetting'>,
  {
    shardCount: configured,
    expectedHosts,
  }: { readonly shardCount: number | undefined; readonly expectedHosts: number },
  logger: Logger,
): Promise<number> {
  const fresh = String(shardCountFor(expectedHosts));
  const shardCount = configured ?? Number(await store.fixedSetting(shardCountSetting, fresh));
  if (shardCount < shardsOfHostMin * expectedHosts) {
    logger.warn(
      { shards: shardCount, expectedHosts },
      'there are too few shards for EXPECTED_HOSTS to share them evenly; see `scriptorium reshard`',
    );
  }
  return shardCount;
}

export interface ExpectedDatabase {
  readonly keyring: Keyring;
  readonly shardCount: number;
  readonly nodeId: string;
  readonly clusterName: string;
  /** Whether this process can reach others. */
  readonly isClustered: boolean;
}

/** In a node's address this means that no other process can reach it. */
export const inProcessAddress = 'in-process';

/** Refuses a database that was made with other fixed settings, or that another node is serving. @throws StartError */
export async function checkDatabase(store: Store, expected: ExpectedDatabase): Promise<void> {
  await checkFingerprint(expected.keyring, store);
  await checkResharding(store);
  await checkFixed(store, 'SHARD_COUNT', shardCountSetting, String(expected.shardCount));
  await checkFixed(store, 'CLUSTER_NAME', 'cluster-name', expected.clusterName);
  await checkNodes(store, expected);
}

/** While shards are being changed, no node may serve, and none may have started unseen. So this check runs twice. */
async function checkResharding(store: Store): Promise<void> {
  const shardCount = await store.fixedSetting(resharding.setting, resharding.none);
  if (shardCount === resharding.none) return;
  throw StartError.config(
    `The shards of this database are being changed: finish that with \`scriptorium reshard --shards ${shardCount}\`.`,
  );
}

async function checkFixed(store: Store, setting: string, name: string, value: string): Promise<void> {
  const stored = await store.fixedSetting(name, value);
  if (stored === value) return;
  throw StartError.config(
    `${setting} is ${value}, and this database was made with ${stored}: start with ${setting}=${stored}.`,
  );
}

/** Refuses to run beside a node that this one cannot reach. Each of the two would refuse the requests of the other's users. */
async function checkNodes(store: Store, { nodeId, isClustered }: ExpectedDatabase): Promise<void> {
  const others = (await store.nodes()).filter(
    ({ id, incarnation, expiresInMs }) => id !== nodeId && incarnation !== null && expiresInMs > 0,
  );
  const unreachable = others.find(({ address }) => !isClustered || address === inProcessAddress);
  if (unreachable === undefined) return;
  const whatToDo = isClustered
    ? 'That one was started without NATS_URL. Stop it first.'
    : 'Stop that one first, or give both a NATS_URL.';
  throw StartError.inUse(
    `The node "${unreachable.id}" is serving this database, and this one is "${nodeId}" (NODE_ID). ${whatToDo}`,
  );
}
