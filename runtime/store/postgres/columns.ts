/** The SQL columns of a declared table: how it is laid out, which columns a read names, and how it gets each of them whole. */
import type { AnyRow, AnyTable } from '../../table.ts';
import { StoreError, wholeCharactersMax } from '../store.ts';
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
interface ColumnLayout {
  /** With `generation` in the primary key, and a count of parts for a large column. */
  readonly main: SqlTable;
  readonly large: LargeColumn | undefined;
}

const layouts = new WeakMap<AnyTable, ColumnLayout>();

/** Cached per table, because every row of every commit asks for it. */
export function layoutOf(table: AnyTable): ColumnLayout {
  const known = layouts.get(table);
  if (known !== undefined) return known;
  const made = computeLayout(table);
  layouts.set(table, made);
  return made;
}

function computeLayout(table: AnyTable): ColumnLayout {
  const key: readonly string[] = table.key;
  const large = table.large === undefined ? undefined : largeColumn(table, table.large);
  const generation: readonly string[] = table.generation === undefined ? [] : [table.generation];
  const main: SqlTable = {
    name: table.name,
    columns: large === undefined ? columnsOf(table) : { ...columnsOf(table), [large.count]: 'int8' },
    primaryKey: [...new Set([...key, ...generation])],
    removal: key.map((column) => ({ column, operator: '=' })),
    large,
  };
  return { main, large };
}

// --- large values ------------------------------------------------------------------------------------------

/*
 * Large values. A table may declare one `text?` column whose values can reach 16 MiB. A value above 512 KiB is cut into parts,
 * which are rows of `<table>_part (key..., part, content)`. The row itself then holds NULL, and the number of parts in
 * `<column>_parts`.
 *
 * Invariants:
 * - Row and parts change in one commit, so a reader of one statement sees a value whole.
 * - A row with `<column>_parts` = n has exactly the parts 0 .. n-1. A rewrite or a removal deletes stale parts, because deleted
 *   ciphertext must be gone.
 * - A new small row never touches the part table. That holds only in tables with `generation`, where an insert cannot hit an
 *   older row of the same key. A small row over one that its turn has seen to be small does not either.
 */

export const wholeBytesMax = 4 * wholeCharactersMax;
/** A UTF-16 unit takes at most three bytes of UTF-8, so no part exceeds `wholeBytesMax`. */
const partUnitsMax = Math.floor(wholeBytesMax / 3);

export interface LargeColumn {
  readonly column: string;
  /** The column with the number of the row's parts. */
  readonly count: string;
  readonly part: SqlTable;
}

/** `column` is the table's large column. */
function largeColumn(table: AnyTable, column: string): LargeColumn {
  const columns = columnsOf(table);
  const key: readonly string[] = table.key;
  const keyColumns = Object.fromEntries(key.map((name) => [name, columns[name] ?? 'text']));
  return {
    column,
    count: `${column}_parts`,
    part: {
      name: `${table.name}_part`,
      columns: { ...keyColumns, part: 'int8', content: 'text' },
      primaryKey: [...key, 'part'],
      removal: [
        ...key.map((name) => ({ column: name, operator: '=' as const })),
        { column: 'part', operator: '>=' },
      ],
    },
  };
}

/** The parts of a value. None if it is small enough to stay in its row. */
export function partsOf(value: unknown): readonly string[] {
  // A unit takes one byte at least and three at most. Only lengths between these bounds need an exact count.
  if (typeof value !== 'string' || value.length * 3 <= wholeBytesMax) return [];
  if (value.length <= wholeBytesMax && Buffer.byteLength(value) <= wholeBytesMax) return [];
  const parts: string[] = [];
  for (let start = 0; start < value.length; ) {
    const end = endOfPart(value, start);
    parts.push(value.slice(start, end));
    start = end;
  }
  return parts;
}

/** Never cuts between the halves of a surrogate pair, because a half is not valid UTF-8. */
function endOfPart(value: string, start: number): number {
  const end = start + partUnitsMax;
  if (end >= value.length) return value.length;
  const lastUnit = value.charCodeAt(end - 1);
  const isHighSurrogate = lastUnit >= 0xd800 && lastUnit <= 0xdbff;
  return isHighSurrogate ? end - 1 : end;
}

/** An expression that puts the parts of the large column together. It reads parts only for rows that have some. */
export function wholeValue(table: AnyTable, large: LargeColumn, alias: string): string {
  const key: readonly string[] = table.key;
  const joined = key.map((name) => `p.${ident(name)} = ${alias}.${ident(name)}`).join(' AND ');
  const parts = `SELECT string_agg(p."content", '' ORDER BY p."part") FROM ${ident(large.part.name)} AS p WHERE ${joined}`;
  const whole = `${alias}.${ident(large.column)}`;
  return `CASE WHEN ${alias}.${ident(large.count)} = 0 THEN ${whole} ELSE (${parts}) END`;
}

export function keyOf(table: AnyTable, row: AnyRow): AnyRow {
  const key: readonly string[] = table.key;
  return Object.fromEntries(key.map((name) => [name, row[name] ?? null]));
}
