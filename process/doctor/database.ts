/** Whether the database at `DATABASE_URL` keeps what it acknowledges, has the schema, and tells the same time. */
import pg from 'pg';
import { nowMs as databaseNow } from '../../runtime/store/postgres/statements.ts';
import { lackingMigrations } from '../schema.ts';
import { StartError } from '../start-error.ts';
import { type Finding, ok, problem, warning } from './finding.ts';

export interface DatabaseExpectations {
  readonly connectionString: string;
  /** What one process opens. */
  readonly connections: number;
  readonly clockSkewMaxMs: number;
  readonly nowMs: () => number;
}

const timeoutMs = 5_000;

/** One finding if it cannot be reached. */
export async function diagnoseDatabase(expected: DatabaseExpectations): Promise<readonly Finding[]> {
  const { connectionString } = expected;
  const client = new pg.Client({
    connectionString,
    connectionTimeoutMillis: timeoutMs,
    query_timeout: timeoutMs,
  });
  // What breaks the connection also rejects the query under way.
  client.on('error', () => {});
  try {
    await client.connect();
    const isCockroach = /CockroachDB/.test(String(await queriedValue(client, 'SELECT version()')));
    return [
      ok('database', 'It answers.'),
      await checkClock(client, expected),
      ...(isCockroach ? [] : [await checkDurability(client), await checkConnections(client, expected)]),
      await checkSchema(connectionString),
    ];
  } catch (error) {
    const reason = (error as Error).message;
    return [
      problem(
        'database',
        `It cannot be used: ${reason}.`,
        'Check DATABASE_URL, the server and the way to it.',
      ),
    ];
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function queriedValue(client: pg.Client, sql: string): Promise<unknown> {
  const { rows } = await client.query<unknown[]>({ text: sql, rowMode: 'array' });
  return rows[0]?.[0];
}

async function checkClock(
  client: pg.Client,
  { clockSkewMaxMs, nowMs }: DatabaseExpectations,
): Promise<Finding> {
  const check = 'clock';
  const beforeMs = nowMs();
  const databaseMs = Number(await queriedValue(client, `SELECT ${databaseNow}`));
  const afterMs = nowMs();
  // The database read its clock somewhere in between.
  const skewMs = Math.round(Math.max(0, beforeMs - databaseMs, databaseMs - afterMs));
  const found = `It differs from the database's by ${skewMs} ms.`;
  const remedy = 'Synchronise both machines by NTP.';
  if (skewMs > clockSkewMaxMs) return problem(check, found, remedy);
  return skewMs > clockSkewMaxMs / 10 ? warning(check, found, remedy) : ok(check, found);
}

/** Without these, a power cut loses saves that clients were told are durable. */
const durable = ['fsync', 'full_page_writes', 'synchronous_commit'] as const;

async function checkDurability(client: pg.Client): Promise<Finding> {
  const check = 'database durability';
  const off: string[] = [];
  for (const setting of durable) {
    if ((await queriedValue(client, `SHOW ${setting}`)) === 'off') off.push(setting);
  }
  if (off.length === 0) return ok(check, 'A commit is on disk before it is acknowledged.');
  return problem(
    check,
    `${off.join(' and ')} ${off.length === 1 ? 'is' : 'are'} off: a power cut loses what was acknowledged.`,
    `Set ${off.join(' and ')} to on in postgresql.conf, and for the role.`,
  );
}

async function checkConnections(client: pg.Client, { connections }: DatabaseExpectations): Promise<Finding> {
  const check = 'database connections';
  const allowed = Number(await queriedValue(client, 'SHOW max_connections'));
  const found = `It allows ${allowed}, and one process of this server opens up to ${connections}.`;
  if (allowed >= connections * 2) return ok(check, found);
  return warning(check, found, 'Raise max_connections, or lower DATABASE_*_CONNECTIONS.');
}

async function checkSchema(connectionString: string): Promise<Finding> {
  const check = 'database schema';
  try {
    const lacking = await lackingMigrations({ connectionString });
    if (lacking.length === 0) return ok(check, 'It is that of this release.');
    return warning(check, `It lacks ${lacking.length} migrations.`, 'Run `scriptorium migrate apply`.');
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    return problem(check, error.message, 'Start the release that it says.');
  }
}
