/** An installation in a file of SQLite. */
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import sqlite from 'node-sqlite3-wasm';
import { temporaryFolder } from '../kit/temporary-folder.ts';
import { createTables, Installation } from './installation.ts';

export interface SqliteInstallation {
  readonly there: Installation;
  readonly folder: string;
  readonly from: string;
  /** Closes the file, as an import reads it alone, and opens it again. */
  whileClosed<T>(work: () => Promise<T>): Promise<T>;
}

export async function sqliteInstallation(t: ExecutionContext): Promise<SqliteInstallation> {
  const folder = temporaryFolder(t);
  const file = join(folder, 'home_server.sqlite');
  let database = new sqlite.Database(file);
  const there = new Installation(async (sql, values = []) => void database.run(sql, [...values]));
  await createTables(there.run);
  return {
    there,
    folder,
    from: `sqlite:${file}`,
    async whileClosed(work) {
      database.close();
      try {
        return await work();
      } finally {
        database = new sqlite.Database(file);
      }
    },
  };
}
