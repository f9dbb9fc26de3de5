/** The SQL tables of a declared table. */
import type { AnyTable } from '../../table.ts';
import { type LargeColumn, largeColumn } from './large.ts';
import { columnsOf, type SqlTable } from './sql.ts';

export interface Layout {
  /** With `generation` in the primary key, and a count of parts for a large column. */
  readonly main: SqlTable;
  readonly large: LargeColumn | undefined;
}

const layouts = new WeakMap<AnyTable, Layout>();

/** Cached per table, because every row of every commit asks for it. */
export function layoutOf(table: AnyTable): Layout {
  const known = layouts.get(table);
  if (known !== undefined) return known;
  const made = computeLayout(table);
  layouts.set(table, made);
  return made;
}

function computeLayout(table: AnyTable): Layout {
  const key: readonly string[] = table.key;
  const large = table.large === undefined ? undefined : largeColumn(table, table.large);
  const generation: readonly string[] = table.generation === undefined ? [] : [table.generation];
  const main: SqlTable = {
    name: table.name,
    columns: large === undefined ? columnsOf(table) : { ...columnsOf(table), [large.count]: 'int8' },
    primaryKey: [...new Set([...key, ...generation])],
    removal: key.map((column) => ({ column, operator: '=' })),
  };
  return { main, large };
}
