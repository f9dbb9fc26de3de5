/**
 * The embedded default: a PostgreSQL of our own under the data directory, used without DATABASE_URL. The caller holds
 * the lock of the data directory, so anything else that runs on the cluster is a leftover.
 *
 * If PostgreSQL dies, this module starts it again, with backoff and without end. A small machine that runs `npm
 * start` has no supervisor to do so. The runtime copes with a lost database anyway: commits in flight have an unknown
 * outcome, settled when it answers again. Until then `state` says so and readiness is red.
 */
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import pg from 'pg';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/ports.ts';
import { chooseAccount } from './account.ts';
import { findBinaries } from './binaries.ts';
import { initialiseCluster, type ServerEndpoint, serverArguments, superuser } from './cluster.ts';
import { type Postmaster, startPostmaster } from './postmaster.ts';

export interface EmbeddedPostgres {
  /** The parameters of a connection, the same for the whole life of the server. */
  readonly connection: EmbeddedConnection;
  state(): 'running' | 'restarting' | 'stopped';
  stop(): Promise<void>;
}

export interface EmbeddedConnection extends ServerEndpoint {
  readonly user: string;
  readonly password: string;
  readonly database: string;
}

export interface EmbeddedOptions {
  /** The data directory; the cluster goes into `postgres` below it. */
  readonly dataDirectory: string;
  /** The superuser's; fixed when the cluster is made. */
  readonly password: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** PostgreSQL settings that win over ours. For tests. */
  readonly overrides?: Readonly<Record<string, string>>;
}

/** The name of the database. */
export const embeddedDatabase = 'scriptorium';
const restartFirstMs = 500;
const restartMaxMs = 30_000;
/** After this long, a restart no longer counts together with the one before. */
const stableMs = 60_000;

export async function startEmbeddedPostgres(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const { clock, logger, password } = options;
  const parentPath = resolve(options.dataDirectory);
  const clusterPath = join(parentPath, 'postgres');
  const { initdb, postgres } = await findBinaries();
  const account = await chooseAccount(clusterPath, parentPath, [initdb, postgres]);
  await initialiseCluster(clusterPath, { initdb, account, password });
  const endpoint = await chooseEndpoint(clusterPath);
  const connection = { ...endpoint, user: superuser, password, database: embeddedDatabase };
  const start = () =>
    startPostmaster({
      program: postgres,
      args: serverArguments(clusterPath, endpoint, options.overrides),
      clusterPath,
      account,
      clock,
      logger,
    });
  const supervisor = supervise(await start(), start, clock, logger);
  try {
    await createDatabase(connection);
  } catch (error) {
    await supervisor.stop();
    throw error;
  }
  return { connection, ...supervisor };
}

function supervise(first: Postmaster, start: () => Promise<Postmaster>, clock: Clock, logger: Logger) {
  let current: Postmaster | undefined;
  let starting: Promise<void> | undefined;
  let stopped = false;
  let failures = 0;

  const watch = (postmaster: Postmaster): void => {
    current = postmaster;
    const sinceMs = clock.monotonicMs();
    void postmaster.ended.then((lastWords) => {
      current = undefined;
      if (stopped) return;
      logger.error({ lastWords }, 'PostgreSQL has ended and is being started again');
      if (clock.monotonicMs() - sinceMs > stableMs) failures = 0;
      restartLater();
    });
  };

  const restartLater = (): void => {
    const delayMs = Math.min(restartFirstMs * 2 ** failures, restartMaxMs);
    failures += 1;
    clock.schedule(delayMs, () => {
      if (stopped) return;
      starting = start().then(watch, (error: Error) => {
        logger.error({ error: error.message }, 'PostgreSQL could not be started again');
        if (!stopped) restartLater();
      });
    });
  };

  watch(first);
  return {
    state: () =>
      (stopped ? 'stopped' : current ? 'running' : 'restarting') as 'running' | 'restarting' | 'stopped',
    async stop() {
      stopped = true;
      await starting;
      await current?.stop();
    },
  };
}

/**
 * The socket is in the cluster's directory, which only its owner can enter. If its path is too long for a
 * socket address, the server listens on a free loopback port instead.
 */
async function chooseEndpoint(clusterPath: string): Promise<ServerEndpoint> {
  return isSocketPath(clusterPath) ? socketOf(clusterPath) : endpointOf(clusterPath, await freePort());
}

/** Where a server on this directory listens, with the port that it has taken. */
export const endpointOf = (clusterPath: string, port: number): ServerEndpoint =>
  isSocketPath(clusterPath) ? socketOf(clusterPath) : { host: '127.0.0.1', port };

const socketPort = 5432;
const socketOf = (clusterPath: string): ServerEndpoint => ({ host: clusterPath, port: socketPort });

function isSocketPath(clusterPath: string): boolean {
  const addressBytes = process.platform === 'linux' ? 107 : 103;
  return Buffer.byteLength(join(clusterPath, `.s.PGSQL.${socketPort}`)) <= addressBytes;
}

function freePort(): Promise<number> {
  return new Promise((fulfil, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      const port = typeof address === 'object' && address ? address.port : 0;
      server.close(() => fulfil(port));
    });
  });
}

async function createDatabase(connection: EmbeddedConnection): Promise<void> {
  const client = new pg.Client({ ...connection, database: 'postgres' });
  // An idle client that loses its server emits an error; the query in progress reports it as well.
  client.on('error', () => undefined);
  await client.connect();
  try {
    const found = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [embeddedDatabase]);
    if (found.rowCount === 0) await client.query(`CREATE DATABASE ${embeddedDatabase}`);
  } finally {
    await client.end();
  }
}
