/** The few pieces of SQL that every generated statement uses. */
import type { AnyRow, AnyTable, Columns, ColumnType, NullableColumnType, Subset } from '../../table.ts';
import { StoreError, type StoreRows } from '../store.ts';
import { arrayParameter } from './array-parameter.ts';

export interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
}

/** A read as a statement, and the function that turns its rows into the answer. */
export interface PlannedRead {
  readonly statement: Statement;
  readonly finish: (rows: readonly AnyRow[]) => StoreRows;
}

/** One SQL table. A declared table with a large column has two of these (see `columns.ts`). */
export interface SqlTable {
  readonly name: string;
  readonly columns: Columns;
  readonly primaryKey: readonly string[];
  /** The columns that a removal names, and how it compares them. */
  readonly removal: readonly { readonly column: string; readonly operator: '=' | '>=' }[];
}

/** Names are quoted because one of the databases may have a declared name as a keyword. */
export function ident(name: string): string {
  return `"${name}"`;
}

export function idents(names: readonly string[], alias?: string): string {
  return names.map((name) => (alias === undefined ? ident(name) : `${alias}.${ident(name)}`)).join(', ');
}

export function columnsOf(table: AnyTable): Columns {
  return table.columns as Columns;
}

export function typeOf(columns: Columns, column: string): ColumnType {
  const declared = columns[column];
  if (declared === undefined) throw new StoreError('defect', `there is no column ${column}`);
  return baseType(declared);
}

export function baseType(type: NullableColumnType | ColumnType): ColumnType {
  return (isNullable(type) ? type.slice(0, -1) : type) as ColumnType;
}

export function isNullable(type: string): boolean {
  return type.endsWith('?');
}

/** A subset's predicate in literals, so that index and range have exactly the same condition. */
export function subsetPredicate(subset: Subset): string {
  if (subset.values.includes(null)) return `${ident(subset.column)} IS NULL`;
  const literals = subset.values.map(literal);
  if (literals.length === 1) return `${ident(subset.column)} = ${literals[0]}`;
  return `${ident(subset.column)} IN (${literals.join(', ')})`;
}

function literal(value: string | boolean | number | null): string {
  return typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : String(value);
}

/** Collects the values of a statement and hands out their placeholders. */
export class Parameters {
  readonly values: unknown[] = [];

  add(type: ColumnType, value: unknown): string {
    return `$${this.values.push(value)}::${type}`;
  }

  /** One array with the value that `pick` takes from each item. */
  array<T>(type: ColumnType, items: readonly T[], pick: (item: T) => unknown): string {
    return `$${this.values.push(arrayParameter(type, items.map(pick)))}::${type}[]`;
  }
}
