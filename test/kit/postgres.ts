import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { type EmbeddedConnection, startEmbeddedPostgres } from '../../process/postgres/embedded.ts';
import { systemClock } from '../../runtime/clock.ts';
import { silentLogger } from '../../runtime/ports.ts';

export type DatabaseConnection = EmbeddedConnection;

export interface TestPostgres {
  /** A fresh, empty database and how to connect to it as superuser. */
  createDatabase(): Promise<DatabaseConnection>;
  /** Stops the server and removes its data. */
  stop(): Promise<void>;
}

/** Durability off: these servers live as long as one test process. A short deadlock check keeps tests short. */
const fastSettings = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  deadlock_timeout: '200ms',
  max_connections: '200',
};

/** In the format of DATABASE_URL. */
export function databaseUrl({ user, password, host, port, database }: DatabaseConnection): string {
  return `postgresql://${user}:${password}@/${database}?host=${encodeURIComponent(host)}&port=${port}`;
}

/** Starts a separate PostgreSQL for this test process in a temporary directory, in the same way as the server. */
export async function startTestPostgres(
  settings: Readonly<Record<string, string>> = fastSettings,
): Promise<TestPostgres> {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'scriptorium-postgres-'));
  const server = await startEmbeddedPostgres({
    dataDirectory,
    password: 'test',
    clock: systemClock,
    logger: silentLogger,
    overrides: settings,
  });
  // It runs in a session of its own, so a test process that fails before `stop` must end it too.
  const endWithProcess = (): void => endPostmaster(dataDirectory);
  process.once('exit', endWithProcess);

  let databases = 0;
  return {
    async createDatabase() {
      databases += 1;
      const database = `test_${databases}`;
      const admin = new pg.Client({ ...server.connection, database: 'postgres' });
      await admin.connect();
      await admin.query(`CREATE DATABASE ${database}`);
      await admin.end();
      return { ...server.connection, database };
    },
    async stop() {
      await server.stop();
      process.off('exit', endWithProcess);
      await rm(dataDirectory, { recursive: true, force: true });
    },
  };
}

function endPostmaster(dataDirectory: string): void {
  const pidFile = join(dataDirectory, 'postgres', 'postmaster.pid');
  try {
    process.kill(Number.parseInt(readFileSync(pidFile, 'utf8'), 10), 'SIGINT');
  } catch {
    // It has ended already.
  }
}
