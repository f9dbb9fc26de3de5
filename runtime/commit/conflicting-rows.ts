import { type RepeatingOptions, readRepeated } from '../read/read-repeated.ts';
import type { Commit, StoreRead, Write } from '../store/store.ts';
import { type AnyRow, type AnyTable, keyText, rejectsByKey, tupleText } from '../table.ts';

/** A committed row whose unique key made a commit fail. */
export interface ConflictingRow {
  readonly table: AnyTable;
  readonly row: AnyRow;
}

/**
 * The rows that the rejections of a message have shown, found by any of their unique keys. The latest version of a row counts.
 */
export class ConflictingRows {
  static readonly none = new ConflictingRows();
  readonly #byKey: ReadonlyMap<string, AnyRow>;

  private constructor(byKey: ReadonlyMap<string, AnyRow> = new Map()) {
    this.#byKey = byKey;
  }

  with(rows: readonly ConflictingRow[]): ConflictingRows {
    if (rows.length === 0) return this;
    const byKey = new Map(this.#byKey);
    for (const { table, row } of rows) {
      for (const columns of uniqueKeys(table)) byKey.set(indexKey(table, columns, row), row);
    }
    return new ConflictingRows(byKey);
  }

  /** The row that holds the key, or one of the unique keys whose columns are all in `values`. */
  find(table: AnyTable, values: AnyRow): AnyRow | undefined {
    if (this.#byKey.size === 0) return undefined;
    for (const columns of uniqueKeys(table)) {
      if (!columns.every((column) => values[column] !== undefined)) continue;
      const row = this.#byKey.get(indexKey(table, columns, values));
      if (row !== undefined) return row;
    }
    return undefined;
  }
}

function uniqueKeys(table: AnyTable): readonly (readonly string[])[] {
  return [table.key, ...table.unique];
}

function indexKey(table: AnyTable, columns: readonly string[], row: AnyRow): string {
  return `${table.name} ${columns.join()} ${tupleText(columns, row)}`;
}

/**
 * Finds the cause when a batch was rejected for a taken key. For all commits at once, one query per key looks up the committed
 * rows that hold the keys wanted.
 */
export interface Rejection {
  /** Committed rows in the way of the commit. A row that the commit knowingly rewrites or removes is not in its way. */
  readonly conflicting: readonly ConflictingRow[];
  /** An earlier commit of the batch wants the same key. */
  readonly isRival: boolean;
}

/** For each of these commits, in order, the known causes of its rejection. @throws StoreError */
export async function findRejections(
  options: RepeatingOptions,
  commits: readonly Pick<Commit, 'writes'>[],
): Promise<readonly Rejection[]> {
  const uniqueValues = commits.map(({ writes }) => uniqueValuesOf(writes));
  const holders = await findHolders(options, uniqueValues.flat());
  const claimed = new Set<string>();
  return commits.map(({ writes }, index) => {
    const keys = uniqueValues[index] ?? [];
    const own = new Set(writes.flatMap(ownRow));
    const isRival = keys.some(({ id }) => claimed.has(id));
    for (const { id } of keys) claimed.add(id);
    const conflicting = keys.flatMap(({ id, table }) => {
      const row = holders.get(id);
      return row === undefined || own.has(rowId(table, row)) ? [] : [{ table, row }];
    });
    return { conflicting, isRival };
  });
}

/** One value of a key for which a row may be rejected. */
interface UniqueValue {
  readonly id: string;
  readonly table: AnyTable;
  readonly unique: readonly string[];
  readonly value: AnyRow;
}

function uniqueValuesOf(writes: readonly Write[]): readonly UniqueValue[] {
  return writes.flatMap((write) =>
    'put' in write
      ? rejectingKeys(write.table)
          .filter((unique) => unique.every((column) => (write.put[column] ?? null) !== null))
          .map((unique) => uniqueValueOf(write.table, unique, write.put))
      : [],
  );
}

function uniqueValueOf(table: AnyTable, unique: readonly string[], row: AnyRow): UniqueValue {
  const value = Object.fromEntries(unique.map((column) => [column, row[column] ?? null]));
  return { id: keyId(table, unique, value), table, unique, value };
}

const keyId = (table: AnyTable, unique: readonly string[], row: AnyRow) =>
  `${table.name} ${unique.join()} ${tupleText(unique, row)}`;

async function findHolders(
  options: RepeatingOptions,
  uniqueValues: readonly UniqueValue[],
): Promise<ReadonlyMap<string, AnyRow>> {
  const byKey = new Map<string, { readonly of: UniqueValue; readonly values: Map<string, AnyRow> }>();
  for (const key of uniqueValues) {
    const name = `${key.table.name} ${key.unique.join()}`;
    const same = byKey.get(name) ?? { of: key, values: new Map<string, AnyRow>() };
    same.values.set(key.id, key.value);
    byKey.set(name, same);
  }
  const lookups = [...byKey.values()];
  if (lookups.length === 0) return new Map();
  const reads = lookups.map(({ of: { table, unique }, values }): StoreRead => {
    // No large columns: those of a whole batch would have no bound in memory.
    return { read: 'lookup', table, unique, values: [...values.values()], budgetBytes: 0 };
  });
  const answers = await readRepeated(options, reads);
  return new Map(
    lookups.flatMap(({ of: { table, unique } }, index) =>
      (answers[index]?.rows ?? []).map((row) => [keyId(table, unique, row), row] as const),
    ),
  );
}

const rowId = (table: AnyTable, row: AnyRow) => `${table.name}\u0000${keyText(table, row)}`;

function ownRow(write: Write): readonly string[] {
  if ('remove' in write) return [rowId(write.table, write.remove)];
  return write.isNew ? [] : [rowId(write.table, write.put)];
}

function rejectingKeys(table: AnyTable): readonly (readonly string[])[] {
  return rejectsByKey(table) ? [table.key, ...table.unique] : table.unique;
}
