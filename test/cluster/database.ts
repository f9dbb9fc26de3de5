/** The PostgreSQL of a cluster: a real one with durability on. Tests can end it at once and start it again. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../process/postgres/embedded.ts';
import { systemClock } from '../../runtime/clock.ts';
import { silentLogger } from '../../runtime/ports.ts';
import { endLeftovers, isAlive, postmasterOf } from '../kit/server-process.ts';
import type { Target } from '../kit/tcp-proxy.ts';
import { until } from '../kit/until.ts';

/** Three nodes with their pools, and the tests themselves. */
const roomy = { max_connections: '200' };
const password = 'test';

export interface DatabaseOptions {
  /** The parent of its directory; absent: among temporary files. */
  readonly parent?: string;
  readonly settings?: Readonly<Record<string, string>>;
}

export class Database {
  readonly #directory: string;
  readonly #settings: Readonly<Record<string, string>>;
  #server: EmbeddedPostgres | undefined;

  private constructor(directory: string, settings: Readonly<Record<string, string>>) {
    this.#directory = directory;
    this.#settings = settings;
  }

  static async start({ parent = tmpdir(), settings = {} }: DatabaseOptions = {}): Promise<Database> {
    const directory = await mkdtemp(join(parent, 'cluster-postgres-'));
    const database = new Database(directory, { ...roomy, ...settings });
    // It runs in a session of its own, so a test process that fails before `stop` must end it too.
    process.once('exit', database.#endWithProcess);
    await database.start();
    return database;
  }

  get target(): Target {
    const { host, port } = this.#connection;
    return host.startsWith('/') ? { path: join(host, `.s.PGSQL.${port}`) } : { port };
  }

  /** Its address without a proxy. */
  get url(): string {
    const { host, port, user, database } = this.#connection;
    if (!host.startsWith('/')) return this.urlThrough(port);
    return `postgresql://${user}:${password}@localhost:${port}/${database}?host=${encodeURIComponent(host)}`;
  }

  /** The address of this database behind a proxy on that port. */
  urlThrough(port: number): string {
    const { user, database } = this.#connection;
    return `postgresql://${user}:${password}@127.0.0.1:${port}/${database}`;
  }

  async start(): Promise<void> {
    this.#server = await startEmbeddedPostgres({
      dataDirectory: this.#directory,
      password,
      clock: systemClock,
      logger: silentLogger,
      overrides: this.#settings,
    });
  }

  /** Immediate shutdown: nothing is finished, and the next start replays the log. */
  async kill(): Promise<void> {
    const pid = postmasterOf(this.#directory);
    // Stopped first, so that it does not start again before we want it.
    const stopped = this.#server?.stop();
    if (pid !== undefined) {
      process.kill(pid, 'SIGQUIT');
      await until(() => !isAlive(pid));
    }
    await stopped;
  }

  /** Runs statements as superuser, besides the nodes. Resolves to the rows of the last one. */
  async query(...texts: readonly string[]): Promise<readonly Record<string, unknown>[]> {
    const client = new pg.Client({ ...this.#connection });
    client.on('error', () => undefined);
    await client.connect();
    try {
      let rows: readonly Record<string, unknown>[] = [];
      for (const text of texts) ({ rows } = await client.query(text));
      return rows;
    } finally {
      await client.end();
    }
  }

  async stop(): Promise<void> {
    await this.#server?.stop();
    process.off('exit', this.#endWithProcess);
    await rm(this.#directory, { recursive: true, force: true });
  }

  get #connection() {
    if (this.#server === undefined) throw new Error('the database was not started');
    return this.#server.connection;
  }

  readonly #endWithProcess = (): void => void endLeftovers(this.#directory);
}
