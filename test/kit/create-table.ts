/** The statements that create a declared table: for tables of tests, and to compare with migrations. */

import type { Migration } from '../../runtime/migration.ts';
import { layoutOf } from '../../runtime/store/postgres/columns.ts';
import {
  baseType,
  ident,
  idents,
  isNullable,
  type SqlTable,
  subsetPredicate,
} from '../../runtime/store/postgres/sql.ts';
import { type AnyTable, ownerColumn, rejectsByKey, type Subset } from '../../runtime/table.ts';

/** In the form of migrations, whose ids begin with the table's name. */
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
    ...(rejectsByKey(table) ? [uniqueIndex(table, 'key', table.key)] : []),
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
    sql: `CREATE UNIQUE INDEX IF NOT EXISTS ${ident(name)} ON ${ident(table.name)} (${idents(columns)})${predicateOf(table, columns)}`,
  };
}

function predicateOf(table: AnyTable, columns: readonly string[]): string {
  const sparse = columns.filter((column) => table.sparse.includes(column));
  if (sparse.length === 0) return '';
  return ` WHERE ${sparse.map((column) => `${ident(column)} IS NOT NULL`).join(' AND ')}`;
}

function orderIndex(table: AnyTable, suffix: string, predicate: string): Migration {
  if (table.order === undefined) throw new Error(`table ${table.name} has subsets but no order`);
  const columns = idents([ownerColumn(table), table.order]);
  return {
    id: `${table.name}-0001-by-${suffix}`,
    sql: `CREATE INDEX IF NOT EXISTS ${ident(`${table.name}_by_${suffix}`)} ON ${ident(table.name)} (${columns})${predicate}`,
  };
}
