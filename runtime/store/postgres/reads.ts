/** Reads generated from a table's declaration. Each names its columns and uses an index. */
import { type AnyRow, type AnyTable, ownerColumn, tupleText } from '../../table.ts';
import { type LookupRead, type RangeRead, StoreError, type StoreRead } from '../store.ts';
import {
  assertPage,
  carriedColumns,
  type LargeColumn,
  layoutOf,
  orderedColumns,
  orderOf,
  selectList,
  sizeOf,
  subsetCondition,
  wholeValue,
} from './columns.ts';
import { crossOwnerRead } from './cross-owner-read.ts';
import { type Dialect, firstOfEach, itemColumn } from './each.ts';
import { columnsOf, ident, idents, isNullable, Parameters, type PlannedRead, typeOf } from './sql.ts';

export function planRead(read: StoreRead, dialect: Dialect = 'PostgreSQL'): PlannedRead {
  switch (read.read) {
    case 'keys':
      return matchRead(read.table, read.table.key, read.keys, read.budgetBytes);
    case 'lookup':
      return lookupRead(read, dialect);
    case 'range':
      return read.budgetBytes === undefined ? limitedRange(read) : budgetedRange(read, read.budgetBytes);
    case 'crossOwner':
      return crossOwnerRead(read, dialect);
  }
}

function lookupRead(read: LookupRead, dialect: Dialect): PlannedRead {
  const { table, unique, values, budgetBytes } = read;
  if (read.limit !== undefined) return limitedLookup(read, read.limit, dialect);
  const keys: readonly (readonly string[])[] = [table.key, ...table.unique];
  if (!keys.some((columns) => columns.join() === unique.join())) {
    throw new StoreError('defect', `${unique.join(', ')} is no unique key of ${table.name}`);
  }
  return matchRead(table, unique, values, budgetBytes);
}

/** A look-up by the first columns of a key. The key's index finds the rows and has them in order. */
function limitedLookup(read: LookupRead, limit: number, dialect: Dialect): PlannedRead {
  assertPage({ limit });
  const { table, unique, values, lastOfEach } = read;
  const key = keyInOrder(read);
  const parameters = new Parameters();
  const distinct = [...new Map(values.map((value) => [tupleText(unique, value), value])).values()];
  const names = Object.keys(columnsOf(table)).filter((column) => column !== table.large);
  const matches = (value: (column: string) => string) =>
    [
      ...unique.map((column) => `s.${ident(column)} = ${value(column)}`),
      ...key.slice(unique.length).map((column) => `s.${ident(column)} IS NOT NULL`),
      ...afterIn(read, parameters),
    ].join(' AND ');
  // None of them is null. For a nullable column, both databases are told the same order of nulls, though there are none.
  const [direction, place] = lastOfEach === undefined ? ['', ' NULLS LAST'] : [' DESC', ' NULLS FIRST'];
  const nulls = (column: string) => (isNullable(columnsOf(table)[column] ?? '') ? place : '');
  const inKey = (alias: string) =>
    key.map((column) => `${alias}.${ident(column)}${direction}${nulls(column)}`).join(', ');
  const max = parameters.add('int8', limit + 1);
  const maxOfEach = lastOfEach === undefined ? max : parameters.add('int8', lastOfEach);
  const found = firstOfEach({
    dialect,
    parameters,
    selected: idents(names, 's'),
    alias: 't',
    items: distinct.map((value, index) => ({ value, index })),
    columns: [
      { name: 'index', type: 'int8', of: ({ index }) => index },
      ...unique.map((column) => {
        const type = typeOf(columnsOf(table), column);
        return { name: column, type, of: ({ value }: { value: AnyRow }) => value[column] ?? null };
      }),
    ],
    rows: (value) =>
      `FROM ${ident(table.name)} AS s WHERE ${matches(value)} ORDER BY ${inKey('s')} LIMIT ${maxOfEach}`,
  });
  const text = `SELECT ${idents(names, 't')} FROM ${found}
    ORDER BY ${itemColumn(dialect, 't', 'index')}, ${inKey('t')} LIMIT ${max}`;
  return {
    statement: { text, values: parameters.values },
    finish: (rows) => ({ rows: rows.slice(0, limit), complete: rows.length <= limit }),
  };
}

/** The key in whose order a look-up with a limit gives its rows. */
function keyInOrder({ table, unique, after }: LookupRead): readonly string[] {
  const keys: readonly (readonly string[])[] = [table.key, ...table.unique];
  const first = [...unique, ...Object.keys(after ?? {})].join();
  const columnsOfAll = after === undefined ? unique.length : undefined;
  const key = keys.find((columns) => columns.slice(0, columnsOfAll).join() === first);
  if (key === undefined) throw new StoreError('defect', `no key of ${table.name} begins with ${first}`);
  return key;
}

function afterIn({ table, after }: LookupRead, parameters: Parameters): readonly string[] {
  if (after === undefined) return [];
  const columns = Object.keys(after);
  const values = columns.map((column) =>
    parameters.add(typeOf(columnsOf(table), column), after[column] ?? null),
  );
  return [`(${idents(columns, 's')}) > (${values.join(', ')})`];
}

