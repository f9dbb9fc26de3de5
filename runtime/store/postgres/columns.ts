/** Which columns a read names, and how it gets each of them whole. */
import type { AnyTable } from '../../table.ts';
import { StoreError } from '../store.ts';
import { wholeValue } from './large.ts';
import { layoutOf } from './layout.ts';
import { columnsOf, ident, subsetPredicate } from './sql.ts';

/** The columns asked for, with key and order, in the order of the declaration. So one set of columns is one statement. */
export function orderedColumns(table: AnyTable, asked: readonly string[] | undefined): readonly string[] {
  const declared = Object.keys(columnsOf(table));
  if (asked === undefined) return declared;
  const wanted = new Set<string>([...asked, ...table.key, ...(table.order ? [table.order] : [])]);
  return declared.filter((column) => wanted.has(column));
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
