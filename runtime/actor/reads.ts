/**
 * Turns the plans of a turn or a shared read into reads of the store, and the store's answers into results.
 *
 *     keys, range   rows in memory answer what they can; the store is asked for the rest
 *     lookup        always from the store
 *     cross-owner   owners that certainly have nothing new are left out, as the negative cache proves; the store is asked for the
 *                   others. Two steps, if the versions of some owners have to be read first
 *
 * Invariants: a result is what the store holds, overlaid with the rows in memory, and cut at the plan's limits. A read that memory
 * answers alone costs no statement. If any read fails, the turn does not run.
 */
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
import { noRetainedRows, type RetainedRow, type Rows } from './rows.ts';

/** The store's answers, keyed by plan name. A plan that did not need the store has none. */
export type ReadAnswers = ReadonlyMap<string, StoreRows>;

const noAnswers: ReadAnswers = new Map();

/** Asks the store. @throws StoreError | OverloadedError */
export type ReadRequest = (reads: readonly StoreRead[]) => Promise<readonly StoreRows[]>;

// biome-ignore lint/suspicious/noExplicitAny: a plan over any table
type AnyCrossOwnerPlan = CrossOwnerPlan<any>;

/** What an actor knows besides the database. */
export interface Memory {
  /** Absent for a shared read, which takes no rows from memory. */
  readonly rows?: Rows | undefined;
  readonly negativeCache: NegativeCache;
}

/** What memory answers of some plans, and what is left for the store. Absent fields are empty: most plans need few of them. */
interface SplitReads {
  reads?: Map<string, StoreRead>;
  /** Rows that were in memory when the read began. */
  known?: Map<string, readonly AnyRow[]>;
  /** Cross-owner reads of owners that may have something new. */
  crossOwner?: Map<string, AnyCrossOwnerPlan>;
  /** Names of cross-owner reads whose owners certainly have nothing new. */
  quiet?: string[];
}

/**
 * Answers at once if memory has everything. Otherwise the versions of owners that this host does not know are asked for together
 * with all other reads. After that, only owners that may have something new are read.
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
  if (crossOwner === undefined) return askAndJoin(split, reads, noReducedReads, ask);
  const versionsRead = readOfVersions(crossOwner, negativeCache);
  if (versionsRead !== undefined) return askInTwoSteps(split, versionsRead, negativeCache, ask);
  const reduced = reduceReads(crossOwner, negativeCache, noVersions);
  return askAndJoin(split, new Map([...reads, ...readsOf(reduced)]), reduced, ask);
}

function askAndJoin(
  split: SplitReads,
  reads: ReadonlyMap<string, StoreRead>,
  reduced: ReadonlyMap<string, ReducedRead>,
  ask: ReadRequest,
): ReadAnswers | Promise<ReadAnswers> {
  if (reads.size === 0) return joinAnswers(split, noAnswers, reduced);
  return askFor(reads, ask).then((answered) => joinAnswers(split, answered, reduced));
}

const noReads: ReadonlyMap<string, StoreRead> = new Map();
const noReducedReads: ReadonlyMap<string, ReducedRead> = new Map();

const noVersions: Versions = new Map();
/** The name under which the versions are asked for. No plan has it. */
const versionsPlan = '$versions';

async function askInTwoSteps(
  split: SplitReads,
  versionsRead: StoreRead,
  negativeCache: NegativeCache,
  ask: ReadRequest,
): Promise<ReadAnswers> {
  const { crossOwner = new Map(), reads = noReads } = split;
  const first = await askFor(new Map([...reads, [versionsPlan, versionsRead]]), ask);
  const versions = versionsIn(first.get(versionsPlan));
  const reduced = reduceReads(crossOwner, negativeCache, versions);
  const second = await askFor(readsOf(reduced), ask);
  return joinAnswers(split, new Map([...first, ...second]), reduced);
}

async function askFor(reads: ReadonlyMap<string, StoreRead>, ask: ReadRequest): Promise<ReadAnswers> {
  if (reads.size === 0) return noAnswers;
  const answered = await ask([...reads.values()]);
  return new Map([...reads.keys()].map((name, index) => [name, answered[index] ?? noRows]));
}

