/**
 * A small pool of connections with a queue in the application: bounded, and with a deadline. Whoever finds it
 * full or waits too long is told `unavailable`, before anything was sent.
 *
 * What a connection carries: READ COMMITTED, a statement time-out, a shorter lock time-out (so that a blocked
 * statement ends as a plain conflict) and a limit on idle transactions (so that a paused process cannot hold its
 * locks). The driver's own time-out is longer than the server's: it is for a server that no longer answers.
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
  /** How long one may wait for a connection, connecting included. */
  readonly waitMaxMs: number;
  readonly statementTimeoutMs: number;
  /** How long a statement may wait for a lock: at most, and where nothing is said, half as long as it may take. */
  readonly lockWaitMaxMs?: number;
}

export type Row = Record<string, string | number | boolean | Buffer | null>;

/** Distinct statements that are prepared under a name; any further one is parsed anew each time. */
const preparedMax = 256;
const answerSlackMaxMs = 2_000;
/** A process that is paused or cut off within a transaction holds its locks, of a claim the whole cluster's, so long. */
const idleTransactionMaxMs = 3_000;
/** Connections beyond the first are closed when they were idle for so long. */
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
    // The pool listens only to idle connections; one that breaks while it is out would end the process.
    this.#pool.on('connect', (client) => client.on('error', () => undefined));
  }

  /** Runs `work` on one connection. Rejects with a StoreError. */
  async run<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
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

  /** Runs `work` between BEGIN and COMMIT; a result that is not `worth` it is rolled back and returned all the same. */
  transaction<T>(
    work: (connection: Connection) => Promise<T>,
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

  /** Waits for what is running. May be called again. */
  async close(): Promise<void> {
    if (!this.#pool.ending) await this.#pool.end();
  }

  async #attempt<T>(
    work: (connection: Connection) => Promise<T>,
    nameOf: (text: string) => string | undefined,
  ): Promise<T> {
    const client = await this.#acquire();
    const connection = new Connection(client, nameOf);
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

/** The names of prepared statements: one per text and, because each costs the server memory, only so many. */
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
export class Connection {
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

  /** After a failure. Where this fails too the connection is given up; what became of the work is known already. */
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

  /** No server does after an error above ERROR, and every one after an ERROR, in whatever language it said so. */
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
 * PostgreSQL makes one plan for arrays of any length, often while tables are still empty, and would then choose to
 * read whole tables; every statement here is meant to go by an index. CockroachDB has no such settings.
 */
const plannerSettings = 'SET enable_seqscan = off; SET enable_mergejoin = off; SET jit = off';

/** Said, because CockroachDB's own default is another: there, only at this level do row locks outlast what may happen. */
export const readCommitted = 'SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL READ COMMITTED';

async function prepareSession(client: pg.ClientBase): Promise<void> {
  await client.query(readCommitted);
  if (!(await isCockroach(client))) await client.query(plannerSettings);
}
