/** From a turn's read plan to what is asked of the store, and back. */
import type {
  AnyPlan,
  KeysPlan,
  LookupPlan,
  PlanResults,
  Plans,
  RangePlan,
  RangeResult,
} from '../command.ts';
import { TerminalError, UnavailableError } from '../errors.ts';
import { StoreError, type StoreRead, type StoreRows } from '../store/store.ts';
import { type AnyRow, type AnyTable, keyText } from '../table.ts';
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
}

/** `rows` absent: a shared read, nothing is taken from memory. */
export function splitReads(plans: Plans, owner: string, rows: Rows | undefined): SplitReads {
  const names: string[] = [];
  const reads: StoreRead[] = [];
  let known: Map<string, readonly AnyRow[]> | undefined;
  for (const name in plans) {
    const plan = plans[name];
    if (plan === undefined) continue;
    const { inMemory, read } = splitPlan(plan, owner, rows);
    if (inMemory !== undefined && inMemory.length > 0) {
      known ??= new Map();
      known.set(name, inMemory);
    }
    if (read === undefined) continue;
    names.push(name);
    reads.push(read);
  }
  return { names, reads, known };
}

interface SplitPlan {
  readonly inMemory?: readonly AnyRow[];
  readonly read?: StoreRead | undefined;
}

const askNothing: SplitPlan = {};

function splitPlan(plan: AnyPlan, owner: string, rows: Rows | undefined): SplitPlan {
  if (plan.plan === 'keys') return splitKeys(plan, rows);
  if (plan.plan === 'lookup') return { read: lookupRead(plan) };
  if (plan.after >= plan.through) return askNothing;
  const inMemory = rows?.above(plan.table, plan.after);
  if (inMemory !== undefined) return { inMemory: inMemory.filter((row) => inSubset(plan, row)) };
  const { plan: _, ...rest } = plan;
  return { read: { read: 'range', owner, ...rest } };
}

export function joinAnswers(split: SplitReads, answered: readonly StoreRows[]): ReadAnswers {
  if (split.names.length === 0 && split.known === undefined) return noAnswers;
  const answers = new Map<string, StoreRows>();
  for (const [name, rows] of split.known ?? []) answers.set(name, { rows, complete: true });
  split.names.forEach((name, index) => {
    const answer = answered[index] ?? { rows: [], complete: true };
    const known = split.known?.get(name);
    answers.set(name, known === undefined ? answer : { ...answer, rows: [...known, ...answer.rows] });
  });
  return answers;
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
export function lookupRead({ table, values }: LookupPlan<AnyTable>): StoreRead | undefined {
  if (values.length === 0) return undefined;
  return { read: 'lookup', table, unique: Object.keys(values[0] ?? {}), values: values as readonly AnyRow[] };
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
  const rows = answer?.rows ?? [];
  if (plan.plan === 'lookup') return { rows };
  const byKey = new Map(rows.map((row) => [keyText(plan.table, row), row]));
  return { get: (key: AnyRow) => byKey.get(keyText(plan.table, key)) };
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
  return subset.values.includes(row[subset.column] as string | number | boolean);
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
