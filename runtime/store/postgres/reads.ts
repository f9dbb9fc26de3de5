/** Reads generated from a table's declaration. Each names its columns, and goes by an index. */
import type { AnyRow, AnyTable } from '../../table.ts';
import { ownerColumn, tupleText } from '../../table.ts';
import { type LookupRead, type RangeRead, StoreError, type StoreRead, type StoreRows } from '../store.ts';
import { type LargeColumn, wholeValue } from './large.ts';
import { layoutOf } from './layout.ts';
import { columnsOf, ident, Parameters, type Statement, subsetPredicate, typeOf } from './sql.ts';

export interface PlannedRead {
  readonly statement: Statement;
  readonly finish: (rows: readonly AnyRow[]) => StoreRows;
}

export function planRead(read: StoreRead): PlannedRead {
  switch (read.read) {
    case 'keys':
      return matchRead(read.table, read.table.key, read.keys, read.budgetBytes);
    case 'lookup':
      return lookupRead(read);
    case 'range':
      return read.budgetBytes === undefined ? limitedRange(read) : budgetedRange(read, read.budgetBytes);
  }
}

function lookupRead({ table, unique, values, budgetBytes }: LookupRead): PlannedRead {
  const keys: readonly (readonly string[])[] = [table.key, ...table.unique];
  if (!keys.some((columns) => columns.join() === unique.join())) {
    throw new StoreError('defect', `${unique.join(', ')} is no unique key of ${table.name}`);
  }
  return matchRead(table, unique, values, budgetBytes);
}

/** Rows whose `by` columns equal one of `wanted`, in the order wanted, each once. */
function matchRead(
  table: AnyTable,
  by: readonly string[],
  wanted: readonly AnyRow[],
  budgetBytes: number | undefined,
): PlannedRead {
  const parameters = new Parameters();
  const arrays = by.map((column) =>
    parameters.array(typeOf(columnsOf(table), column), wanted, (row) => row[column] ?? null),
  );
  const names = by.map(ident).join(', ');
  const matches = by.map((column) => `t.${ident(column)} = w.${ident(column)}`).join(' AND ');
  const from = `FROM unnest(${arrays.join(', ')}) AS w(${names}) JOIN ${ident(table.name)} AS t ON ${matches}`;
  const { large } = layoutOf(table);
  if (large !== undefined && budgetBytes !== undefined) {
    return budgetedMatch(table, large, from, parameters, budgetBytes, (rows) => inOrder(by, wanted, rows));
  }
  const text = `SELECT ${selectList(table, Object.keys(columnsOf(table)), 't')} ${from}`;
  return {
    statement: { text, values: parameters.values },
    finish: (rows) => ({ rows: inOrder(by, wanted, rows), complete: true }),
  };
}

/** As for a range, what is beyond the budget is never fetched; but here the rest of its row is. */
function budgetedMatch(
  table: AnyTable,
  large: LargeColumn,
  from: string,
  parameters: Parameters,
  budgetBytes: number,
  inOrderWanted: (rows: readonly AnyRow[]) => readonly AnyRow[],
): PlannedRead {
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
    finish: (rows) => ({ rows: inOrderWanted(rows.map((row) => fitted(row, large))), complete: true }),
  };
}

function fitted({ fits, ...row }: AnyRow, large: LargeColumn): AnyRow {
  if (fits === true) return row;
  const { [large.column]: _, ...rest } = row;
  return rest;
}

function sizeOf({ name, size }: AnyTable): string {
  if (size === undefined) throw new StoreError('defect', `table ${name} has no size`);
  return size;
}

function inOrder(
  by: readonly string[],
  wanted: readonly AnyRow[],
  rows: readonly AnyRow[],
): readonly AnyRow[] {
  const found = new Map(rows.map((row) => [tupleText(by, row), row]));
  const asked = new Set(wanted.map((row) => tupleText(by, row)));
  return [...asked].map((text) => found.get(text)).filter((row) => row !== undefined);
}

function limitedRange(read: RangeRead): PlannedRead {
  const parameters = new Parameters();
  const { order, where } = rangeCondition(read, parameters);
  const text = `SELECT ${selectList(read.table, rangeColumns(read), 't')} FROM ${ident(read.table.name)} AS t
    WHERE ${where} ORDER BY t.${ident(order)} LIMIT ${parameters.add('int8', read.limit + 1)}`;
  return {
    statement: { text, values: parameters.values },
    finish: (rows) => ({ rows: rows.slice(0, read.limit), complete: rows.length <= read.limit }),
  };
}

/**
 * The page is cut by the running sum of sizes before the large column is put together, so content beyond the
 * budget is never fetched. A row is in while the sum of those before it is below the budget.
 */
function budgetedRange(read: RangeRead, budgetBytes: number): PlannedRead {
  const { table } = read;
  const sizeColumn = sizeOf(table);
  if (budgetBytes < 1) throw new StoreError('defect', 'a byte budget is at least 1');
  const parameters = new Parameters();
  const { order, where } = rangeCondition(read, parameters);
  const { large } = layoutOf(table);
  const asked = rangeColumns(read);
  const counts = large !== undefined && asked.includes(large.column) ? [large.count] : [];
  const carried = [...new Set([...asked, ...table.key, sizeColumn, ...counts])].map(ident).join(', ');
  const size = `coalesce(${ident(sizeColumn)}, 0)`;
  const text = `SELECT ${selectList(table, asked, 't')}, t.available FROM (
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
  if (table.order === undefined) throw new StoreError('defect', `table ${table.name} has no order`);
  if (read.limit < 1) throw new StoreError('defect', 'a limit is at least 1');
  const owner = ownerColumn(table);
  const conditions = [
    `t.${ident(owner)} = ${parameters.add(typeOf(columnsOf(table), owner), read.owner)}`,
    `t.${ident(table.order)} > ${parameters.add('int8', read.after)}`,
    `t.${ident(table.order)} <= ${parameters.add('int8', read.through)}`,
  ];
  if (read.subset === undefined) return { order: table.order, where: conditions.join(' AND ') };
  const subset = table.subsets[read.subset];
  if (subset === undefined)
    throw new StoreError('defect', `table ${table.name} has no subset ${read.subset}`);
  return { order: table.order, where: [...conditions, subsetPredicate(subset)].join(' AND ') };
}

/** In the order declared, so that one set of columns is one statement. */
function rangeColumns(read: RangeRead): readonly string[] {
  const declared = Object.keys(columnsOf(read.table));
  if (read.columns === undefined) return declared;
  const wanted = new Set<string>([
    ...read.columns,
    ...read.table.key,
    ...(read.table.order ? [read.table.order] : []),
  ]);
  return declared.filter((column) => wanted.has(column));
}

function selectList(table: AnyTable, columns: readonly string[], alias: string): string {
  const { large } = layoutOf(table);
  return columns
    .map((column) =>
      large?.column === column
        ? `${wholeValue(table, large, alias)} AS ${ident(column)}`
        : `${alias}.${ident(column)}`,
    )
    .join(', ');
}
