/** The SQL columns of a declared table: how it is laid out, which columns a read names, and how it gets each of them whole. */
import type { AnyTable } from '../../table.ts';
import { StoreError } from '../store.ts';
import { type LargeColumn, largeColumn, wholeValue } from './large.ts';
import { columnsOf, ident, type SqlTable, subsetPredicate } from './sql.ts';

/** The columns asked for, with key and order, in the order of the declaration. So one set of columns is one statement. */
export function orderedColumns(table: AnyTable, columns: readonly string[] | undefined): readonly string[] {
  const declared = Object.keys(columnsOf(table));
  if (columns === undefined) return declared;
  const names = new Set<string>([...columns, ...table.key, ...(table.order ? [table.order] : [])]);
  return declared.filter((column) => names.has(column));
}

/** The columns that a subquery has to carry for `selectList`. */
export function carriedColumns(table: AnyTable, columns: readonly string[]): readonly string[] {
  const { large } = layoutOf(table);
  const counts = large !== undefined && columns.includes(large.column) ? [large.count] : [];
  return [...new Set([...columns, ...table.key, ...counts])];
}

export function selectList(table: AnyTable, columns: readonly string[], alias: string): string {
  const { large } = layoutOf(table);
  return columns
    .map((column) =>
      large?.column === column
        ? `${wholeValue(table, large, alias)} AS ${ident(column)}`
        : `${alias}.${ident(column)}`,
    )
    .join(', ');
}

export function orderOf({ name, order }: AnyTable): string {
  if (order === undefined) throw new StoreError('defect', `table ${name} has no order`);
  return order;
}

export function sizeOf({ name, size }: AnyTable): string {
  if (size === undefined) throw new StoreError('defect', `table ${name} has no size`);
  return size;
}

export function subsetCondition({ name, subsets }: AnyTable, subset: string): string {
  const declared = subsets[subset];
  if (declared === undefined) throw new StoreError('defect', `table ${name} has no subset ${subset}`);
  return subsetPredicate(declared);
}

export function assertPage({ limit, budgetBytes = 1 }: { limit: number; budgetBytes?: number | undefined }) {
  if (limit < 1) throw new StoreError('defect', 'a limit is at least 1');
  if (budgetBytes < 1) throw new StoreError('defect', 'a byte budget is at least 1');
}

/** The SQL tables of a declared table. */
interface Layout {
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
