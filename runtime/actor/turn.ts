/**
 * One running turn: the state that it sees (slices, the rows of its plan, its own writes) and the effects that it records.
 * Nothing here touches the actor. The pending commit takes up the `RecordedTurn` only if the turn returns.
 */
import { type Address, shardOf } from '../address.ts';
import type { Activation, AnyPlan, KeysResult, PlanResults, Plans, Turn, View } from '../command.ts';
import { ConflictingRows } from '../commit/conflicting-rows.ts';
import type { JobShape, MessageShape, Tells } from '../contract.ts';
import type { Dependencies, Dependency } from '../dependency.ts';
import { OverloadedError } from '../errors.ts';
import type { Publisher, TurnSignal } from '../events/publisher.ts';
import { isJobTimer, started, timerOf } from '../jobs/lease.ts';
import type { Slice, SliceMap } from '../slice.ts';
import { encode } from '../store/encoding.ts';
import {
  hasNoParts,
  putOver,
  type StoreRows,
  type TellRow,
  type TimerRow,
  type Write,
} from '../store/store.ts';
import { callTable, outboxTable, tombstoneSlice } from '../store/tables.ts';
import { type AnyKey, type AnyRow, type AnyTable, keyText, type RowOf } from '../table.ts';
import { type Layers, type RemovedMark, removed } from './layers.ts';
import type { ReadAnswers } from './reads.ts';
import { crossOwnerResult, found, mergePlan } from './reads.ts';
import type { RecordedCalls } from './recorded-calls.ts';
import type { Rows } from './rows.ts';

/** A tell that its target has not consumed. The commit fills in the sender's version when it is built. */
export type RecordedTell = Omit<TellRow, 'sender_version'>;

/** The effects of a turn. */
export interface RecordedTurn {
  readonly slices: Map<string, { value: unknown; format: number } | RemovedMark>;
  readonly rows: Map<string, { key: string; write: Write }>;
  readonly timers: Map<string, TimerRow | RemovedMark>;
  readonly tells: RecordedTell[];
  /** Signals are not stored. They leave the actor together with the turn's outcome. */
  readonly signals: TurnSignal[];
}

/** Whether it wrote nothing. */
export function isEmpty(recorded: RecordedTurn): boolean {
  return (
    recorded.slices.size === 0 &&
    recorded.rows.size === 0 &&
    recorded.timers.size === 0 &&
    recorded.tells.length === 0
  );
}

/** What a turn needs from its actor. */
export interface TurnScope {
  readonly self: Address;
  readonly activation: Activation;
  readonly slices: Layers<unknown>;
  readonly timers: Layers<TimerRow>;
  readonly rows: Rows;
  readonly conflicting: ConflictingRows;
  readonly nowMs: number;
  readonly nowMicros: number;
  readonly shardCount: number;
  readonly timerNames: Readonly<Record<string, unknown>>;
  readonly jobNames: Readonly<Record<string, unknown>>;
  readonly jobLeaseMs: number;
  readonly dependencies: Dependencies;
  readonly random: Turn['random'];
  readonly publisher: Pick<Publisher, 'registrationOf' | 'maySubscribe'>;
  readonly recordedCalls: Pick<RecordedCalls, 'add'>;
}

/** Slices by name: one layer, or both. */
export type SliceLayers = Pick<Layers<unknown>, 'get'> & {
  keys(): Iterable<string>;
  /** The answer of `entries`, where it need not be computed each time. */
  family?(prefix: string): ReadonlyMap<string, unknown> | undefined;
};

/** The actor's slices as one layer or both show them. */
export class StateView implements View {
  readonly self: Address;
  readonly activation: Activation;
  readonly nowMicros: number;
  readonly nowMs: number;
  readonly #slices: SliceLayers;
  readonly #conflicting: ConflictingRows;
  readonly #dependencies: Dependencies;

  constructor({
    self,
    activation,
    time,
    slices,
    dependencies,
    conflicting = ConflictingRows.none,
  }: {
    readonly self: Address;
    readonly activation: Activation;
    readonly time: { nowMs: number; nowMicros: number };
    readonly slices: SliceLayers;
    readonly dependencies: Dependencies;
    readonly conflicting?: ConflictingRows;
  }) {
    this.self = self;
    this.activation = activation;
    this.#dependencies = dependencies;
    this.nowMs = time.nowMs;
    this.nowMicros = time.nowMicros;
    this.#slices = slices;
    this.#conflicting = conflicting;
  }

