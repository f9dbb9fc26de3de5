/** The few pieces of SQL that every generated statement uses. */
import type { AnyRow, AnyTable, Columns, ColumnType, NullableColumnType, Subset } from '../../table.ts';
import { StoreError, type StoreRows } from '../store.ts';

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
  /** Its large column, and the column with the number of a row's parts. */
  readonly large?: { readonly column: string; readonly count: string } | undefined;
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

// --- arrays --------------------------------------------------------------------------------------------------

/*
 * An array as a parameter of a statement: a commit sends every column of its rows as one.
 *
 * Ciphertext and bytes go in binary format. In text format each of their bytes would be looked at for quotes here, and
 * once more where the database parses them. Short texts go as one text for all, which costs less than a call for each.
 *
 * The binary layout: dimensions, whether there are nulls, the type of the elements, their number, the first index. Then
 * for each element its length (-1 for null) and its bytes.
 */

/** From this mean length on, texts go in binary format. */
const longLength = 64;
const headBytes = 20;
const lengthBytes = 4;
const typeIds = { bytea: 17, text: 25 } as const;

type Nullable<T> = readonly (T | null | undefined)[];

export function arrayParameter(type: ColumnType, values: readonly unknown[]): unknown {
  if (values.length === 0) return values;
  if (type === 'bytea') return arrayOfBytes(values as Nullable<Uint8Array>);
  if (values.every(needsNoQuotes)) return `{${values.map((value) => value ?? 'NULL').join(',')}}`;
  if (type === 'text' && areLong(values as Nullable<string>)) return arrayOfTexts(values as Nullable<string>);
  return values.every(needsNoEscape) ? `{${values.map(quoted).join(',')}}` : values;
}

const needsNoEscape = (value: unknown): boolean =>
  typeof value === 'string' ? !escaped.test(value) : value === null || value === undefined;

const escaped = /["\\]/;

const quoted = (value: unknown): string => (value === null || value === undefined ? 'NULL' : `"${value}"`);

const needsNoQuotes = (value: unknown): boolean =>
  typeof value === 'number' || typeof value === 'boolean' || value === null || value === undefined;

function areLong(values: Nullable<string>): boolean {
  let length = 0;
  for (const value of values) length += value?.length ?? 0;
  return length >= longLength * values.length;
}

function arrayOfBytes(values: Nullable<Uint8Array>): Buffer {
  const lengths = values.map((value) => value?.length ?? -1);
  return filled(typeIds.bytea, lengths, (array, at, index) => array.set(values[index] ?? [], at));
}

function arrayOfTexts(values: Nullable<string>): Buffer {
  const lengths = values.map((value) =>
    value === null || value === undefined ? -1 : Buffer.byteLength(value),
  );
  return filled(typeIds.text, lengths, (array, at, index) => array.write(values[index] ?? '', at));
}

function filled(
  typeId: number,
  lengths: readonly number[],
  write: (array: Buffer, at: number, index: number) => void,
): Buffer {
  const bytes = lengths.reduce((sum, length) => sum + lengthBytes + Math.max(0, length), headBytes);
  const array = Buffer.allocUnsafe(bytes);
  let at = 0;
  for (const field of [1, lengths.includes(-1) ? 1 : 0, typeId, lengths.length, 1])
    at = array.writeInt32BE(field, at);
  for (const [index, length] of lengths.entries()) {
    at = array.writeInt32BE(length, at);
    if (length <= 0) continue;
    write(array, at, index);
    at += length;
  }
  return array;
}
