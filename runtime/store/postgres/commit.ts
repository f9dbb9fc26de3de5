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
import { type AnyRow, type ColumnType, tupleText } from '../../table.ts';
import type { Commit, Write } from '../store.ts';
import { keyOf, type LargeColumn, layoutOf, partsOf } from './columns.ts';
import { arrayParameter, ident, idents, type SqlTable, type Statement, typeOf } from './sql.ts';
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
  /** How many parts its large value has. */
  readonly parts: number;
}

interface TableChange {
  readonly table: SqlTable;
  readonly puts: Entry[];
  readonly removals: Entry[];
}

interface Member {
  readonly member: number;
  readonly commit: Commit;
}

/** An array that is a parameter of the statement: one value of each row. */
interface Source<From> {
  readonly column: string;
  readonly type: ColumnType;
  readonly of: (from: From) => unknown;
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

const isRemoval = ({ removals }: TableChange): boolean => removals.length > 0;

function firstStatement(commits: readonly Commit[], changes: readonly TableChange[]): Statement {
  const values = arraysOf(fenceSources, inOrder(commits));
  for (const change of changes) {
    values.push(
      ...(isRemoval(change)
        ? arraysOf(removalSources(change.table), sorted(change.removals))
        : arraysOf(putSources(change.table), sorted(change.puts))),
    );
  }
  return { text: knownText(changes), values };
}

function secondStatement(passed: readonly number[], clashing: readonly TableChange[]): Statement {
  const text = new StatementText(`SELECT member FROM ${unnest([passedSource], 1)} AS w(member)`, 2);
  for (const { table } of clashing) text.put(table);
  const puts = clashing.flatMap(({ table, puts }) => arraysOf(putSources(table), sorted(puts)));
  return { text: text.whole, values: [...arraysOf([passedSource], passed), ...puts] };
}

const passedSource: Source<number> = { column: 'member', type: 'int8', of: (member) => member };

const fenceSources: readonly Source<Member>[] = [
  { column: 'member', type: 'int8', of: ({ member }) => member },
  { column: 'kind', type: 'text', of: ({ commit }) => commit.address.kind },
  { column: 'id', type: 'text', of: ({ commit }) => commit.address.id },
  { column: 'epoch', type: 'int8', of: ({ commit }) => commit.epoch },
  { column: 'version', type: 'int8', of: ({ commit }) => commit.version },
  { column: 'commit_id', type: 'uuid', of: ({ commit }) => commit.commitId },
  { column: 'ends', type: 'bool', of: ({ commit }) => commit.ends ?? false },
];

const inOrder = (commits: readonly Commit[]): readonly Member[] =>
  commits
    .map((commit, member) => ({ commit, member }))
    .sort(
      ({ commit: { address: a } }, { commit: { address: b } }) =>
        compare(a.kind, b.kind) || compare(a.id, b.id),
    );

const memberSource: Source<Entry> = { column: 'batch_member', type: 'int8', of: ({ member }) => member };
const putSourcesOf = new WeakMap<SqlTable, readonly Source<Entry>[]>();

/** Kept for each table: every commit asks for them. */
function putSources(table: SqlTable): readonly Source<Entry>[] {
  const known = putSourcesOf.get(table);
  if (known !== undefined) return known;
  const columns = Object.keys(table.columns).map((column) => sourceOf(table, column));
  const sources = [memberSource, ...columns];
  putSourcesOf.set(table, sources);
  return sources;
}

const removalSources = (table: SqlTable): readonly Source<Entry>[] => [
  memberSource,
  ...table.removal.map(({ column }) => sourceOf(table, column)),
];

/** Rows are not copied to give them the count of their parts: a copy of so many fields costs more than all else here. */
function sourceOf({ columns, large }: SqlTable, column: string): Source<Entry> {
  const type = typeOf(columns, column);
  if (column === large?.count) return { column, type, of: ({ parts }) => parts };
  if (column === large?.column)
    return { column, type, of: ({ row, parts }) => (parts > 0 ? null : (row[column] ?? null)) };
  return { column, type, of: ({ row }) => row[column] ?? null };
}

const sorted = (entries: readonly Entry[]): readonly Entry[] =>
  [...entries].sort((a, b) => compare(a.sortKey, b.sortKey));

/**
 * One array for each source. A column without any value is an empty array, which `unnest` fills with nulls, as the first
 * array has a value for each row.
 */
const arraysOf = <From>(sources: readonly Source<From>[], from: readonly From[]): unknown[] =>
  sources.map(({ type, of }) => {
    const values = from.map(of);
    return arrayParameter(type, values.every(isNull) ? [] : values);
  });

const isNull = (value: unknown): boolean => value === null;

// --- the texts ----------------------------------------------------------------------------------------------

/** The parts of a statement, with the placeholders of their arrays in the order of `Statement.values`. */
class StatementText {
  readonly #parts: string[];
  #placeholder: number;

