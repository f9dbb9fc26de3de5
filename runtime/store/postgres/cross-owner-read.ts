/**
 * A cross-owner read is one statement. Its one snapshot holds the membership table and the rows alike.
 *
 *   authorized  the owners whose membership table has a row for the reader: one look into its key for each owner asked
 *   page        their rows, one owner after the other, up to one beyond the limit: one look into the index by order for each. On
 *               PostgreSQL it stops when there are enough. If rows succeed each other, it takes one more look for each row
 *   fitting     whether the limit and the running sum of sizes still have room for each row
 *
 * An authorized reader gets an answer, with rows or without. The first row that does not fit is never fetched. Each row of the
 * answer carries the position of that row's owner.
 */
import { type AnyRow, type AnyTable, ownerColumn } from '../../table.ts';
import { type CrossOwnerRead, StoreError, type StoreRows } from '../store.ts';
import {
  assertPage,
  carriedColumns,
  orderedColumns,
  orderOf,
  selectList,
  sizeOf,
  subsetCondition,
} from './columns.ts';
import { branchesOf, type Dialect } from './each.ts';
import { columnsOf, ident, Parameters, type PlannedRead, typeOf } from './sql.ts';

export function crossOwnerRead(read: CrossOwnerRead, dialect: Dialect): PlannedRead {
  assertPage(read);
  const { table, budgetBytes } = read;
  const parameters = new Parameters();
  const order = ident(orderOf(table));
  const columns = orderedColumns(table, read.columns);
  const carried = [
    ...new Set([...carriedColumns(table, columns), ...(budgetBytes === undefined ? [] : [sizeOf(table)])]),
  ].map(ident);
  const inOrder = `(ORDER BY p.asked_index, p.${order} ROWS UNBOUNDED PRECEDING)`;
  const fits = [`count(*) OVER ${inOrder} <= ${parameters.add('int8', read.limit)}`];
  if (budgetBytes !== undefined) {
    const size = `coalesce(p.${ident(sizeOf(table))}, 0)`;
    fits.push(`sum(${size}) OVER ${inOrder}::int8 - ${size} < ${parameters.add('int8', budgetBytes)}`);
  }
  const text = `WITH authorized AS (${authorized(read, parameters)}),
    page AS (SELECT a.asked_index, ${carried.map((column) => `t.${column}`).join(', ')}
      FROM ${dialect === 'CockroachDB' ? rowsOfEach(read, carried, parameters) : rowsOfAuthorized(read, carried, parameters)}
      ORDER BY a.asked_index, t.${order} LIMIT ${parameters.add('int8', read.limit + 1)}),
    fitting AS (SELECT p.asked_index, ${carried.map((column) => `p.${column}`).join(', ')},
      ${fits.join(' AND ')} AS fits FROM page AS p)
    SELECT a.asked_index, (SELECT min(f.asked_index) FROM fitting AS f WHERE NOT f.fits) AS cut_index,
      ${selectList(table, columns, 't')}
    FROM authorized AS a LEFT JOIN fitting AS t ON t.asked_index = a.asked_index AND t.fits
    ORDER BY a.asked_index, t.${order}`;
  return {
    statement: { text, values: parameters.values },
    finish: (rows) => finish(read, rows),
  };
}

function authorized({ table, membership, owners }: CrossOwnerRead, parameters: Parameters): string {
  const [owner, member, ...others] = membership.table.key as readonly string[];
  if (owner === undefined || member === undefined || others.length > 0)
    throw new StoreError(
      'defect',
      `the key of the membership table ${membership.table.name} is not [owner, member]`,
    );
  if (new Set(owners.map((each) => each.owner)).size < owners.length)
    throw new StoreError('defect', 'an owner is asked twice in one read');
  const arrays = [
    parameters.array('int8', [...owners.keys()], (index) => index),
    parameters.array(typeOf(columnsOf(table), ownerColumn(table)), owners, (each) => each.owner),
    parameters.array('int8', owners, ({ after }) => after),
    parameters.array('text', owners, ({ subset }) => subset ?? ''),
  ];
  const memberValue = parameters.add(typeOf(columnsOf(membership.table), member), membership.member);
  return `SELECT w.asked_index, w.asked_owner, w.asked_after, w.asked_subset
      FROM unnest(${arrays.join(', ')}) AS w(asked_index, asked_owner, asked_after, asked_subset)
      JOIN ${ident(membership.table.name)} AS g ON g.${ident(owner)} = w.asked_owner AND g.${ident(member)} = ${memberValue}`;
}