/** Rows whose `by` columns equal one of `requested`, in that order, without repeats. */
function matchRead(
  table: AnyTable,
  by: readonly string[],
  requested: readonly AnyRow[],
  budgetBytes: number | undefined,
): PlannedRead {
  const parameters = new Parameters();
  const arrays = by.map((column) =>
    parameters.array(typeOf(columnsOf(table), column), requested, (row) => row[column] ?? null),
  );
  const names = by.map(ident).join(', ');
  const matches = by.map((column) => `t.${ident(column)} = w.${ident(column)}`).join(' AND ');
  const from = `FROM unnest(${arrays.join(', ')}) AS w(${names}) JOIN ${ident(table.name)} AS t ON ${matches}`;
  const { large } = layoutOf(table);
  if (large !== undefined && budgetBytes !== undefined) {
    return budgetedMatch({
      table,
      large,
      from,
      parameters,
      budgetBytes,
      inRequestedOrder: (rows) => inOrder(by, requested, rows),
    });
  }
  const text = `SELECT ${selectList(table, Object.keys(columnsOf(table)), 't')} ${from}`;
  return {
    statement: { text, values: parameters.values },
    finish: (rows) => ({ rows: inOrder(by, requested, rows), complete: true }),
  };
}

/** As with a range, large columns beyond the budget are never fetched. Here the rest of the row is. */
function budgetedMatch({
  table,
  large,
  from,
  parameters,
  budgetBytes,
  inRequestedOrder,
}: {
  readonly table: AnyTable;
  readonly large: LargeColumn;
  readonly from: string;
  readonly parameters: Parameters;
  readonly budgetBytes: number;
  readonly inRequestedOrder: (rows: readonly AnyRow[]) => readonly AnyRow[];
}): PlannedRead {
  const columns = Object.keys(columnsOf(table));
  const carried = [...columns, large.count].map((column) => `t.${ident(column)}`).join(', ');
  const size = `coalesce(t.${ident(sizeOf(table))}, 0)`;
  const keys = table.key.map((column) => `t.${ident(column)}`).join(', ');
  const small = columns.filter((column) => column !== large.column).map((column) => `t.${ident(column)}`);
  const text = `SELECT ${small.join(', ')}, t.fits,
      CASE WHEN t.fits THEN ${wholeValue(table, large, 't')} END AS ${ident(large.column)}
    FROM (SELECT ${carried}, sum(${size}) OVER (ORDER BY ${keys} ROWS UNBOUNDED PRECEDING)::int8 - ${size}
        < ${parameters.add('int8', budgetBytes)} AS fits ${from}) AS t`;
  return {
    statement: { text, values: parameters.values },
    finish: (rows) => ({ rows: inRequestedOrder(rows.map((row) => fitted(row, large))), complete: true }),
  };
}

function fitted({ fits, ...row }: AnyRow, large: LargeColumn): AnyRow {
  if (fits === true) return row;
  const { [large.column]: _, ...rest } = row;
  return rest;
}

function inOrder(
  by: readonly string[],
  requested: readonly AnyRow[],
  rows: readonly AnyRow[],
): readonly AnyRow[] {
  const found = new Map(rows.map((row) => [tupleText(by, row), row]));
  const keyTexts = new Set(requested.map((row) => tupleText(by, row)));
  return [...keyTexts].map((text) => found.get(text)).filter((row) => row !== undefined);
}

function limitedRange(read: RangeRead): PlannedRead {
  const parameters = new Parameters();
  const { order, where } = rangeCondition(read, parameters);
  const text = `SELECT ${selectList(read.table, orderedColumns(read.table, read.columns), 't')} FROM ${ident(read.table.name)} AS t
    WHERE ${where} ORDER BY t.${ident(order)} LIMIT ${parameters.add('int8', read.limit + 1)}`;
  return {
    statement: { text, values: parameters.values },
    finish: (rows) => ({ rows: rows.slice(0, read.limit), complete: rows.length <= read.limit }),
  };
}

/**
 * The running sum of sizes cuts the page before the large column is put together, so content beyond the budget is never
 * fetched. A row is in while the sum of the rows before it is below the budget.
 */
function budgetedRange(read: RangeRead, budgetBytes: number): PlannedRead {
  const { table } = read;
  const sizeColumn = sizeOf(table);
  const parameters = new Parameters();
  const { order, where } = rangeCondition(read, parameters);
  const columns = orderedColumns(table, read.columns);
  const carried = idents([...new Set([...carriedColumns(table, columns), sizeColumn])]);
  const size = `coalesce(${ident(sizeColumn)}, 0)`;
  const text = `SELECT ${selectList(table, columns, 't')}, t.available FROM (
      SELECT ${carried}, count(*) OVER () AS available,
        sum(${size}) OVER (ORDER BY ${ident(order)} ROWS UNBOUNDED PRECEDING)::int8 - ${size} AS preceding
      FROM (SELECT ${carried} FROM ${ident(table.name)} AS t WHERE ${where}
        ORDER BY t.${ident(order)} LIMIT ${parameters.add('int8', read.limit + 1)}) AS page
    ) AS t WHERE t.preceding < ${parameters.add('int8', budgetBytes)}
    ORDER BY t.${ident(order)} LIMIT ${parameters.add('int8', read.limit)}`;
  return {
    statement: { text, values: parameters.values },
    finish: (rows) => ({
      rows: rows.map(({ available: _, ...row }) => row),
      complete: rows.length === (rows[0]?.['available'] ?? 0),
    }),
  };
}

function rangeCondition(read: RangeRead, parameters: Parameters): { order: string; where: string } {
  const { table } = read;
  assertPage(read);
  const order = orderOf(table);
  const owner = ownerColumn(table);
  const conditions = [
    `t.${ident(owner)} = ${parameters.add(typeOf(columnsOf(table), owner), read.owner)}`,
    `t.${ident(order)} > ${parameters.add('int8', read.after)}`,
    `t.${ident(order)} <= ${parameters.add('int8', read.through)}`,
  ];
  if (read.subset !== undefined) conditions.push(subsetCondition(table, read.subset));
  return { order, where: conditions.join(' AND ') };
}