  /** `firstPlaceholder` is the one after those of the fence. */
  constructor(fence: string, firstPlaceholder: number) {
    this.#parts = [`fence AS (${fence})`];
    this.#placeholder = firstPlaceholder;
  }

  get whole(): string {
    return `WITH ${this.#parts.join(',\n')}\nSELECT member FROM fence`;
  }

  put(table: SqlTable): void {
    const columns = Object.keys(table.columns);
    this.#parts.push(`${ident(`put_${table.name}`)} AS (
  INSERT INTO ${ident(table.name)} (${idents(columns)})
  SELECT ${idents(columns, 'w')} FROM ${this.#rows(putSources(table))}
  ORDER BY w.batch_order
  ON CONFLICT (${idents(table.primaryKey)}) ${onConflict(table, columns)})`);
  }

  remove(table: SqlTable): void {
    const target = ident(table.name);
    const matches = table.removal.map(
      ({ column, operator }) => `${target}.${ident(column)} ${operator} w.${ident(column)}`,
    );
    this.#parts.push(`${ident(`remove_${table.name}`)} AS (
  DELETE FROM ${target} USING ${this.#rows(removalSources(table))}
  WHERE ${matches.join(' AND ')})`);
  }

  /**
   * The rows of members that passed. A join keeps no order, so each row also has its position. Rows that contend for a unique
   * key must meet it in the same order in every batch.
   */
  #rows(sources: readonly Source<Entry>[]): string {
    const arrays = unnest(sources, this.#placeholder);
    this.#placeholder += sources.length;
    return `${arrays} WITH ORDINALITY AS w(${idents(sources.map(({ column }) => column))}, batch_order)
    JOIN fence ON fence.member = w.batch_member`;
  }
}

const unnest = (sources: readonly Source<never>[], firstPlaceholder: number): string =>
  `unnest(${sources.map(({ type }, index) => `$${firstPlaceholder + index}::${type}[]`).join(', ')})`;

const fence = `
  UPDATE actor SET version = actor.version + 1, commit_id = w.commit_id, ended_at = CASE WHEN w.ends THEN ${nowMs} ELSE NULL END
  FROM ${unnest(fenceSources, 1)} AS w(${fenceSources.map(({ column }) => column).join(', ')})
  WHERE actor.kind = w.kind AND actor.id = w.id AND actor.epoch = w.epoch AND actor.version = w.version
  RETURNING w.member`;

function onConflict(table: SqlTable, columns: readonly string[]): string {
  const assignments = columns
    .filter((column) => !table.primaryKey.includes(column))
    .map((column) => `${ident(column)} = excluded.${ident(column)}`);
  return assignments.length === 0 ? 'DO NOTHING' : `DO UPDATE SET ${assignments.join(', ')}`;
}

interface KnownText {
  readonly tables: readonly SqlTable[];
  readonly text: string;
}

/** As many statements as a connection prepares. */
const knownTextsMax = 256;
const knownTexts = new Map<string, KnownText>();

/** The text of the first statement, made once for each set of tables: 5 KB that would also be looked up by their characters. */
function knownText(changes: readonly TableChange[]): string {
  const shape = changes.map((change) => `${isRemoval(change) ? '-' : '+'}${change.table.name}`).join(' ');
  const known = knownTexts.get(shape);
  if (known?.tables.every((table, index) => table === changes[index]?.table)) return known.text;
  const text = new StatementText(fence, fenceSources.length + 1);
  for (const change of changes) {
    if (isRemoval(change)) text.remove(change.table);
    else text.put(change.table);
  }
  if (knownTexts.size >= knownTextsMax) knownTexts.clear();
  knownTexts.set(shape, { tables: changes.map(({ table }) => table), text: text.whole });
  return text.whole;
}

// --- the writes ----------------------------------------------------------------------------------------------

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
  changeOf(main).puts.push(entry(main, member, write.put, parts.length));
  // There is nothing stale to delete if `generation` keeps an insert from hitting an older row, or if an older row had no parts.
  const isFresh = write.hadNoParts === true || (write.isNew && write.table.generation !== undefined);
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

function entry({ primaryKey }: SqlTable, member: number, row: AnyRow, parts = 0): Entry {
  return { member, sortKey: tupleText(primaryKey, row), row, parts };
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
