/**
 * Declared tables. State that is large, numerous or growing lives in their rows. The runtime generates every read and write
 * from the declaration.
 *
 * Invariants that the store relies on:
 * - The first key column of a domain's table is the id of the actor that owns the row (its collection, its user). So an upsert
 *   by key can only touch a row of its own actor.
 * - `generation` names a column that tells a *new* row from a rewritten one. It is part of the SQL primary key and never
 *   changes in the life of a row. A new row has a value there that no earlier row of that owner had. So an upsert whose key
 *   exists under another generation violates `key`, which is kept as a unique index. It does not overwrite a row that its turn
 *   has not read.
 * - `unique` keys hold on the whole server, across all owners. Violating one rejects the whole commit (see
 *   runtime/store/postgres/commit.ts, "rejections").
 */

export type ColumnType = 'uuid' | 'text' | 'int8' | 'bool' | 'bytea';
export type NullableColumnType = `${ColumnType}?`;
export type Columns = Readonly<Record<string, ColumnType | NullableColumnType>>;

type ColumnValues = { uuid: string; text: string; int8: number; bool: boolean; bytea: Buffer };
export type ColumnValue<T> = T extends `${infer Base extends ColumnType}?`
  ? ColumnValues[Base] | null
  : T extends ColumnType
    ? ColumnValues[T]
    : never;

/** One row as the domain sees it: every column, `int8` as a safe integer, `uuid` as lower-case text. */
type Row<C extends Columns = Columns> = { readonly [Name in keyof C]: ColumnValue<C[Name]> };
/** A row of a table whose columns are not known statically, as the store handles it. */
export type AnyRow = Readonly<Record<string, string | number | boolean | Buffer | null>>;

export interface Table<
  C extends Columns = Columns,
  K extends keyof C & string = keyof C & string,
  S extends string = string,
> {
  readonly name: string;
  readonly columns: C;
  /** The logical key, unique in the table. Its first column is the owner. */
  readonly key: readonly K[];
  readonly generation?: (keyof C & string) | undefined;
  /** Keys that are unique on the whole server, beyond `key`. A key with a null in it constrains nothing. */
  readonly unique: readonly (readonly (keyof C & string)[])[];
  /** Columns that are null in nearly every row. The indexes of unique keys leave those rows out. */
  readonly sparse: readonly (keyof C & string)[];
  /** The domain makes sure that a row whose `key` is taken violates one of the `unique` keys as well. */
  readonly keyImplied?: boolean | undefined;
  /**
   * An `int8` column, unique within an owner, that orders the owner's rows. It is indexed as (owner, order). Every write gives
   * the row an order above all that its owner's rows ever had.
   */
  readonly order?: (keyof C & string) | undefined;
  /** An `int8` column that holds a row's size in bytes, for reads with a byte budget. */
  readonly size?: (keyof C & string) | undefined;
  /** Its rows leave memory once they are durable. So they push out no rows that are read again. */
  readonly rarelyRead?: boolean | undefined;
  /** A `text?` column for large values (up to 16 MiB). The store keeps values above 512 KiB in parts. */
  readonly large?: (keyof C & string) | undefined;
  /** Named constant predicates that a range may ask for. A plan that names another one does not compile. */
  readonly subsets: Readonly<Record<S, Subset>>;
  /**
   * Rows of several owners may stand for one thing: rows with the same `of`. The row with the greatest `by`, where null counts
   * as 0, has succeeded the others, and a cross-owner read leaves those out. `by` is sparse. [of, by] is one of `unique`.
   */
  readonly succession?: Succession<keyof C & string> | undefined;
}

export interface Succession<Column extends string = string> {
  readonly of: Column;
  readonly by: Column;
}

export interface Subset<Column extends string = string> {
  /**
   * Rare rows have an index of their own. Without one the range filters. That costs nothing if most rows are in the subset, and
   * spares every write the index.
   */
  readonly indexed: boolean;
  readonly column: Column;
  /** If null is a value, it is the only one. */
  readonly values: readonly (string | boolean | number | null)[];
}

// biome-ignore lint/suspicious/noExplicitAny: the one place where a table of any columns is meant
export type AnyTable = Table<any, any, any>;
export type RowOf<T> = T extends Table<infer C, string, string> ? Row<C> : never;
export type KeyOf<T> =
  T extends Table<infer C, infer K, string> ? { readonly [Name in K]: ColumnValue<C[Name]> } : never;
/** The names of the table's subsets. */
export type SubsetOf<T> = T extends Table<infer _C, infer _K, infer S extends string> ? S : never;
export type AnyKey = AnyRow;

export function table<
  const C extends Columns,
  const K extends keyof C & string,
  const S extends string = never,
>(definition: {
  name: string;
  columns: C;
  key: readonly K[];
  generation?: keyof C & string;
  unique?: readonly (readonly (keyof C & string)[])[];
  sparse?: readonly (keyof C & string)[];
  keyImplied?: boolean;
  order?: keyof C & string;
  size?: keyof C & string;
  rarelyRead?: boolean;
  large?: keyof C & string;
  subsets?: Readonly<Record<S, Subset<keyof C & string>>>;
  succession?: Succession<keyof C & string>;
}): Table<C, K, S> {
  return { unique: [], sparse: [], ...definition, subsets: definition.subsets ?? ({} as Record<S, Subset>) };
}

/** The column that holds the owner's id. */
export function ownerColumn(of: AnyTable): string {
  const [first] = of.key;
  if (first === undefined) throw new Error(`table ${of.name} has no key`);
  return first;
}

/** Whether a taken `key` rejects a commit by itself: with `generation`, and unless a server-wide key implies it. */
export function rejectsByKey(of: AnyTable): boolean {
  if (of.generation === undefined || of.key.includes(of.generation) || of.keyImplied) return false;
  const unique: readonly (readonly string[])[] = of.unique;
  return !unique.some((columns) => columns.every((column) => of.key.includes(column)));
}

/** A text that is equal for two rows (or keys) of a table exactly when their keys are. */
export function keyText(of: AnyTable, row: AnyKey): string {
  return tupleText(of.key, row);
}

/** A text that is equal for two rows exactly when the named columns are. */
export function tupleText(columns: readonly string[], row: AnyKey): string {
  let text = '';
  let separator = '';
  for (const column of columns) {
    text += separator + String(row[column]);
    separator = '\u0000';
  }
  return text;
}

/**
 * Whether a text column can hold it. The database cannot store NUL, and UTF-8 cannot encode half of a surrogate pair: such text
 * would fail or come back changed.
 */
export function isStorableText(value: string): boolean {
  // Every supported Node has the method; the language level of the types does not.
  const text = value as string & { isWellFormed(): boolean };
  return text.isWellFormed() && !text.includes('\0');
}
