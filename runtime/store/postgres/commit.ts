/**
 * The batch commit: one statement that begins with the fence and derives everything else from the actors that passed it.
 * Members pass or fail independently. An error fails all of them and applies nothing.
 *
 * Invariants:
 * - A statement changes a table in one place only. A batch that both removes from a table and puts into it becomes a transaction of
 *   two statements. The first has the fence and every removal, the second the puts that clash. The row locks of the fence last
 *   until the end, so the second statement needs only the list of members that passed.
 * - Removals come first, so that a commit may hand a unique value from one row to another.
 * - Members and rows are sorted by key, so that two batches take their locks in one order.
 * - There are as many statement texts as sets of tables that are written together. A connection prepares each once, up to the
 *   bound in `pool.ts`.
 */
import type { AnyRow } from '../../table.ts';
import type { Commit, Write } from '../store.ts';
import { keyOf, type LargeColumn, layoutOf, partsOf } from './columns.ts';
import { ident, idents, Parameters, type SqlTable, type Statement, typeOf } from './sql.ts';
import { nowMs } from './statements.ts';

export interface BatchCommit {
  /** Returns the members that passed the fence, as `member`. */
  readonly first: Statement;
  /** The statement that follows in the same transaction, for the members that passed. */
  readonly second: ((passed: readonly number[]) => Statement) | undefined;
}

interface Entry {
  readonly member: number;
  readonly sortKey: string;
  readonly row: AnyRow;
}

interface TableChange {
  readonly table: SqlTable;
  readonly puts: Entry[];
  readonly removals: Entry[];
}

/** The statement returns `member`, an index into `commits`. */
export function batchCommit(commits: readonly Commit[]): BatchCommit {
  const changes = collect(commits);
  const clashing = changes.filter((change) => change.puts.length > 0 && change.removals.length > 0);
  return {
    first: firstStatement(commits, changes),
    second: clashing.length === 0 ? undefined : (passed) => secondStatement(passed, clashing),
  };
}

function firstStatement(commits: readonly Commit[], changes: readonly TableChange[]): Statement {
  const parameters = new Parameters();
  const parts = [
    fence(commits, parameters),
    ...changes.map((change) =>
      change.removals.length > 0 ? remove(change, parameters) : put(change, parameters),
    ),
  ];
  return { text: `WITH ${parts.join(',\n')}\nSELECT member FROM fence`, values: parameters.values };
}

function secondStatement(passed: readonly number[], clashing: readonly TableChange[]): Statement {
  const parameters = new Parameters();
  const passedFence = `fence AS (SELECT member FROM unnest(${parameters.array('int8', passed, (member) => member)}) AS w(member))`;
  const parts = [passedFence, ...clashing.map((change) => put(change, parameters))];
  return { text: `WITH ${parts.join(',\n')}\nSELECT member FROM fence`, values: parameters.values };
}

function fence(commits: readonly Commit[], parameters: Parameters): string {
  const members = commits
    .map((commit, member) => ({ ...commit, ...commit.address, member }))
    .sort((a, b) => compare(a.kind, b.kind) || compare(a.id, b.id));
  const source = [
    parameters.array('int8', members, ({ member }) => member),
    parameters.array('text', members, ({ kind }) => kind),
    parameters.array('text', members, ({ id }) => id),
    parameters.array('int8', members, ({ epoch }) => epoch),
    parameters.array('int8', members, ({ version }) => version),
    parameters.array('uuid', members, ({ commitId }) => commitId),
    parameters.array('bool', members, ({ ends = false }) => ends),
  ];
  return `fence AS (
  UPDATE actor SET version = actor.version + 1, commit_id = w.commit_id, ended_at = CASE WHEN w.ends THEN ${nowMs} ELSE NULL END
  FROM unnest(${source.join(', ')}) AS w(member, kind, id, epoch, version, commit_id, ends)
  WHERE actor.kind = w.kind AND actor.id = w.id AND actor.epoch = w.epoch AND actor.version = w.version
  RETURNING w.member)`;
}

function put({ table, puts }: TableChange, parameters: Parameters): string {
  const columns = Object.keys(table.columns);
  return `${ident(`put_${table.name}`)} AS (
  INSERT INTO ${ident(table.name)} (${idents(columns)})
  SELECT ${idents(columns, 'w')} FROM ${source(table, columns, puts, parameters)}
  ORDER BY w.batch_order
  ON CONFLICT (${idents(table.primaryKey)}) ${onConflict(table, columns)})`;
}

