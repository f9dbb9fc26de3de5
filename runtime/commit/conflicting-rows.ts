import { type AnyRow, type AnyTable, tupleText } from '../table.ts';

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

  /** The row that holds the key, or one of the unique keys whose columns `wanted` has all of. */
  find(table: AnyTable, wanted: AnyRow): AnyRow | undefined {
    if (this.#byKey.size === 0) return undefined;
    for (const columns of uniqueKeys(table)) {
      if (!columns.every((column) => wanted[column] !== undefined)) continue;
      const row = this.#byKey.get(indexKey(table, columns, wanted));
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
