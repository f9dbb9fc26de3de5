/**
 * The schema as a list of migrations: numbered, forward-only, one DDL statement each, in what CockroachDB and
 * PostgreSQL both accept (design section 5).
 *
 * Rules for whoever adds one:
 * - A migration that was released never changes; what it got wrong is corrected by a later one.
 * - Each statement says IF NOT EXISTS: a crash between a statement and its record runs it again.
 * - Add-only for one release: what the previous release reads and writes must keep working.
 * - No key begins with a time or a sequence, so that writes spread over the ranges of a cluster.
 */
import type { AnyTable, Subset } from '../../table.ts';
import { ownerColumn, refusesByKey } from '../../table.ts';
import { runtimeTables } from '../tables.ts';
import { layoutOf } from './layout.ts';
import { baseType, ident, idents, isNullable, type SqlTable, subsetPredicate } from './sql.ts';

export interface Migration {
  /** Unique and never reused, such as `runtime-0001-node`. */
  readonly id: string;
  /** One DDL statement, repeatable. */
  readonly sql: string;
}

export const runtimeMigrations: readonly Migration[] = [
  {
    id: 'runtime-0001-node',
    sql: `CREATE TABLE IF NOT EXISTS node (
      id text NOT NULL PRIMARY KEY, incarnation text, address text NOT NULL, roles text NOT NULL,
      version text NOT NULL, formats text NOT NULL, started int8 NOT NULL, expires_at int8 NOT NULL)`,
  },
  {
    id: 'runtime-0002-shard',
    sql: `CREATE TABLE IF NOT EXISTS shard (
      shard int8 NOT NULL PRIMARY KEY, node text NOT NULL, incarnation text NOT NULL, epoch int8 NOT NULL)`,
  },
  {
    id: 'runtime-0003-counter',
    sql: 'CREATE TABLE IF NOT EXISTS counter (name text NOT NULL PRIMARY KEY, value int8 NOT NULL)',
  },
  {
    id: 'runtime-0004-actor',
    sql: `CREATE TABLE IF NOT EXISTS actor (
      kind text NOT NULL, id text NOT NULL, shard int8 NOT NULL, epoch int8 NOT NULL, version int8 NOT NULL,
      commit_id uuid, PRIMARY KEY (kind, id))`,
  },
  {
    id: 'runtime-0005-setting',
    sql: 'CREATE TABLE IF NOT EXISTS setting (name text NOT NULL PRIMARY KEY, value text NOT NULL)',
  },
  {
    id: 'runtime-0006-node-draining',
    sql: 'ALTER TABLE node ADD COLUMN IF NOT EXISTS draining bool NOT NULL DEFAULT false',
  },
  {
    id: 'runtime-0007-node-connected',
    sql: 'ALTER TABLE node ADD COLUMN IF NOT EXISTS connected bool NOT NULL DEFAULT true',
  },
  ...runtimeTables.flatMap((table) => createTable(table)),
  {
    id: 'timer-0002-due',
    sql: 'CREATE INDEX IF NOT EXISTS timer_due ON timer (shard, due_at) WHERE dead = false',
  },
  {
    id: 'outbox-0002-pending',
    sql: 'CREATE INDEX IF NOT EXISTS outbox_pending ON outbox (target_shard, retry_at) WHERE dead = false',
  },
  { id: 'call-0002-age', sql: 'CREATE INDEX IF NOT EXISTS call_age ON call (shard, at)' },
];

/**
 * The migrations that create a declared table with its indexes. Their ids begin with the table's name; a unique
 * key or subset declared later brings its own migration, a new column needs one written by hand.
 */
export function createTable(table: AnyTable): readonly Migration[] {
  const unique: readonly (readonly string[])[] = table.unique;
  const subsets = Object.entries(table.subsets as Readonly<Record<string, Subset>>).filter(
    ([, subset]) => subset.indexed,
  );
  const { main, large } = layoutOf(table);
  const part = large?.part;
  return [
    { id: `${table.name}-0001-table`, sql: createTableSql(main) },
    ...(part === undefined ? [] : [{ id: `${table.name}-0001-part`, sql: createTableSql(part) }]),
    ...(refusesByKey(table) ? [uniqueIndex(table, 'key', table.key)] : []),
    ...unique.map((columns) => uniqueIndex(table, `unique_${columns.join('_')}`, columns)),
    ...(table.order === undefined ? [] : [orderIndex(table, 'order', '')]),
    ...subsets.map(([name, subset]) => orderIndex(table, name, ` WHERE ${subsetPredicate(subset)}`)),
  ];
}

function createTableSql(table: SqlTable): string {
  const columns = Object.entries(table.columns).map(
    ([name, type]) => `${ident(name)} ${baseType(type)}${isNullable(type) ? '' : ' NOT NULL'}`,
  );
  return `CREATE TABLE IF NOT EXISTS ${ident(table.name)} (${columns.join(', ')}, PRIMARY KEY (${idents(table.primaryKey)}))`;
}

function uniqueIndex(table: AnyTable, suffix: string, columns: readonly string[]): Migration {
  const name = `${table.name}_${suffix}`;
  return {
    id: `${table.name}-0001-${suffix.replaceAll('_', '-')}`,
    sql: `CREATE UNIQUE INDEX IF NOT EXISTS ${ident(name)} ON ${ident(table.name)} (${idents(columns)})`,
  };
}

function orderIndex(table: AnyTable, suffix: string, predicate: string): Migration {
  if (table.order === undefined) throw new Error(`table ${table.name} has subsets but no order`);
  const columns = idents([ownerColumn(table), table.order]);
  return {
    id: `${table.name}-0001-by-${suffix}`,
    sql: `CREATE INDEX IF NOT EXISTS ${ident(`${table.name}_by_${suffix}`)} ON ${ident(table.name)} (${columns})${predicate}`,
  };
}
