/** Turns a turn's read plan into reads of the store, and the store's answers into results. */

import { addressKey } from '../address.ts';
import type {
  AnyPlan,
  CrossOwnerPlan,
  CrossOwnerResult,
  KeysPlan,
  LookupPlan,
  LookupResult,
  PlanResults,
  Plans,
  RangePlan,
  RangeResult,
} from '../command.ts';
import { TerminalError, UnavailableError } from '../errors.ts';
import type { NegativeCache, OwnerRequest, Versions } from '../read/negative-cache.ts';
import { StoreError, type StoreRead, type StoreRows } from '../store/store.ts';
import { versionTable } from '../store/tables.ts';
import { type AnyRow, type AnyTable, keyText, ownerColumn } from '../table.ts';
import { removed } from './layers.ts';
import type { RetainedRow, Rows } from './rows.ts';

/** The store's answers by plan name. A plan that did not need the store has none. */
export type ReadAnswers = ReadonlyMap<string, StoreRows>;

const noAnswers: ReadAnswers = new Map();

/** Asks the store, for some actor. @throws StoreError | OverloadedError */
export type ReadRequest = (reads: readonly StoreRead[]) => Promise<readonly StoreRows[]>;

// biome-ignore lint/suspicious/noExplicitAny: a plan over any table
type AnyCrossOwnerPlan = CrossOwnerPlan<any>;

/** What an actor knows besides the database. */
export interface Memory {
  /** Absent for a shared read, which takes no rows from memory. */
  readonly rows?: Rows | undefined;
  readonly negativeCache: NegativeCache;
}

/** A plan's reads, split into those that memory answers and those for the store. Most plans have neither. */
interface SplitReads {
  reads?: Map<string, StoreRead>;
  /** Rows that were in memory when the read began. */
  known?: Map<string, readonly AnyRow[]>;
  /** Reads of other owners that may have something new. */
  crossOwner?: Map<string, AnyCrossOwnerPlan>;
  /** Names of cross-owner reads whose owners are known here to have nothing new. */
  quiet?: string[];
}

/**
 * Answers at once if memory has everything. The version of an owner that is not known here is asked for together with all other
 * reads. After that only owners that may have something are read.
 */
export function answerPlans(
  plans: Plans,
  owner: string,
  memory: Memory,
  ask: ReadRequest,
): ReadAnswers | Promise<ReadAnswers> {
  const split = splitReads(plans, owner, memory);
  const { negativeCache } = memory;
  const { crossOwner, reads = noReads } = split;
  if (crossOwner === undefined) return askAndJoin(split, reads, nothingOpen, ask);
  const unknown = unknownOwners(crossOwner, negativeCache);
  if (unknown !== undefined) return askInTwo(split, unknown, negativeCache, ask);
  const opened = openReads(crossOwner, negativeCache, noVersions);
  return askAndJoin(split, new Map([...reads, ...readsOf(opened)]), opened, ask);
}

function askAndJoin(
  split: SplitReads,
  reads: ReadonlyMap<string, StoreRead>,
  opened: ReadonlyMap<string, OpenRead>,
  ask: ReadRequest,
): ReadAnswers | Promise<ReadAnswers> {
  if (reads.size === 0) return joinAnswers(split, noAnswers, opened);
  return askFor(reads, ask).then((answered) => joinAnswers(split, answered, opened));
}

const noReads: ReadonlyMap<string, StoreRead> = new Map();
const nothingOpen: ReadonlyMap<string, OpenRead> = new Map();

const noVersions: Versions = new Map();
const versionsPlan = '$versions';

async function askInTwo(
  split: SplitReads,
  unknown: StoreRead,
  negativeCache: NegativeCache,
  ask: ReadRequest,
): Promise<ReadAnswers> {
  const { crossOwner = new Map(), reads = noReads } = split;
  const first = await askFor(new Map([...reads, [versionsPlan, unknown]]), ask);
  const versions = versionsIn(first.get(versionsPlan));
  const opened = openReads(crossOwner, negativeCache, versions);
  const second = await askFor(readsOf(opened), ask);
  return joinAnswers(split, new Map([...first, ...second]), opened);
}

async function askFor(reads: ReadonlyMap<string, StoreRead>, ask: ReadRequest): Promise<ReadAnswers> {
  if (reads.size === 0) return noAnswers;
  const answered = await ask([...reads.values()]);
  return new Map([...reads.keys()].map((name, index) => [name, answered[index] ?? nothing]));
}

const nothing: StoreRows = { rows: [], complete: true };

function splitReads(plans: Plans, owner: string, memory: Memory): SplitReads {
  const split: SplitReads = {};
  for (const name in plans) {
    const plan = plans[name];
    if (plan === undefined) continue;
    if (plan.plan === 'crossOwner') {
      if (plan.owners.length > 0) splitCrossOwner(split, name, plan, memory.negativeCache);
      continue;
    }
    const { inMemory, read } = splitPlan(plan, owner, memory.rows);
    if (inMemory !== undefined && inMemory.length > 0) split.known = withEntry(split.known, name, inMemory);
    if (read !== undefined) split.reads = withEntry(split.reads, name, read);
  }
  return split;
}

