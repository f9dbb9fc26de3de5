/**
 * A migration brings the schema of a database one change closer to the schema of this release. It is SQL written by hand that PostgreSQL
 * and CockroachDB both accept (but for `only`). It runs once for each database, outside of a transaction. There are two lists, each
 * numbered from 1 without a gap: the runtime's (`store/postgres/migrations.ts`) and, after it, the domain's (`actors/migrations.ts`).
 *
 * Until the first release, no database has to be upgraded: change the statement of the table in its place. From then on:
 * - A released migration never changes, as databases have it. A later migration corrects it.
 * - A migration says IF EXISTS or IF NOT EXISTS, because a crash between a statement and its record runs it again.
 * - A migration only adds. Servers of the last release run on while and after it is applied. So a new column allows NULL or has a
 *   default, and a column goes a release after the last server that used it. The id of a migration that removes something says so
 *   (`domain-0050-drop-item-color`). A release that does not know it refuses the database. It runs on a database whose unknown
 *   migrations only added.
 * - No key begins with a time or a sequence, so that writes spread over the ranges of a cluster.
 *
 * Tables are declared apart from this (`table.ts`). The tests in `test/store/migrations` compare the two, hold on to what is released,
 * and upgrade a database while a server writes to it.
 *
 * No migration changes data so far. One that does comes a release after the servers that write old and new alike. It updates at most a
 * thousand rows that still need it, found along the primary key, and `migrate` repeats it until it changes none. A crash
 * resumes where it was, because rows that are done no longer match.
 */
export interface Migration {
  /** The list, the number in it and what it is about, such as `runtime-0001-node`. Never reused. */
  readonly id: string;
  /** A zone configuration, which PostgreSQL does not know: there it is only recorded. */
  readonly only?: 'CockroachDB';
  /** One statement, which may be run twice. */
  readonly sql: string;
}
