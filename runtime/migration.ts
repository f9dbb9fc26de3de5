/**
 * Migrations: how the schema of a database becomes that of this release. Each is one schema change, written by hand as
 * SQL that PostgreSQL and CockroachDB both accept (but for `only`), and run once per database, outside of a transaction. They form
 * two sequences, each numbered from 1 without a gap, a file for each and one list of them: the runtime's
 * (`store/postgres/migrations/`) and, after it, the domain's.
 *
 * Rules for adding one:
 * - One that was merged is frozen: databases have it. What it got wrong is corrected by a later one.
 * - It says IF EXISTS or IF NOT EXISTS: a crash between a statement and its record runs it again.
 * - It only adds. Servers of the release before that are running go on while and after it is applied, so a new column
 *   allows NULL or has a default, and what is no longer used goes a release after the last server that used it.
 * - No key begins with a time or a sequence, so that writes spread over the ranges of a cluster.
 *
 * Tables are declared apart from this (`table.ts`). The tests in `test/migrations` hold the two together, keep the
 * checksum of each migration, and run them on the databases of all releases.
 *
 * There is no change of data so far. One would be a migration of its own after the release whose servers write old and
 * new alike: an UPDATE of at most a thousand rows that still need it, found along the primary key, which `migrate`
 * repeats until it changes none. A field of the migration would say so; a crash goes on where it was, because rows that
 * are done no longer match.
 */
export interface Migration {
  /** The sequence, the number in it and what it is about, such as `runtime-0001-node`. Never reused. */
  readonly id: string;
  /** The id by which databases of release 0.1.0 have it on record. */
  readonly formerly?: string;
  /** A zone configuration, which PostgreSQL does not know: there it is only recorded. */
  readonly only?: 'CockroachDB';
  /** One statement, repeatable. */
  readonly sql: string;
}