const noRows: StoreRows = { rows: [], complete: true };

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
  reduced: ReadonlyMap<string, ReducedRead>,
): ReadAnswers {
  if (known === undefined && crossOwner === undefined && quiet === undefined) return answered;
  const answers = new Map(answered);
  answers.delete(versionsPlan);
  for (const [name, rows] of known ?? []) {
    const answer = answered.get(name) ?? noRows;
    answers.set(name, { ...answer, rows: [...rows, ...answer.rows] });
  }
  for (const name of quiet ?? []) answers.set(name, nothingNew);
  for (const [name, each] of reduced) answers.set(name, joinReduced(each, answered.get(name) ?? nothingNew));
  return answers;
}

// --- cross-owner reads --------------------------------------------------------------------------------------------

/** A cross-owner read, reduced to the owners that may have something new. */
interface ReducedRead {
  readonly plan: AnyCrossOwnerPlan;
  /** The owners that the store is asked for. */
  readonly open: readonly OwnerRequest[];
  readonly negativeCache: NegativeCache;
}

/** The read of the versions of all owners that this host does not know. Undefined if it knows them all. */
function readOfVersions(
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

function reduceReads(
  crossOwner: ReadonlyMap<string, AnyCrossOwnerPlan>,
  negativeCache: NegativeCache,
  versions: Versions,
): ReadonlyMap<string, ReducedRead> {
  return new Map(
    [...crossOwner].map(([name, plan]) => [
      name,
      { plan, open: negativeCache.open(plan, versions), negativeCache },
    ]),
  );
}

function readsOf(reduced: ReadonlyMap<string, ReducedRead>): ReadonlyMap<string, StoreRead> {
  const reads = new Map<string, StoreRead>();
  for (const [name, { plan, open }] of reduced) {
    if (open.length === 0) continue;
    const { plan: _, version: _version, ...read } = plan;
    reads.set(name, { read: 'crossOwner', ...read, owners: open.map(({ entry }) => entry) });
  }
  return reads;
}

/** The answer to a cross-owner read if all owners authorize the reader and none has anything for it. */
const nothingNew: StoreRows = { rows: [], complete: true };

/** Adds the owners that were left out to the answer, and notes in the cache which of the others had nothing. */
function joinReduced({ plan, open, negativeCache }: ReducedRead, answer: StoreRows): StoreRows {
  if (answer === nothingNew) return answer;
  const { table, owners } = plan;
  const last = new Map(answer.rows.map((row) => [row[ownerColumn(table)], Number(row[orderColumn(table)])]));
  const requests = new Map(open.map((each) => [each.entry.owner, each]));
  for (const { owner, complete } of answer.authorized ?? []) {
    const request = requests.get(owner);
    if (complete && request !== undefined)
      negativeCache.note(plan, request, last.get(owner) ?? request.entry.after);
  }
  if (open.length === owners.length) return answer;
  const quiet = owners
    .filter(({ owner }) => !requests.has(owner))
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

/** Undefined if the plan names no values. */
export function lookupRead(plan: LookupPlan<AnyTable>): StoreRead | undefined {
  const { table, values, limit, after, lastOfEach } = plan;
  if (values.length === 0) return undefined;
  const unique = Object.keys(values[0] ?? {});
  const read = { read: 'lookup', table, unique, values: values as readonly AnyRow[] } as const;
  if (limit === undefined) return read;
  return {
    ...read,
    limit,
    ...(after !== undefined && { after }),
    ...(lastOfEach !== undefined && { lastOfEach }),
  };
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
  if (plan.plan === 'range') return mergePlan(plan, answer, noRetainedRows);
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

/** Overlays the store's answer to a range with the rows in memory, and cuts the result at the plan's limits. */
export function mergePlan<T extends AnyTable>(
  plan: RangePlan<T>,
  answer: StoreRows | undefined,
  overlay: ReadonlyMap<string, RetainedRow>,
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
  overlay: ReadonlyMap<string, RetainedRow>,
): readonly AnyRow[] {
  if (overlay.size === 0) return fetched;
  const order = orderColumn(plan.table);
  const merged = fetched.filter((row) => !overlay.has(keyText(plan.table, row)));
  for (const { row } of overlay.values()) {
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
