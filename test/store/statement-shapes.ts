/** Every shape of statement that the store generates from the declaration of a table. */
import { type BatchCommit, batchCommit } from '../../runtime/store/postgres/commit.ts';
import type { Dialect } from '../../runtime/store/postgres/each.ts';
import { planRead } from '../../runtime/store/postgres/reads.ts';
import { columnsOf, typeOf } from '../../runtime/store/postgres/sql.ts';
import type { CrossOwnerRead, RangeRead, StoreRead, Write } from '../../runtime/store/store.ts';
import { type AnyRow, type AnyTable, type ColumnType, ownerColumn } from '../../runtime/table.ts';
import { memberTable, uuid } from './tables.ts';

const dialects: readonly Dialect[] = ['PostgreSQL', 'CockroachDB'];
const samples: Readonly<Record<ColumnType, string | number | boolean | Buffer>> = {
  uuid: uuid(1),
  text: 'x',
  int8: 1,
  bool: false,
  bytea: Buffer.from('x'),
};
const largeSample = 'x'.repeat(600_000);

export function sampleRow(of: AnyTable): AnyRow {
  const columns = columnsOf(of);
  return Object.fromEntries(Object.keys(columns).map((name) => [name, samples[typeOf(columns, name)]]));
}

/** The writes with different effects on the table: a new row, a rewritten one, a large one, a removal. */
export function sampleWrites(of: AnyTable): readonly Write[] {
  const row = sampleRow(of);
  const large = of.large === undefined ? [] : [{ ...row, [of.large]: largeSample }];
  return [
    ...[row, ...large].flatMap((put) => [true, false].map((isNew) => ({ table: of, put, isNew }))),
    { table: of, remove: row },
  ];
}

/** The texts of a batch of one commit with these writes: its one statement, or its transaction's two. */
export function commitTexts(writes: readonly Write[]): readonly string[] {
  const { first, second }: BatchCommit = batchCommit([
    { address: { kind: 'user', id: uuid(1) }, epoch: 1, version: 1, commitId: uuid(9), writes },
  ]);
  return second === undefined ? [first.text] : ['BEGIN', first.text, second([0]).text, 'COMMIT'];
}

export function readTexts(of: AnyTable): readonly string[] {
  const values = [sampleRow(of)];
  const uniques: readonly (readonly string[])[] = [of.key, ...of.unique];
  const reads: StoreRead[] = [
    ...budgetsOf(of).flatMap((budgetBytes) => [
      { read: 'keys', table: of, keys: values, budgetBytes } as const,
      ...uniques.map((unique) => ({ read: 'lookup', table: of, unique, values, budgetBytes }) as const),
    ]),
    ...uniques.flatMap((unique) => {
      const read = { read: 'lookup', table: of, unique: unique.slice(0, 1), values, limit: 9 } as const;
      return [read, { ...read, lastOfEach: 2 } as const];
    }),
    ...(of.order === undefined ? [] : [...ranges(of), ...crossOwnerReads(of)]),
  ];
  return dialects.flatMap((dialect) => reads.map((read) => planRead(read, dialect).statement.text));
}

const budgetsOf = (of: AnyTable): readonly (number | undefined)[] =>
  of.size === undefined ? [undefined] : [undefined, 100];

function ranges(of: AnyTable): readonly RangeRead[] {
  const range = { read: 'range', table: of, owner: uuid(1), after: 0, through: 9, limit: 5 } as const;
  const budgets = budgetsOf(of);
  const subsets = [undefined, ...Object.keys(of.subsets)];
  const columns = [undefined, ...Object.keys(columnsOf(of)).map((name) => [name])];
  return budgets.flatMap((budgetBytes) =>
    subsets.flatMap((subset) => columns.map((names) => ({ ...range, budgetBytes, subset, columns: names }))),
  );
}

function crossOwnerReads(of: AnyTable): readonly CrossOwnerRead[] {
  const membership = { table: memberTable, member: uuid(2) };
  const crossOwnerRead = { read: 'crossOwner', table: of, membership, limit: 5 } as const;
  const subsets = [undefined, ...Object.keys(of.subsets)];
  const pending = [subsets, ...subsets.map((subset) => [subset])];
  const columns = [undefined, [ownerColumn(of)]];
  return budgetsOf(of).flatMap((budgetBytes) =>
    columns.flatMap((names) =>
      pending.map((each) => {
        const owners = each.map((subset, index) => ({ owner: uuid(index), after: 0, subset }));
        return { ...crossOwnerRead, owners, budgetBytes, columns: names };
      }),
    ),
  );
}