  use<T>(dependency: Dependency<T>): T {
    return this.#dependencies.use(dependency);
  }

  get<T>(of: Slice<T>): T {
    const value = this.slice(of.name);
    return value === undefined ? of.initial : (value as T);
  }

  entry<T>(of: SliceMap<T>, key: string): T | undefined {
    return this.slice(of.prefix + key) as T | undefined;
  }

  entries<T>({ prefix }: SliceMap<T>): ReadonlyMap<string, T> {
    const known = this.knownFamily(prefix);
    if (known !== undefined) return known as ReadonlyMap<string, T>;
    const found = new Map<string, T>();
    for (const name of this.sliceNames()) {
      if (name.startsWith(prefix)) found.set(name.slice(prefix.length), this.slice(name) as T);
    }
    return found;
  }

  protected slice(name: string): unknown {
    return this.#slices.get(name);
  }

  protected knownFamily(prefix: string): ReadonlyMap<string, unknown> | undefined {
    return this.#slices.family?.(prefix);
  }

  protected sliceNames(): Iterable<string> {
    return this.#slices.keys();
  }

  conflicting<T extends AnyTable>(table: T, row: Partial<RowOf<T>>): RowOf<T> | undefined {
    return this.#conflicting.find(table, row as AnyRow) as RowOf<T> | undefined;
  }
}

export function speculativeView(
  scope: Pick<
    TurnScope,
    'self' | 'activation' | 'slices' | 'nowMs' | 'nowMicros' | 'dependencies' | 'conflicting'
  >,
): StateView {
  return new StateView({
    self: scope.self,
    activation: scope.activation,
    time: scope,
    slices: scope.slices,
    dependencies: scope.dependencies,
    conflicting: scope.conflicting,
  });
}

export class RunningTurn extends StateView implements Turn {
  readonly recorded: RecordedTurn = {
    slices: new Map(),
    rows: new Map(),
    timers: new Map(),
    tells: [],
    signals: [],
  };
  readonly random: Turn['random'];
  readonly #scope: TurnScope;

  constructor(scope: TurnScope) {
    super({
      self: scope.self,
      activation: scope.activation,
      time: scope,
      slices: scope.slices,
      dependencies: scope.dependencies,
      conflicting: scope.conflicting,
    });
    this.#scope = scope;
    this.random = scope.random;
  }

  /**
   * A row of this actor in memory takes its key as much as a row that rejected a commit. Otherwise two turns that insert the
   * same key would merge into one commit, and the later would silently replace the earlier.
   */
  override conflicting<T extends AnyTable>(table: T, row: Partial<RowOf<T>>): RowOf<T> | undefined {
    const values = row as AnyRow;
    const whole = table.key.every((column: string) => values[column] !== undefined);
    const cached = whole ? this.#scope.rows.get(table, keyText(table, values))?.row : undefined;
    if (cached !== undefined && cached !== removed) return cached as never;
    return super.conflicting(table, row);
  }

  protected override slice(name: string): unknown {
    const own = this.recorded.slices.get(name);
    if (own === undefined) return this.#scope.slices.get(name);
    return own === removed ? undefined : own.value;
  }

  protected override knownFamily(prefix: string): ReadonlyMap<string, unknown> | undefined {
    for (const name of this.recorded.slices.keys()) if (name.startsWith(prefix)) return undefined;
    return super.knownFamily(prefix);
  }

