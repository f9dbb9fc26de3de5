/**
 * A small pool of connections with a queue in the application, bounded and with a deadline. A caller that finds it full or
 * waits too long gets `unavailable` before anything was sent.
 *
 * Each connection has READ COMMITTED and a statement time-out. Its lock time-out is shorter, so that a blocked statement ends
 * as a plain conflict. A limit on idle transactions keeps a paused process from holding its locks. The driver's own time-out is
 * longer than the server's: it is for a server that no longer answers.
 */
import pg from 'pg';
import { StoreError } from '../store.ts';
import { isCockroach } from './cockroach.ts';
import { isAnswer, isOfOtherLanguage, isStalePlan, toStoreError } from './errors.ts';
import type { Statement } from './sql.ts';

export interface PoolLimits {
  readonly connectionsMax: number;
  /** How many callers may wait for a connection. */
  readonly queueMax: number;
  /** How long a caller may wait for a connection, including the time to connect. */
  readonly waitMaxMs: number;
  readonly statementTimeoutMs: number;
  /** The longest wait for a lock. By default half the time of a statement. */
  readonly lockWaitMaxMs?: number;
}

export type Row = Record<string, string | number | boolean | Buffer | null>;

/** Statements prepared under a name. Any further text is parsed each time. */
const preparedMax = 256;
const answerSlackMaxMs = 2_000;
/**
 * The longest time that a paused or disconnected process holds the locks of a transaction. A claim's lock blocks the whole
 * cluster.
 */
const idleTransactionMaxMs = 3_000;
/** All connections but one are closed after this idle time. */
const idleMaxMs = 60_000;

export class ConnectionPool {
  readonly #pool: pg.Pool;
  readonly #queueMax: number;
  readonly #names = new StatementNames(preparedMax);

  constructor(connection: pg.ClientConfig, limits: PoolLimits, onError: (error: Error) => void) {
    this.#queueMax = limits.queueMax;
    this.#pool = new pg.Pool({
      ...connection,
      max: limits.connectionsMax,
      min: 1,
      idleTimeoutMillis: idleMaxMs,
      connectionTimeoutMillis: limits.waitMaxMs,
      statement_timeout: limits.statementTimeoutMs,
      lock_timeout: Math.min(
        limits.lockWaitMaxMs ?? Number.POSITIVE_INFINITY,
        Math.ceil(limits.statementTimeoutMs / 2),
      ),
      idle_in_transaction_session_timeout: Math.min(limits.statementTimeoutMs, idleTransactionMaxMs),
      query_timeout: limits.statementTimeoutMs + Math.min(limits.statementTimeoutMs, answerSlackMaxMs),
      keepAlive: true,
      types: { getTypeParser: typeParser },
      onConnect: prepareSession,
    });
    this.#pool.on('error', onError);
    // The pool listens only to idle connections. Without a listener, a connection that breaks in use would end the process.
    this.#pool.on('connect', (client) => client.on('error', () => undefined));
  }

  /** Runs `work` on one connection. @throws StoreError */
  async run<T>(work: (connection: PooledConnection) => Promise<T>): Promise<T> {
    try {
      return await this.#attempt(work, (text) => this.#names.nameOf(text));
    } catch (error) {
      if (!isStalePlan(error)) throw toStoreError(error);
    }
    try {
      return await this.#attempt(work, () => undefined);
    } catch (error) {
      throw toStoreError(error);
    }
  }

  query(statement: Statement): Promise<readonly Row[]> {
    return this.run((connection) => connection.query(statement));
  }

  /** Runs `work` between BEGIN and COMMIT. A result that is not `worth` committing is rolled back and still returned. */
  transaction<T>(
    work: (connection: PooledConnection) => Promise<T>,
    worth: (result: T) => boolean = () => true,
  ): Promise<T> {
    return this.run(async (connection) => {
      try {
        await connection.command('BEGIN');
        const result = await work(connection);
        await connection.command(worth(result) ? 'COMMIT' : 'ROLLBACK');
        return result;
      } catch (error) {
        if (isAnswer(error)) await connection.rollBack();
        throw error;
      }
    });
  }

  /** Waits for running work. May be called again. */
  async close(): Promise<void> {
    if (!this.#pool.ending) await this.#pool.end();
  }

  async #attempt<T>(
    work: (connection: PooledConnection) => Promise<T>,
    nameOf: (text: string) => string | undefined,
  ): Promise<T> {
    const client = await this.#acquire();
    const connection = new PooledConnection(client, nameOf);
    let reusable = false;
    try {
      const result = await work(connection);
      reusable = true;
      return result;
    } catch (error) {
      reusable = connection.isClean && isAnswer(error) && !isStalePlan(error);
      throw error;
    } finally {
      client.release(!reusable);
    }
  }

  async #acquire(): Promise<pg.PoolClient> {
    if (this.#pool.waitingCount >= this.#queueMax) {
      throw new StoreError('unavailable', 'the queue for database connections is full');
    }
    try {
      return await this.#pool.connect();
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new StoreError('unavailable', `no database connection is available: ${reason}`);
    }
  }
}

