/** Which of the two databases this is, and what is said to CockroachDB alone: everything else both understand. */
import pg from 'pg';

/** Errors of a user that may not say it, or of a server that does not have it: insufficient_privilege, feature_not_supported. */
const rejections = ['42501', '0A000'];

export async function isCockroach(client: pg.ClientBase): Promise<boolean> {
  const { rows } = await client.query<{ version: string }>('SELECT version() AS version');
  return isCockroachVersion(rows[0]?.version ?? '');
}

/** By what `version()` says. */
export const isCockroachVersion = (version: string): boolean => !version.startsWith('PostgreSQL');

/**
 * Zone configurations make a table cheaper and change nothing that is in it, so that a server which refuses them, as those
 * that are rented often do, serves as well.
 */
export async function configureZone(client: pg.ClientBase, sql: string): Promise<void> {
  if (!(await isCockroach(client))) return;
  try {
    await client.query(sql);
  } catch (error) {
    const isRejected = error instanceof pg.DatabaseError && rejections.includes(error.code ?? '');
    if (!isRejected) throw error;
  }
}