  protected override *sliceNames(): Generator<string> {
    for (const name of this.#scope.slices.keys()) if (!this.recorded.slices.has(name)) yield name;
    for (const [name, value] of this.recorded.slices) if (value !== removed) yield name;
  }

  set<T>(of: Slice<T>, value: T): void {
    this.recorded.slices.set(of.name, { value, format: of.format });
  }

  setEntry<T>(of: SliceMap<T>, key: string, value: T): void {
    const name = of.prefix + key;
    if (this.slice(name) === undefined && this.entries(of).size >= of.entriesMax) {
      throw new Error(`more than ${of.entriesMax} entries of ${of.family}`);
    }
    this.recorded.slices.set(name, { value, format: of.format });
  }

  removeEntry<T>(of: SliceMap<T>, key: string): void {
    const name = of.prefix + key;
    if (this.#scope.slices.get(name) === undefined) this.recorded.slices.delete(name);
    else this.recorded.slices.set(name, removed);
  }

  put<T extends AnyTable>(table: T, row: RowOf<T>, replaced?: RowOf<T>): void {
    const hadNoParts = replaced !== undefined && hasNoParts(table, replaced as AnyRow);
    this.#write(table, row as AnyRow, { table, put: row as AnyRow, isNew: false, hadNoParts });
  }

  insert<T extends AnyTable>(table: T, row: RowOf<T>): void {
    this.#write(table, row as AnyRow, { table, put: row as AnyRow, isNew: true });
  }

  putFirst<T extends AnyTable>(table: T, row: RowOf<T>): void {
    this.#write(table, row as AnyRow, { table, put: row as AnyRow, isNew: false, hadNoParts: true });
  }

  remove<T extends AnyTable>(table: T, key: Parameters<Turn['remove']>[1]): void {
    this.#write(table, key as AnyKey, { table, remove: key as AnyKey });
  }

  arm<Payload>({ name }: MessageShape<Payload>, dueMs: number, payload: Payload): void {
    if (!(timerBase(name) in this.#scope.timerNames)) throw new Error(`timer ${name} is not declared`);
    const { self, shardCount } = this.#scope;
    this.recorded.timers.set(name, {
      kind: self.kind,
      id: self.id,
      name,
      shard: shardOf(self, shardCount),
      due_at: Math.ceil(dueMs),
      payload: encode(1, payload),
      attempts: 0,
      dead: false,
    });
  }

  disarm({ name }: { readonly name: string }): void {
    if (this.#scope.timers.get(name) === undefined) this.recorded.timers.delete(name);
    else this.recorded.timers.set(name, removed);
  }

  start<Payload>({ name }: JobShape<Payload>, payload: Payload): void {
    const { self, shardCount, jobNames, jobLeaseMs, random } = this.#scope;
    if (!(timerBase(name) in jobNames)) throw new Error(`job ${name} is not declared`);
    const timer = timerOf(name);
    const row = { kind: self.kind, id: self.id, name: timer, shard: shardOf(self, shardCount) };
    const grant = { token: random.uuid(), untilMs: this.nowMs + jobLeaseMs };
    this.keepTimer(started(this.armed(timer), row, { id: random.uuid(), payload }, grant));
  }

  stop({ name }: Pick<JobShape<unknown>, 'name'>): void {
    this.disarm({ name: timerOf(name) });
  }

  /** The actor is a tombstone. */
  get isTombstone(): boolean {
    return this.slice(tombstoneSlice) !== undefined;
  }

  /** The actor has no state at all, because only a message without effect created it. */
  get isBlank(): boolean {
    return this.sliceNames().next().done === true;
  }

  /** The timer of this name, with the changes of this turn. */
  armed(name: string): TimerRow | undefined {
    const own = this.recorded.timers.get(name);
    if (own !== undefined) return own === removed ? undefined : own;
    return this.#scope.timers.get(name);
  }

  /** Writes a timer's row as it is, for the runtime's own count of attempts. */
  keepTimer(row: TimerRow): void {
    this.recorded.timers.set(row.name, row);
  }

  tell<T>(kind: { readonly name: string; readonly tells: T }, id: string): Tells<T> {
    const target = { kind: kind.name, id };
    const send = (name: string) => (payload: unknown) => this.#recordTell(target, name, payload ?? null);
    return Object.fromEntries(
      Object.keys(kind.tells as object).map((name) => [name, send(name)]),
    ) as Tells<T>;
  }

  #recordTell(target: Address, name: string, payload: unknown): void {
    const { self, shardCount } = this.#scope;
    this.recorded.tells.push({
      tell_id: this.random.uuid(),
      target_kind: target.kind,
      target_id: target.id,
      target_shard: shardOf(target, shardCount),
      name,
      payload: encode(1, payload),
      sender_kind: self.kind,
      sender_id: self.id,
      attempts: 0,
      retry_at: this.nowMs,
      dead: false,
    });
  }

  publish(_kind: unknown, event: unknown): void {
    this.recorded.signals.push({ publish: event });
  }

  subscribe(gateway: string): string {
    const { self, publisher } = this.#scope;
    if (!publisher.maySubscribe(self, gateway))
      throw new OverloadedError('too many subscriptions to actors of this host');
    this.recorded.signals.push({ subscribe: gateway });
    return publisher.registrationOf(self);
  }

  tombstone(): void {
    for (const name of this.sliceNames()) this.#dropSlice(name);
    for (const name of [...this.#scope.timers.keys()]) {
      if (!this.recorded.timers.has(name)) this.recorded.timers.set(name, removed);
    }
    // A deleted actor has no jobs.
    for (const name of [...this.recorded.timers.keys()]) if (isJobTimer(name)) this.disarm({ name });
    this.recorded.slices.set(tombstoneSlice, { value: true, format: 1 });
  }

  /** The actor is no longer a tombstone, and begins again with its initial state. */
  revive(): void {
    this.recorded.slices.set(tombstoneSlice, removed);
  }

  #dropSlice(name: string): void {
    if (this.#scope.slices.get(name) === undefined) this.recorded.slices.delete(name);
    else this.recorded.slices.set(name, removed);
  }

  /** The results of the turn's plans, overlaid with kept rows and the turn's own writes. */
  results<P extends Plans>(plans: P, answers: ReadAnswers): PlanResults<P> {
    const results: Record<string, unknown> = {};
    for (const name in plans) {
      const plan = plans[name];
      if (plan !== undefined) results[name] = this.#result(plan, answers.get(name));
    }
    return results as PlanResults<P>;
  }

  #result(plan: AnyPlan, answer: StoreRows | undefined): unknown {
    switch (plan.plan) {
      case 'keys':
        return this.#keysResult(plan.table, plan.keys, answer?.rows ?? []);
      case 'range':
        return mergePlan(plan, answer, this.#scope.rows.of(plan.table));
      case 'lookup':
        return found(answer);
      case 'crossOwner':
        return crossOwnerResult(plan, answer);
    }
  }

  #keysResult(table: AnyTable, keys: readonly AnyKey[], rows: readonly AnyRow[]): KeysResult<AnyTable> {
    const byKey = rows.length === 0 ? noRows : new Map(rows.map((row) => [keyText(table, row), row]));
    const planned = keys.length === 0 ? noKeys : new Set(keys.map((key) => keyText(table, key)));
    return {
      get: (key) => {
        const text = keyText(table, key as AnyKey);
        const own = this.recorded.rows.get(writeKey(table, text));
        if (own !== undefined) return 'put' in own.write ? (own.write.put as never) : undefined;
        if (!planned.has(text)) throw new UnplannedRowError(table.name);
        const cached = this.#scope.rows.get(table, text);
        if (cached !== undefined) return cached.row === removed ? undefined : (cached.row as never);
        return byKey.get(text) as never;
      },
    };
  }

  #write(table: AnyTable, key: AnyKey, write: Write): void {
    const text = keyText(table, key);
    const id = writeKey(table, text);
    const before = this.recorded.rows.get(id)?.write;
    this.recorded.rows.set(id, { key: text, write: 'put' in write ? putOver(before, write) : write });
  }

  /** Keeps the reply of this call. @throws OverloadedError */
  record(call: RowOf<typeof callTable>): void {
    const { kind, id } = this.self;
    for (const call_key of this.#scope.recordedCalls.add(call.call_key, this.nowMs))
      this.remove(callTable, { kind, id, call_key });
    this.put(callTable, call);
  }

  /** Removes a consumed tell's row. */
  consume(tell: TellRow): void {
    this.#write(outboxTable, { ...tell }, { table: outboxTable, remove: { ...tell } });
  }

  /** Writes a tell's row again after a failed attempt. */
  keepTell(tell: TellRow): void {
    this.#write(outboxTable, { ...tell }, { table: outboxTable, put: { ...tell }, isNew: false });
  }
}

const noRows: ReadonlyMap<string, AnyRow> = new Map();
const noKeys: ReadonlySet<string> = new Set();

/** The turn asks for a row outside its plan. If turns have run in between, the plan is outdated. */
export class UnplannedRowError extends Error {
  constructor(table: string) {
    super(`a row of ${table} was not in the turn's plan`);
  }
}

function writeKey(table: AnyTable, key: string): string {
  return `${table.name}\u0000${key}`;
}

/** `remind:7` is an instance of the declared timer `remind`. */
export function timerBase(name: string): string {
  const colon = name.indexOf(':');
  return colon === -1 ? name : name.slice(0, colon);
}
