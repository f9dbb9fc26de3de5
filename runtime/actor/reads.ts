/** From a turn's read plan to what is asked of the store, and back. */
import type {
  AnyPlan,
  KeysPlan,
  LookupPlan,
  LookupResult,
  PlanResults,
  Plans,
  RangePlan,
  RangeResult,
  VisitPlan,
  VisitResult,
} from '../command.ts';
import { TerminalError, UnavailableError } from '../errors.ts';
import type { FoundVisits, VisitedIn } from '../read/found-visits.ts';
import { StoreError, type StoreRead, type StoreRows } from '../store/store.ts';
import { type AnyRow, type AnyTable, keyText, ownerColumn } from '../table.ts';
import { type Removed, removed } from './layers.ts';
import type { KeptRow, Rows } from './rows.ts';

/** What the store answered, by plan name. A plan that did not need the store has no answer. */
export type ReadAnswers = ReadonlyMap<string, StoreRows>;

export const noAnswers: ReadAnswers = new Map();

/** A plan's reads, split into what memory answers already and what the store is to be asked. */
export interface SplitReads {
  readonly names: readonly string[];
  readonly reads: readonly StoreRead[];
  /** Rows that were in memory when the read began; undefined when there were none. */
  readonly known: ReadonlyMap<string, readonly AnyRow[]> | undefined;
  /** Visits whose owners are known to have nothing, all or some of them. */
  readonly visits: ReadonlyMap<string, Visiting> | undefined;
}

interface Visiting {
  readonly plan: AnyVisit;
  /** Whom the store is asked for. */
  readonly open: readonly VisitedIn[];
  readonly found: FoundVisits;
}

// biome-ignore lint/suspicious/noExplicitAny: a plan over any table
type AnyVisit = VisitPlan<any>;

/** What an actor knows beside the database. */
export interface Memory {
  /** Absent: a shared read, for which no rows are taken from memory. */
  readonly rows?: Rows | undefined;
  readonly visits?: FoundVisits | undefined;
}

export function splitReads(plans: Plans, owner: string, memory: Memory): SplitReads {
  const names: string[] = [];
  const reads: StoreRead[] = [];
  let known: Map<string, readonly AnyRow[]> | undefined;
  let visits: Map<string, Visiting> | undefined;
  for (const name in plans) {
    const plan = plans[name];
    if (plan === undefined) continue;
    const { inMemory, visiting, read } = splitPlan(plan, owner, memory);
    if (inMemory !== undefined && inMemory.length > 0) {
      known ??= new Map();
      known.set(name, inMemory);
    }
    if (visiting !== undefined) {
      visits ??= new Map();
      visits.set(name, visiting);
    }
    if (read === undefined) continue;
    names.push(name);
    reads.push(read);
  }
  return { names, reads, known, visits };
}

interface SplitPlan {
  readonly inMemory?: readonly AnyRow[];
  readonly visiting?: Visiting;
  readonly read?: StoreRead | undefined;
}

const askNothing: SplitPlan = {};

function splitPlan(plan: AnyPlan, owner: string, { rows, visits }: Memory): SplitPlan {
  if (plan.plan === 'keys') return splitKeys(plan, rows);
  if (plan.plan === 'lookup') return { read: lookupRead(plan) };
  if (plan.plan === 'visit') return splitVisit(plan, visits);
  if (plan.after >= plan.through) return askNothing;
  const inMemory = rows?.above(plan.table, plan.after);
  if (inMemory !== undefined) return { inMemory: inMemory.filter((row) => inSubset(plan, row)) };
  const { plan: _, ...rest } = plan;
  return { read: { read: 'range', owner, ...rest } };
}

export function joinAnswers(split: SplitReads, answered: readonly StoreRows[]): ReadAnswers {
  if (split.names.length === 0 && split.known === undefined && split.visits === undefined) return noAnswers;
  const answers = new Map<string, StoreRows>();
  for (const [name, rows] of split.known ?? []) answers.set(name, { rows, complete: true });
  split.names.forEach((name, index) => {
    const answer = answered[index] ?? { rows: [], complete: true };
    const known = split.known?.get(name);
    answers.set(name, known === undefined ? answer : { ...answer, rows: [...known, ...answer.rows] });
  });
  for (const [name, visiting] of split.visits ?? [])
    answers.set(name, joinVisit(visiting, answers.get(name) ?? nothingNew));
  return answers;
}

