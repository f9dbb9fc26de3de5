/**
 * The SQLite file of a home server. It is read page by page and never written to. In exclusive mode a reader without shared
 * memory sees the journal beside the file (`-wal`), where most of a small database may still be.
 */
import { existsSync, rmdirSync } from 'node:fs';
import { CommandFailure, exitCodes } from '../../failure.ts';
import { type SourceDatabase, type SourceRow, type SourceValue, sourceReadFailure } from './database.ts';

/** @throws CommandFailure */
export async function openSqlite(path: string): Promise<SourceDatabase> {
  if (!existsSync(path)) throw new CommandFailure(exitCodes.usage, `There is no file ${path}.`);
  const { default: sqlite } = await import('node-sqlite3-wasm');
  forgetOwnLock(path);
  const database = new sqlite.Database(path, { readOnly: true, fileMustExist: true });
  try {
    database.exec('PRAGMA locking_mode = EXCLUSIVE');
    database.exec('PRAGMA query_only = ON');
    database.all('SELECT name FROM sqlite_master LIMIT 1');
  } catch (error) {
    database.close();
    throw new CommandFailure(
      exitCodes.refused,
      `${path} cannot be read (${(error as Error).message}). Stop the other server, or give a copy of the file with those beside it that end in -wal and -shm, in a folder that you may write to.`,
    );
  }
  const all = (sql: string, values: readonly SourceValue[] = []) => {
    try {
      return database.all(sql, [...values]) as SourceRow[];
    } catch (error) {
      throw sourceReadFailure(error);
    }
  };
  return {
    all: async (sql, values) => all(sql, values),
    async *each({ columns, table, where, values }) {
      const statement = database.prepare(`SELECT ${columns} FROM \`${table}\` WHERE ${where}`);
      try {
        yield* statement.iterate([...values]) as IterableIterator<SourceRow>;
      } finally {
        statement.finalize();
      }
    },
    columnsOf: async (table) => all(`PRAGMA table_info(\`${table}\`)`).map((row) => String(row['name'])),
    lengthOf: (column) => `octet_length(\`${column}\`)`,
    close: async () => database.close(),
  };
}

/**
 * This reader locks a file by a folder beside it, which no other program looks at. A killed reader leaves the folder. Two
 * readers do each other no harm.
 */
function forgetOwnLock(path: string): void {
  try {
    rmdirSync(`${path}.lock`);
  } catch {
    // There is no such folder.
  }
}
