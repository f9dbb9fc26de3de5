/**
 * The MySQL or MariaDB of a self-hosted server, read in one consistent snapshot. Large tables are read in pages by their
 * primary key, because every secondary index of InnoDB ends with it.
 */
import type { Connection } from 'mysql2/promise';
import { CommandFailure, exitCodes } from '../../failure.ts';
import {
  type Selection,
  type SourceDatabase,
  type SourceRow,
  type SourceValue,
  sourceReadFailure,
} from './database.ts';

const pageRows = 1_000;

/** @throws CommandFailure */
export async function openMysql(url: URL, password: string | undefined): Promise<SourceDatabase> {
  const connection = await connect(url, password);
  const all = async (sql: string, values: readonly SourceValue[] = []) => {
    try {
      const [rows] = await connection.query(sql, [...values]);
      return rows as SourceRow[];
    } catch (error) {
      throw sourceReadFailure(error);
    }
  };
  try {
    await all('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ');
    await all('START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY');
  } catch (error) {
    connection.destroy();
    throw error;
  }
  return {
    all,
    each: (selection) => pages(all, selection),
    columnsOf: async (table) => {
      const rows = await all(
        'SELECT column_name AS name FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = ?',
        [table],
      );
      return rows.map((row) => String(row['name']));
    },
    lengthOf: (column) => `LENGTH(\`${column}\`)`,
    close: () => connection.end(),
  };
}

async function* pages(
  all: (sql: string, values: readonly SourceValue[]) => Promise<readonly SourceRow[]>,
  { columns, table, where, values }: Selection,
): AsyncGenerator<SourceRow> {
  const sql = `SELECT ${columns} FROM \`${table}\` WHERE ${where} AND \`uuid\` > ? ORDER BY \`uuid\` LIMIT ${pageRows}`;
  for (let after = ''; ; ) {
    const rows = await all(sql, [...values, after]);
    yield* rows;
    const last = rows.at(-1);
    if (last === undefined || rows.length < pageRows) return;
    after = String(last['uuid']);
  }
}

async function connect(url: URL, password: string | undefined): Promise<Connection> {
  const { createConnection } = await import('mysql2/promise');
  try {
    return await createConnection({
      host: url.hostname,
      port: url.port === '' ? 3_306 : Number(url.port),
      user: decodeURIComponent(url.username),
      password: password ?? decodeURIComponent(url.password),
      database: decodeURIComponent(url.pathname.slice(1)),
      charset: 'utf8mb4',
      // Reads times as stored, without applying a zone.
      dateStrings: true,
      supportBigNumbers: true,
      connectTimeout: 10_000,
    });
  } catch (error) {
    throw new CommandFailure(
      exitCodes.unavailable,
      `The database ${url.hostname}${url.pathname} cannot be reached: ${(error as Error).message}.`,
    );
  }
}