/** Of a visit: all owners admit the reader, and none has anything for it. */
const nothingNew: StoreRows = { rows: [], complete: true };

/** With those who were not asked. What was found out is kept for the next visit. */
function joinVisit({ plan, open, found }: Visiting, answer: StoreRows): StoreRows {
  if (answer === nothingNew) return answer;
  const { table, owners } = plan;
  const last = new Map(answer.rows.map((row) => [row[ownerColumn(table)], Number(row[orderColumn(table)])]));
  const asked = new Map(open.map((each) => [each.visited.owner, each]));
  for (const { owner, complete } of answer.admitted ?? []) {
    const visited = asked.get(owner);
    if (complete && visited !== undefined)
      found.note(plan, visited, last.get(owner) ?? visited.visited.after);
  }
  if (open.length === owners.length) return answer;
  const quiet = owners
    .filter(({ owner }) => !asked.has(owner))
    .map(({ owner }) => ({ owner, complete: true }));
  return { ...answer, admitted: [...(answer.admitted ?? []), ...quiet] };
}

function splitKeys(plan: KeysPlan<AnyTable>, rows: Rows | undefined): SplitPlan {
  const inMemory: AnyRow[] = [];
  const unknown = plan.keys.filter((key) => {
    const kept = rows?.get(plan.table, keyText(plan.table, key as AnyRow));
    if (kept === undefined) return true;
    if (kept.row !== removed) inMemory.push(kept.row);
    return false;
  });
  if (unknown.length === 0) return { inMemory };
  const { table, budgetBytes } = plan;
  return { inMemory, read: { read: 'keys', table, keys: unknown as AnyRow[], budgetBytes } };
}

/** Undefined: nothing is looked for. */
export function lookupRead({ table, values, limit }: LookupPlan<AnyTable>): StoreRead | undefined {
  if (values.length === 0) return undefined;
  const unique = Object.keys(values[0] ?? {});
  const read = { read: 'lookup', table, unique, values: values as readonly AnyRow[] } as const;
  return limit === undefined ? read : { ...read, limit };
}

/** No row of it is in memory, as an actor keeps its own alone; but who has none may be known. */
function splitVisit(plan: AnyVisit, found: FoundVisits | undefined): SplitPlan {
  const { plan: _, ...read } = plan;
  if (plan.owners.length === 0) return askNothing;
  if (found === undefined) return { read: { read: 'visit', ...read } };
  const open = found.open(plan);
  const visiting = { plan, open, found };
  if (open.length === 0) return { visiting };
  const owners = open.map(({ visited }) => visited);
  return { visiting, read: { read: 'visit', ...read, owners } };
}

/** The results of a shared read: what the store answered, with nothing overlaid. */
export function sharedResults<P extends Plans>(plans: P, answers: ReadAnswers): PlanResults<P> {
  const results: Record<string, unknown> = {};
  for (const name in plans) {
    const plan = plans[name];
    if (plan !== undefined) results[name] = sharedResult(plan, answers.get(name));
  }
  return results as PlanResults<P>;
}

function sharedResult(plan: AnyPlan, answer: StoreRows | undefined): unknown {
  if (plan.plan === 'range') return mergePlan(plan, answer, []);
  if (plan.plan === 'lookup') return found(answer);
  if (plan.plan === 'visit') return visited(plan, answer);
  const rows = answer?.rows ?? [];
  const byKey = new Map(rows.map((row) => [keyText(plan.table, row), row]));
  return { get: (key: AnyRow) => byKey.get(keyText(plan.table, key)) };
}

export function found(answer: StoreRows | undefined): LookupResult<AnyTable> {
  return { rows: (answer?.rows ?? []) as never, complete: answer?.complete ?? true };
}

/** Plans of syncs that find nothing are kept by who makes them, and so is what there is to say. */
const quietResults = new WeakMap<AnyVisit, VisitResult<AnyTable>>();

