/** Tells the two databases apart, and has the settings for CockroachDB only. Both understand everything else. */
import pg from 'pg';

/** The user may not set it, or the server does not have it: insufficient_privilege, feature_not_supported. */
const rejections = ['42501', '0A000'];

export async function isCockroach(client: pg.ClientBase): Promise<boolean> {
  const { rows } = await client.query<{ version: string }>('SELECT version() AS version');
  return isCockroachVersion(rows[0]?.version ?? '');
}

/** Judges by the text of `version()`. */
export const isCockroachVersion = (version: string): boolean => !version.startsWith('PostgreSQL');

/**
 * Zone configurations make a table cheaper and change none of its content. So a server that refuses them serves as well; rented
 * servers often do.
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