const withEntry = <T>(map: Map<string, T> | undefined, name: string, value: T): Map<string, T> =>
  (map ?? new Map<string, T>()).set(name, value);

function splitCrossOwner(
  split: SplitReads,
  name: string,
  plan: AnyCrossOwnerPlan,
  negativeCache: NegativeCache,
): void {
  if (negativeCache.isQuiet(plan)) split.quiet = [...(split.quiet ?? []), name];
  else split.crossOwner = withEntry(split.crossOwner, name, plan);
}

interface SplitPlan {
  readonly inMemory?: readonly AnyRow[];
  readonly read?: StoreRead | undefined;
}

const askNothing: SplitPlan = {};

function splitPlan(
  plan: Exclude<AnyPlan, AnyCrossOwnerPlan>,
  owner: string,
  rows: Rows | undefined,
): SplitPlan {
  if (plan.plan === 'keys') return splitKeys(plan, rows);
  if (plan.plan === 'lookup') return { read: lookupRead(plan) };
  if (plan.after >= plan.through) return askNothing;
  const inMemory = rows?.above(plan.table, plan.after);
  if (inMemory !== undefined) return { inMemory: inMemory.filter((row) => inSubset(plan, row)) };
  const { plan: _, ...rest } = plan;
  return { read: { read: 'range', owner, ...rest } };
}

function joinAnswers(
  { known, crossOwner, quiet }: SplitReads,
  answered: ReadAnswers,
  opened: ReadonlyMap<string, OpenRead>,
): ReadAnswers {
  if (known === undefined && crossOwner === undefined && quiet === undefined) return answered;
  const answers = new Map(answered);
  answers.delete(versionsPlan);
  for (const [name, rows] of known ?? []) {
    const answer = answered.get(name) ?? nothing;
    answers.set(name, { ...answer, rows: [...rows, ...answer.rows] });
  }
  for (const name of quiet ?? []) answers.set(name, nothingNew);
  for (const [name, each] of opened) answers.set(name, joinOpenRead(each, answered.get(name) ?? nothingNew));
  return answers;
}

// --- cross-owner reads --------------------------------------------------------------------------------------------

interface OpenRead {
  readonly plan: AnyCrossOwnerPlan;
  /** The owners that the store is asked for. */
  readonly open: readonly OwnerRequest[];
  readonly negativeCache: NegativeCache;
}

/** Undefined if there is none. */
function unknownOwners(
  plans: ReadonlyMap<string, AnyCrossOwnerPlan>,
  negativeCache: NegativeCache,
): StoreRead | undefined {
  const addresses = new Map(
    [...plans.values()]
      .flatMap((plan) => negativeCache.unknown(plan))
      .map((address) => [addressKey(address), address]),
  );
  if (addresses.size === 0) return undefined;
  const keys = [...addresses.values()].map(({ kind, id }) => ({ kind, id }));
  return { read: 'keys', table: versionTable, keys };
}

const versionsIn = (answer: StoreRows | undefined): Versions =>
  new Map(
    answer?.rows.map(({ kind, id, version }) => [
      addressKey({ kind: String(kind), id: String(id) }),
      Number(version),
    ]),
  );

function openReads(
  crossOwner: ReadonlyMap<string, AnyCrossOwnerPlan>,
  negativeCache: NegativeCache,
  versions: Versions,
): ReadonlyMap<string, OpenRead> {
  return new Map(
    [...crossOwner].map(([name, plan]) => [
      name,
      { plan, open: negativeCache.open(plan, versions), negativeCache },
    ]),
  );
}

function readsOf(opened: ReadonlyMap<string, OpenRead>): ReadonlyMap<string, StoreRead> {
  const reads = new Map<string, StoreRead>();
  for (const [name, { plan, open }] of opened) {
    if (open.length === 0) continue;
    const { plan: _, version: _version, ...read } = plan;
    reads.set(name, { read: 'crossOwner', ...read, owners: open.map(({ entry }) => entry) });
  }
  return reads;
}

/** The answer to a cross-owner read if all owners authorize the reader and none has anything for it. */
const nothingNew: StoreRows = { rows: [], complete: true };

/** Adds the owners that were not asked, and keeps the findings for the next read. */
function joinOpenRead({ plan, open, negativeCache }: OpenRead, answer: StoreRows): StoreRows {
  if (answer === nothingNew) return answer;
  const { table, owners } = plan;
  const last = new Map(answer.rows.map((row) => [row[ownerColumn(table)], Number(row[orderColumn(table)])]));
  const openReads = new Map(open.map((each) => [each.entry.owner, each]));
  for (const { owner, complete } of answer.authorized ?? []) {
    const openRead = openReads.get(owner);
    if (complete && openRead !== undefined)
      negativeCache.note(plan, openRead, last.get(owner) ?? openRead.entry.after);
  }
  if (open.length === owners.length) return answer;
  const quiet = owners
    .filter(({ owner }) => !openReads.has(owner))
    .map(({ owner }) => ({ owner, complete: true }));
  return { ...answer, authorized: [...(answer.authorized ?? []), ...quiet] };
}