export function visited<T extends AnyTable>(
  plan: VisitPlan<T>,
  answer: StoreRows | undefined,
): VisitResult<T> {
  if (answer === undefined) return { owners: [], isQuiet: true };
  if (answer === nothingNew) return quietResult(plan);
  const { table, owners } = plan;
  const order = orderColumn(table);
  const rowsOf = new Map(owners.map(({ owner }) => [owner, [] as AnyRow[]]));
  for (const row of answer.rows) rowsOf.get(String(row[ownerColumn(table)]))?.push(row);
  const admitted = new Map(answer.admitted?.map(({ owner, complete }) => [owner, complete]));
  const given = owners.flatMap(({ owner, after }) => {
    const complete = admitted.get(owner);
    const rows = rowsOf.get(owner) ?? [];
    const upTo = Number(rows.at(-1)?.[order] ?? after);
    return complete === undefined ? [] : [{ owner, rows: rows as never, complete, upTo }];
  });
  return { owners: given, isQuiet: answer.rows.length === 0 && given.length === owners.length };
}

function quietResult<T extends AnyTable>(plan: VisitPlan<T>): VisitResult<T> {
  const known = quietResults.get(plan);
  if (known !== undefined) return known as VisitResult<T>;
  const owners = plan.owners.map(({ owner, after }) => ({ owner, rows: [], complete: true, upTo: after }));
  const result = { owners, isQuiet: true };
  quietResults.set(plan, result);
  return result;
}

/** Overlays a range, as the store answered it, with kept rows, and cuts again at the plan's limits. */
export function mergePlan<T extends AnyTable>(
  plan: RangePlan<T>,
  answer: StoreRows | undefined,
  kept: Iterable<KeptRow>,
): RangeResult<T> {
  const order = orderColumn(plan.table);
  const fetched = answer?.rows ?? [];
  const last =
    answer === undefined || answer.complete ? Number.POSITIVE_INFINITY : Number(fetched.at(-1)?.[order]);
  if (plan.limit === 0) return { rows: [], complete: true, upTo: last };
  const merged = overlayRows(plan, fetched, last, kept);
  const rows = cut(plan, merged);
  if (rows.length < merged.length) {
    return { rows: rows as never, complete: false, upTo: Number(rows.at(-1)?.[order] ?? plan.after) };
  }
  return { rows: rows as never, complete: answer?.complete ?? true, upTo: last };
}

function overlayRows(
  plan: RangePlan<AnyTable>,
  fetched: readonly AnyRow[],
  last: number,
  kept: Iterable<KeptRow>,
): readonly AnyRow[] {
  let over: Map<string, AnyRow | Removed> | undefined;
  for (const { key, row } of kept) {
    over ??= new Map();
    over.set(key, row);
  }
  if (over === undefined) return fetched;
  const newer = over;
  const order = orderColumn(plan.table);
  const merged = fetched.filter((row) => !newer.has(keyText(plan.table, row)));
  for (const row of newer.values()) {
    if (row === removed) continue;
    const position = Number(row[order]);
    if (position > plan.after && position <= last && inSubset(plan, row)) merged.push(row);
  }
  return merged.sort((a, b) => Number(a[order]) - Number(b[order]));
}

function cut(plan: RangePlan<AnyTable>, rows: readonly AnyRow[]): readonly AnyRow[] {
  if (rows.length === 0) return rows;
  const limited = rows.slice(0, plan.limit);
  const { size } = plan.table;
  const budgetBytes = plan.budgetBytes;
  if (budgetBytes === undefined || size === undefined) return limited;
  let sum = 0;
  const end = limited.findIndex((row) => {
    sum += Number(row[size]);
    return sum >= budgetBytes;
  });
  return end === -1 ? limited : limited.slice(0, end + 1);
}

function inSubset(plan: RangePlan<AnyTable>, row: AnyRow): boolean {
  if (plan.subset === undefined) return true;
  const subset = plan.table.subsets[plan.subset];
  if (subset === undefined) throw new Error(`table ${plan.table.name} has no subset ${plan.subset}`);
  return subset.values.includes(row[subset.column] as string | number | boolean | null);
}

function orderColumn(table: AnyTable): string {
  if (table.order === undefined) throw new Error(`table ${table.name} has no order`);
  return table.order;
}

/** The error for a caller whose rows could not be read. Nothing took effect. */
export function readFailure(error: unknown): Error {
  if (error instanceof StoreError)
    return new UnavailableError('the database cannot answer now', undefined, { cause: error });
  return error instanceof Error ? error : new TerminalError('a read plan failed');
}