function onConflict(table: SqlTable, columns: readonly string[]): string {
  const assignments = columns
    .filter((column) => !table.primaryKey.includes(column))
    .map((column) => `${ident(column)} = excluded.${ident(column)}`);
  return assignments.length === 0 ? 'DO NOTHING' : `DO UPDATE SET ${assignments.join(', ')}`;
}

function remove({ table, removals }: TableChange, parameters: Parameters): string {
  const columns = table.removal.map(({ column }) => column);
  const target = ident(table.name);
  const matches = table.removal.map(
    ({ column, operator }) => `${target}.${ident(column)} ${operator} w.${ident(column)}`,
  );
  return `${ident(`remove_${table.name}`)} AS (
  DELETE FROM ${target} USING ${source(table, columns, removals, parameters)}
  WHERE ${matches.join(' AND ')})`;
}

/**
 * The rows of members that passed, as one array per column. A join keeps no order, so each row also has its position. Rows that
 * contend for a unique key must meet it in the same order in every batch.
 */
function source(
  table: SqlTable,
  columns: readonly string[],
  entries: readonly Entry[],
  parameters: Parameters,
): string {
  const sorted = [...entries].sort((a, b) => compare(a.sortKey, b.sortKey));
  const members = parameters.array('int8', sorted, ({ member }) => member);
  const arrays = columns.map((column) =>
    parameters.array(typeOf(table.columns, column), sorted, ({ row }) => row[column] ?? null),
  );
  const names = `batch_member, ${idents(columns)}, batch_order`;
  return `unnest(${[members, ...arrays].join(', ')}) WITH ORDINALITY AS w(${names})
    JOIN fence ON fence.member = w.batch_member`;
}

function collect(commits: readonly Commit[]): readonly TableChange[] {
  const changes = new Map<string, TableChange>();
  const changeOf: ChangeOf = (table) => {
    const known = changes.get(table.name);
    if (known !== undefined) return known;
    const change: TableChange = { table, puts: [], removals: [] };
    changes.set(table.name, change);
    return change;
  };
  for (const [member, commit] of commits.entries()) {
    for (const write of commit.writes) collectWrite(changeOf, member, write);
  }
  return [...changes.values()].sort((a, b) => compare(a.table.name, b.table.name));
}

type ChangeOf = (table: SqlTable) => TableChange;

function collectWrite(changeOf: ChangeOf, member: number, write: Write): void {
  const { main, large } = layoutOf(write.table);
  if ('remove' in write) {
    const key = keyOf(write.table, write.remove);
    changeOf(main).removals.push(entry(main, member, key));
    if (large !== undefined) removeParts({ changeOf, member, large, key, from: 0 });
    return;
  }
  if (large === undefined) {
    changeOf(main).puts.push(entry(main, member, write.put));
    return;
  }
  const parts = partsOf(write.put[large.column]);
  const inRow = parts.length === 0 ? write.put : { ...write.put, [large.column]: null };
  changeOf(main).puts.push(entry(main, member, { ...inRow, [large.count]: parts.length }));
  // There is nothing stale to delete if `generation` keeps an insert from hitting an older row, or if there never was a row.
  const isFresh = write.isFirst === true || (write.isNew && write.table.generation !== undefined);
  if (isFresh && parts.length === 0) return;
  const key = keyOf(write.table, write.put);
  if (!isFresh) removeParts({ changeOf, member, large, key, from: parts.length });
  for (const [part, content] of parts.entries()) {
    changeOf(large.part).puts.push(entry(large.part, member, { ...key, part, content }));
  }
}

function removeParts({
  changeOf,
  member,
  large,
  key,
  from,
}: {
  readonly changeOf: ChangeOf;
  readonly member: number;
  readonly large: LargeColumn;
  readonly key: AnyRow;
  readonly from: number;
}): void {
  changeOf(large.part).removals.push(entry(large.part, member, { ...key, part: from }));
}

function entry(table: SqlTable, member: number, row: AnyRow): Entry {
  const sortKey = table.primaryKey.map((column) => String(row[column])).join('\u0000');
  return { member, sortKey, row };
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
