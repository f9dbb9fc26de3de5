/**
 * The first rows for each of several shards, owners or values, up to a limit for each, in the order of an index.
 *
 *   PostgreSQL    LATERAL over arrays: one text for any number, and the database stops at the last row that is wanted
 *   CockroachDB   one branch of UNION ALL for each: there a limit within LATERAL becomes a sort of every match
 *                 (docs/decisions/0021-what-is-said-to-cockroachdb-alone.md)
 *
 * The number of branches is rounded up to a power of two, so that few texts are prepared. A surplus branch asks for null, which
 * nothing equals.
 */
import type { ColumnType } from '../../table.ts';
import { ident, type Parameters } from './sql.ts';

export type Dialect = 'PostgreSQL' | 'CockroachDB';

/** The most shards that a statement names: each is a branch there, and the planner goes through all of them. */
export const shardsMax: Readonly<Record<Dialect, number>> = {
  PostgreSQL: Number.POSITIVE_INFINITY,
  CockroachDB: 64,
};

interface EachColumn<T> {
  readonly name: string;
  readonly type: ColumnType;
  readonly of: (item: T) => unknown;
}

export interface Each<T> {
  readonly dialect: Dialect;
  readonly parameters: Parameters;
  readonly items: readonly T[];
  readonly columns: readonly EachColumn<T>[];
  /** The columns selected from each row. */
  readonly selected: string;
  /** The SQL from FROM to LIMIT. `value` gives the expression for a column of the item. */
  readonly rows: (value: (column: string) => string) => string;
  /** The alias of the rows. */
  readonly alias: string;
}

/** The SQL after FROM. */
export function firstOfEach<T>(each: Each<T>): string {
  const { dialect, parameters, items, columns, selected, rows, alias } = each;
  if (dialect === 'CockroachDB') return `(${branchesOf(each).join(' UNION ALL ')}) AS ${alias}`;
  const arrays = columns.map(({ type, of }) => parameters.array(type, items, of));
  const names = columns.map(({ name }) => ident(name)).join(', ');
  const value = (column: string) => `w.${ident(column)}`;
  return `unnest(${arrays.join(', ')}) AS w(${names})
    CROSS JOIN LATERAL (SELECT ${selected} ${rows(value)}) AS ${alias}`;
}

/** A column of the item for which a row was found. */
export const itemColumn = (dialect: Dialect, alias: string, column: string): string =>
  dialect === 'CockroachDB' ? `${alias}.${ident(`asked_${column}`)}` : `w.${ident(column)}`;

/** Each row comes with the columns of its item. */
export function branchesOf<T>({
  parameters,
  items,
  columns,
  selected,
  rows,
}: Omit<Each<T>, 'dialect' | 'alias'>): readonly string[] {
  return padded(items).map((item) => {
    const values = new Map(
      columns.map(({ name, type, of }) => [name, parameters.add(type, item === null ? null : of(item))]),
    );
    const value = (column: string) => values.get(column) ?? 'NULL';
    const carried = columns.map(({ name }) => `${value(name)} AS ${ident(`asked_${name}`)}`).join(', ');
    return `(SELECT ${carried}, ${selected} ${rows(value)})`;
  });
}

function padded<T>(items: readonly T[]): readonly (T | null)[] {
  const count = 2 ** Math.ceil(Math.log2(Math.max(1, items.length)));
  return Array.from({ length: count }, (_, index) => items[index] ?? null);
}