/** The names of prepared statements: one per text, up to a number, because each costs the server memory. */
export class StatementNames {
  readonly #namesMax: number;
  readonly #names = new Map<string, string>();

  constructor(namesMax: number) {
    this.#namesMax = namesMax;
  }

  nameOf(text: string): string | undefined {
    const known = this.#names.get(text);
    if (known !== undefined || this.#names.size >= this.#namesMax) return known;
    const name = `s${this.#names.size}`;
    this.#names.set(text, name);
    return name;
  }
}

/** One connection while it is lent out. */
export class PooledConnection {
  readonly #client: pg.PoolClient;
  readonly #nameOf: (text: string) => string | undefined;
  /** False once a transaction may have been left open. */
  isClean = true;

  constructor(client: pg.PoolClient, nameOf: (text: string) => string | undefined) {
    this.#client = client;
    this.#nameOf = nameOf;
  }

  async query(statement: Statement): Promise<readonly Row[]> {
    const name = this.#nameOf(statement.text);
    const result = await this.#send({
      text: statement.text,
      values: [...statement.values],
      ...(name === undefined ? {} : { name }),
    });
    return result.rows;
  }

  async command(text: string): Promise<void> {
    await this.#send({ text });
  }

  /** Call after a failure. If this fails too, the connection is closed. The outcome of the work is known already. */
  async rollBack(): Promise<void> {
    try {
      await this.command('ROLLBACK');
    } catch {
      this.isClean = false;
    }
  }

  async #send(query: pg.QueryConfig): Promise<pg.QueryResult<Row>> {
    try {
      return await this.#client.query<Row>(query);
    } catch (error) {
      if (isOfOtherLanguage(error) && (await this.#servesOn())) error.severity = 'ERROR';
      throw error;
    }
  }

  /** A server goes on after an ERROR, and never after a higher severity. The word for the severity may be in any language. */
  async #servesOn(): Promise<boolean> {
    try {
      await this.#client.query('');
      return true;
    } catch {
      return false;
    }
  }
}

const int8Type = 20;

function typeParser(type: number, format?: 'text' | 'binary'): (value: string) => unknown {
  if (type === int8Type && format !== 'binary') return Number;
  return pg.types.getTypeParser(type, format as 'text');
}

/**
 * PostgreSQL makes one plan for arrays of any length, often while tables are still empty, and would then choose to read whole
 * tables. Every statement here should use an index, and read its rows in the order of that index. A bitmap has no order: a page
 * of an owner with very many rows would read and sort all of them. CockroachDB has no such settings.
 *
 * One plan serves all executions of a statement. PostgreSQL expects ten elements of an array that it does not know. So it
 * would take a plan for fewer to be cheaper, and make it again for each: longer work than the commit of one save.
 */
const plannerSettings =
  'SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_mergejoin = off; SET jit = off; SET plan_cache_mode = force_generic_plan';

/** Set explicitly, because CockroachDB's default differs. There, row locks last reliably only at this level. */
export const readCommitted = 'SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL READ COMMITTED';

export async function prepareSession(client: pg.ClientBase): Promise<void> {
  await client.query(readCommitted);
  if (!(await isCockroach(client))) await client.query(plannerSettings);
}