function splitKeys(plan: KeysPlan<AnyTable>, rows: Rows | undefined): SplitPlan {
  if (plan.keys.length === 0) return askNothing;
  const inMemory: AnyRow[] = [];
  const unknown = plan.keys.filter((key) => {
    const cached = rows?.get(plan.table, keyText(plan.table, key as AnyRow));
    if (cached === undefined) return true;
    if (cached.row !== removed) inMemory.push(cached.row);
    return false;
  });
  if (unknown.length === 0) return { inMemory };
  const { table, budgetBytes } = plan;
  return { inMemory, read: { read: 'keys', table, keys: unknown as AnyRow[], budgetBytes } };
}

/** Undefined if there is nothing to look for. */
export function lookupRead({ table, values, limit, after }: LookupPlan<AnyTable>): StoreRead | undefined {
  if (values.length === 0) return undefined;
  const unique = Object.keys(values[0] ?? {});
  const read = { read: 'lookup', table, unique, values: values as readonly AnyRow[] } as const;
  return limit === undefined ? read : { ...read, limit, ...(after !== undefined && { after }) };
}

/** The results of a shared read: the store's answers, with nothing overlaid. */
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
  if (plan.plan === 'crossOwner') return crossOwnerResult(plan, answer);
  const rows = answer?.rows ?? [];
  const byKey = new Map(rows.map((row) => [keyText(plan.table, row), row]));
  return { get: (key: AnyRow) => byKey.get(keyText(plan.table, key)) };
}

export function found(answer: StoreRows | undefined): LookupResult<AnyTable> {
  return { rows: (answer?.rows ?? []) as never, complete: answer?.complete ?? true };
}

export function crossOwnerResult<T extends AnyTable>(
  plan: CrossOwnerPlan<T>,
  answer: StoreRows | undefined,
): CrossOwnerResult<T> {
  if (answer === undefined) return { owners: [], isQuiet: true };
  if (answer === nothingNew) return quietResult(plan);
  const { table, owners } = plan;
  const order = orderColumn(table);
  const rowsOf = new Map(owners.map(({ owner }) => [owner, [] as AnyRow[]]));
  for (const row of answer.rows) rowsOf.get(String(row[ownerColumn(table)]))?.push(row);
  const authorized = new Map(answer.authorized?.map(({ owner, complete }) => [owner, complete]));
  const answeredOwners = owners.flatMap(({ owner, after }) => {
    const complete = authorized.get(owner);
    const rows = rowsOf.get(owner) ?? [];
    const upTo = Number(rows.at(-1)?.[order] ?? after);
    return complete === undefined ? [] : [{ owner, rows: rows as never, complete, upTo }];
  });
  return {
    owners: answeredOwners,
    isQuiet: answer.rows.length === 0 && answeredOwners.length === owners.length,
  };
}

/** An idle sync only asks whether it is quiet. The list of owners is made for those that read it. */
const quietResult = <T extends AnyTable>(plan: CrossOwnerPlan<T>): CrossOwnerResult<T> => ({
  isQuiet: true,
  get owners() {
    return plan.owners.map(({ owner, after }) => ({ owner, rows: [], complete: true, upTo: after }));
  },
});

/** Overlays the store's answer to a range with kept rows, and cuts it again at the plan's limits. */
export function mergePlan<T extends AnyTable>(
  plan: RangePlan<T>,
  answer: StoreRows | undefined,
  overlay: Iterable<RetainedRow>,
): RangeResult<T> {
  const order = orderColumn(plan.table);
  const fetched = answer?.rows ?? [];
  const last =
    answer === undefined || answer.complete ? Number.POSITIVE_INFINITY : Number(fetched.at(-1)?.[order]);
  if (plan.limit === 0) return { rows: [], complete: true, upTo: last };
  const merged = overlayRows(plan, fetched, last, overlay);
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
  overlay: Iterable<RetainedRow>,
): readonly AnyRow[] {
  const newer = [...overlay];
  if (newer.length === 0) return fetched;
  const order = orderColumn(plan.table);
  const merged = notIn(newer, plan.table, fetched);
  for (const { row } of newer) {
    if (row === removed) continue;
    const position = Number(row[order]);
    if (position > plan.after && position <= last && inSubset(plan, row)) merged.push(row);
  }
  return merged.sort((a, b) => Number(a[order]) - Number(b[order]));
}

function notIn(newer: readonly RetainedRow[], table: AnyTable, fetched: readonly AnyRow[]): AnyRow[] {
  if (fetched.length === 0) return [];
  const keys = new Set(newer.map(({ key }) => key));
  return fetched.filter((row) => !keys.has(keyText(table, row)));
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