/** One branch for each owner, authorized or not. The limit of each bounds what is read in vain. */
function rowsOfEach(read: CrossOwnerRead, carried: readonly string[], parameters: Parameters): string {
  const { table, owners, limit } = read;
  const max = parameters.add('int8', limit + 1);
  const indexedOwners = owners.map((each, index) => ({ ...each, index }));
  const branches = subsetsOf(read).flatMap((subset) =>
    branchesOf({
      parameters,
      items: indexedOwners.filter((each) => each.subset === subset),
      columns: [
        { name: 'index', type: 'int8', of: ({ index }) => index },
        { name: 'owner', type: typeOf(columnsOf(table), ownerColumn(table)), of: ({ owner }) => owner },
        { name: 'after', type: 'int8', of: ({ after }) => after },
      ],
      selected: carried.map((column) => `s.${column}`).join(', '),
      rows: (value) =>
        rowsOfOwner(table, { owner: value('owner'), after: value('after'), subset, more: [], max }),
    }),
  );
  return `(${branches.join(' UNION ALL ')}) AS t JOIN authorized AS a ON a.asked_index = t.asked_index`;
}

/** The rows of authorized owners. With several subsets each has a branch, because each is found by its own index. */
function rowsOfAuthorized(read: CrossOwnerRead, carried: readonly string[], parameters: Parameters): string {
  const { table, limit } = read;
  const subsets = subsetsOf(read);
  const max = parameters.add('int8', limit + 1);
  const branches = subsets.map((subset) => {
    const more = subsets.length === 1 ? [] : [`a.asked_subset = ${parameters.add('text', subset ?? '')}`];
    const rows = rowsOfOwner(table, { owner: 'a.asked_owner', after: 'a.asked_after', subset, more, max });
    return `SELECT ${carried.map((column) => `s.${column}`).join(', ')} ${rows}`;
  });
  const ofOne =
    branches.length === 1 ? branches.join() : branches.map((branch) => `(${branch})`).join(' UNION ALL ');
  return `(SELECT asked_index, asked_owner, asked_after, asked_subset FROM authorized ORDER BY asked_index) AS a
      CROSS JOIN LATERAL (${ofOne}) AS t`;
}

/** A read of no owners has the statement of a read without subsets. */
const subsetsOf = ({ owners }: CrossOwnerRead): readonly (string | undefined)[] =>
  owners.length === 0 ? [undefined] : [...new Set(owners.map(({ subset }) => subset))].sort();

interface RowsOfOwner {
  readonly owner: string;
  readonly after: string;
  readonly subset: string | undefined;
  readonly more: readonly string[];
  readonly max: string;
}

function rowsOfOwner(table: AnyTable, { owner, after, subset, more, max }: RowsOfOwner): string {
  const order = `s.${ident(orderOf(table))}`;
  const conditions = [
    `s.${ident(ownerColumn(table))} = ${owner} AND ${order} > ${after}`,
    ...(subset === undefined ? [] : [subsetCondition(table, subset)]),
    ...unsucceeded(table),
    ...more,
  ];
  return `FROM ${ident(table.name)} AS s
        WHERE ${conditions.join(' AND ')} ORDER BY ${order} LIMIT ${max}`;
}

/** The index leaves out rows with null. The null check lets the databases know that it still has every row that is looked for. */
function unsucceeded({ name, succession }: AnyTable): readonly string[] {
  if (succession === undefined) return [];
  const [of, by] = [ident(succession.of), ident(succession.by)];
  return [
    `NOT EXISTS (SELECT 1 FROM ${ident(name)} AS l
          WHERE l.${of} = s.${of} AND l.${by} IS NOT NULL AND l.${by} > coalesce(s.${by}, 0))`,
  ];
}

function finish({ table, owners }: CrossOwnerRead, answered: readonly AnyRow[]): StoreRows {
  const cut = answered[0]?.['cut_index'] ?? null;
  const indices = [...new Set(answered.map((row) => Number(row['asked_index'])))];
  return {
    rows: answered.filter((row) => row[ownerColumn(table)] !== null).map(declared),
    complete: cut === null,
    authorized: indices.map((index) => ({
      owner: owners[index]?.owner ?? '',
      complete: cut === null || index < Number(cut),
    })),
  };
}

const declared = ({ asked_index: _, cut_index: __, ...row }: AnyRow): AnyRow => row;
