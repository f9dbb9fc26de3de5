/** One table of the model: rows by key, with the unique keys of its declaration. Every change can be undone. */

import {
  type CrossOwnerRead,
  type LookupRead,
  type RangeRead,
  StoreError,
  type StoreRows,
} from '../../../runtime/store/store.ts';
import {
  type AnyKey,
  type AnyRow,
  type AnyTable,
  type Columns,
  keyText,
  ownerColumn,
  type Subset,
  tupleText,
} from '../../../runtime/table.ts';

export type Undo = () => void;

export class ModelTable {
  readonly #table: AnyTable;
  readonly #rows = new Map<string, AnyRow>();
  /** For each unique key, the row's key by the unique value. */
  readonly #uniques: readonly {
    readonly columns: readonly string[];
    readonly holders: Map<string, string>;
  }[];

  constructor(table: AnyTable) {
    this.#table = table;
    const unique: readonly (readonly string[])[] = table.unique;
    this.#uniques = unique.map((columns) => ({ columns, holders: new Map() }));
  }

  put(row: AnyRow): Undo {
    const key = keyText(this.#table, row);
    const before = this.#rows.get(key);
    this.#assertKeysFree(key, row, before);
    const after = wholeRow(this.#table, row);
    this.#replace(key, before, after);
    return () => this.#replace(key, after, before);
  }

  remove(of: AnyKey): Undo {
    const key = keyText(this.#table, of);
    const before = this.#rows.get(key);
    this.#replace(key, before, undefined);
    return () => this.#replace(key, undefined, before);
  }

  get(key: AnyKey): AnyRow | undefined {
    requireAskable(this.#table, key);
    return this.#rows.get(keyText(this.#table, key));
  }

  lookup(columns: readonly string[], value: AnyKey): AnyRow | undefined {
    const unique = this.#uniques.find((known) => known.columns.join() === columns.join());
    if (unique === undefined && columns.join() === this.#table.key.join()) return this.get(value);
    if (unique === undefined) {
      throw new StoreError('defect', `${columns.join(', ')} is no unique key of ${this.#table.name}`);
    }
    requireAskable(this.#table, value);
    const key = unique.holders.get(tupleText(columns, value));
    return key === undefined ? undefined : this.#rows.get(key);
  }

  all(): readonly AnyRow[] {
    return [...this.#rows.values()];
  }

  range(read: RangeRead): StoreRows {
    const remaining = this.#inOrder(read, assertServable(this.#table, read, [read.subset]));
    return this.#page(read, remaining);
  }

  crossOwner(read: CrossOwnerRead, authorizes: (owner: string) => boolean): StoreRows {
    const table = this.#table;
    const order = assertServable(
      table,
      read,
      read.owners.map(({ subset }) => subset),
    );
    const authorized = read.owners.filter(({ owner }) => authorizes(owner));
    const isSucceeded = this.#succession();
    const remaining = authorized
      .flatMap((start) => this.#inOrder(start, order))
      .filter((row) => !isSucceeded(row));
    const page = this.#page(read, remaining);
    const leftOut = remaining[page.rows.length]?.[ownerColumn(table)];
    const cut = authorized.findIndex(({ owner }) => owner === leftOut);
    return {
      ...page,
      authorized: authorized.map(({ owner }, index) => ({ owner, complete: cut === -1 || index < cut })),
    };
  }

  /** Whether a row comes after another one. */
  #succession(): (row: AnyRow) => boolean {
    const { succession } = this.#table;
    if (succession === undefined) return () => false;
    const { of, by } = succession;
    const last = new Map<unknown, number>();
    for (const row of this.#rows.values())
      if (row[by] !== null) last.set(row[of], Math.max(Number(row[by]), last.get(row[of]) ?? 0));
    return (row) => (last.get(row[of]) ?? 0) > Number(row[by]);
  }

  #inOrder(
    { owner, after, through = Number.POSITIVE_INFINITY, subset }: Stretch,
    order: string,
  ): readonly AnyRow[] {
    const table = this.#table;
    return this.all()
      .filter((row) => row[ownerColumn(table)] === owner)
      .filter((row) => Number(row[order]) > after && Number(row[order]) <= through)
      .filter((row) => subset === undefined || inSubset(table.subsets[subset], row))
      .sort((a, b) => Number(a[order]) - Number(b[order]));
  }

  #page(read: RangeRead | CrossOwnerRead, remaining: readonly AnyRow[]): StoreRows {
    const { key, order, size } = this.#table;
    const rows = withinBudget(remaining.slice(0, read.limit), size, read.budgetBytes);
    return {
      rows: rows.map((row) => project(row, read.columns && [...read.columns, ...key, String(order)])),
      complete: rows.length === remaining.length,
    };
  }

  /** By the first columns of a key. */
  lookupAll({ unique, values, limit = 0, after, lastOfEach }: LookupRead): StoreRows {
    const { key, large, name, unique: uniques } = this.#table;
    const keys: readonly (readonly string[])[] = [key, ...uniques];
    const first = [...unique, ...Object.keys(after ?? {})];
    const whole = keys.find((columns) => {
      const named = after === undefined ? columns.slice(0, first.length) : columns;
      return named.join() === first.join();
    });
    if (whole === undefined)
      throw new StoreError('defect', `no key of ${name} begins with ${first.join(', ')}`);
    const isAfter = (row: AnyRow) => after === undefined || compareBy(Object.keys(after), row, after) > 0;
    if (limit < 1) throw new StoreError('defect', 'a limit is at least 1');
    const distinct = [...new Set(values.map((value) => tupleText(unique, value)))];
    const rows = distinct.flatMap((text) =>
      this.all()
        .filter((row) => isKey(whole, row) && tupleText(unique, row) === text && isAfter(row))
        .sort((a, b) => (lastOfEach === undefined ? compareBy(whole, a, b) : compareBy(whole, b, a)))
        .slice(0, lastOfEach),
    );
    const small = Object.keys(this.#table.columns).filter((column) => column !== large);
    return { rows: rows.slice(0, limit).map((row) => project(row, small)), complete: rows.length <= limit };
  }

  /** Without the large column in the rows beyond the budget. */
  fit(answer: StoreRows, budgetBytes: number | undefined): StoreRows {
    const { large, size, name } = this.#table;
    if (budgetBytes === undefined || large === undefined) return answer;
    if (size === undefined) throw new StoreError('defect', `table ${name} has no size`);
    let sum = 0;
    const beyond = new Set<AnyRow>();
    for (const row of answer.rows.toSorted((a, b) =>
      compareText(keyText(this.#table, a), keyText(this.#table, b)),
    )) {
      if (sum >= budgetBytes) beyond.add(row);
      sum += Number(row[size] ?? 0);
    }
    const small = Object.keys(this.#table.columns).filter((column) => column !== large);
    return { ...answer, rows: answer.rows.map((row) => (beyond.has(row) ? project(row, small) : row)) };
  }

  #assertKeysFree(key: string, row: AnyRow, before: AnyRow | undefined): void {
    const { generation, name } = this.#table;
    if (before !== undefined && generation !== undefined && before[generation] !== row[generation]) {
      throw new StoreError('rejected', `the key is taken in ${name}`);
    }
    for (const { columns, holders } of this.#uniques) {
      const holder = isKey(columns, row) ? holders.get(tupleText(columns, row)) : undefined;
      if (holder === undefined || holder === key) continue;
      throw new StoreError('rejected', `${columns.join(', ')} is taken in ${name}`);
    }
  }

  #replace(key: string, from: AnyRow | undefined, to: AnyRow | undefined): void {
    for (const { columns, holders } of this.#uniques) {
      if (from !== undefined && isKey(columns, from)) holders.delete(tupleText(columns, from));
      if (to !== undefined && isKey(columns, to)) holders.set(tupleText(columns, to), key);
    }
    if (to === undefined) this.#rows.delete(key);
    else this.#rows.set(key, to);
  }
}

/** As in SQL, a unique key with a null in it constrains nothing. */
function isKey(columns: readonly string[], row: AnyRow): boolean {
  return columns.every((column) => (row[column] ?? null) !== null);
}

/** A part of an owner's rows. */
type Stretch = Pick<RangeRead, 'owner' | 'after' | 'subset'> & { readonly through?: number };

/** The table's order column. */
function assertServable(
  table: AnyTable,
  read: Pick<RangeRead, 'limit' | 'budgetBytes'>,
  subsets: readonly (string | undefined)[],
): string {
  const { order } = table;
  const hasSubsets = subsets.every((subset) => subset === undefined || table.subsets[subset] !== undefined);
  const hasSize = read.budgetBytes === undefined || table.size !== undefined;
  if (order === undefined || !hasSubsets || !hasSize) {
    throw new StoreError('defect', `table ${table.name} does not declare what is asked for`);
  }
  if (read.limit < 1 || (read.budgetBytes ?? 1) < 1) {
    throw new StoreError('defect', 'limit and budget are at least 1');
  }
  return order;
}

function inSubset(subset: Subset | undefined, row: AnyRow): boolean {
  return subset !== undefined && (subset.values as readonly unknown[]).includes(row[subset.column]);
}

/** Each column with its type. */
function compareBy(columns: readonly string[], a: AnyRow, b: AnyRow): number {
  const differing = columns.find((column) => a[column] !== b[column]);
  if (differing === undefined) return 0;
  const [x, y] = [a[differing], b[differing]];
  return typeof x === 'number' ? x - Number(y) : compareText(String(x), String(y));
}

const compareText = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

function withinBudget(
  page: readonly AnyRow[],
  size: string | undefined,
  budgetBytes: number | undefined,
): readonly AnyRow[] {
  if (size === undefined || budgetBytes === undefined) return page;
  let sum = 0;
  const cut = page.findIndex((row) => {
    if (sum >= budgetBytes) return true;
    sum += Number(row[size] ?? 0);
    return false;
  });
  return cut === -1 ? page : page.slice(0, cut);
}

function project(row: AnyRow, columns: readonly string[] | undefined): AnyRow {
  if (columns === undefined) return row;
  return Object.fromEntries(Object.entries(row).filter(([column]) => columns.includes(column)));
}

/** The row with exactly the declared columns. Values that a database would refuse are a defect here too. */
function wholeRow(table: AnyTable, row: AnyRow): AnyRow {
  const columns = Object.entries(table.columns as Columns);
  return Object.freeze(
    Object.fromEntries(
      columns.map(([column, type]) => {
        const value = row[column] ?? null;
        if (!fits(type, value)) throw new StoreError('defect', `${table.name}.${column} is not ${type}`);
        return [column, value];
      }),
    ),
  );
}

/** A database refuses text that it cannot store, so the server must not send it. */
function requireAskable(table: AnyTable, key: AnyKey): void {
  if (Object.values(key).some((value) => typeof value === 'string' && !fits('text', value))) {
    throw new StoreError('defect', `no key of ${table.name} has such text`);
  }
}

const uuidPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

function fits(type: string, value: unknown): boolean {
  if (type.endsWith('?')) return value === null || fits(type.slice(0, -1), value);
  switch (type) {
    case 'uuid':
      return typeof value === 'string' && uuidPattern.test(value);
    case 'text':
      return typeof value === 'string' && !value.includes('\u0000');
    case 'int8':
      return Number.isSafeInteger(value);
    case 'bool':
      return typeof value === 'boolean';
    default:
      return Buffer.isBuffer(value);
  }
}
