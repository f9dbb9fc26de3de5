/**
 * What a kind declares: commands, timers, tells and jobs, and what their turns may do.
 *
 * A turn is a synchronous function over the actor's slices and the rows that its read plan named. It returns a reply and
 * records effects. Nothing that it recorded is visible outside until its commit is durable, and nothing remains of a turn that
 * throws. A turn may run more than once, after a rejected commit or a lost outcome. So it must depend on nothing but its
 * arguments.
 */
import type { z } from 'zod';
import type { Address } from './address.ts';
import type { CommandShape, JobShape, MessageShape, Tells } from './contract.ts';
import type { Dependency } from './dependency.ts';
import type { Actors } from './handles.ts';
import type { Slice, SliceMap, SliceSource } from './slice.ts';
import type { AnyTable, KeyOf, RowOf, SubsetOf } from './table.ts';

/** Rows of the actor itself by key. Writes that are not yet durable overlay what the store answers. */
export interface KeysPlan<T extends AnyTable> {
  readonly plan: 'keys';
  readonly table: T;
  readonly keys: readonly KeyOf<T>[];
  /** Once the sizes of the rows reach this, in the order of their keys, further rows come without their large column. */
  readonly budgetBytes?: number;
}

/** Rows of the actor itself in order: `after` < order <= `through`, overlaid in the same way. */
export interface RangePlan<T extends AnyTable> {
  readonly plan: 'range';
  readonly table: T;
  readonly after: number;
  /**
   * The highest order that the store can hold for this actor, usually its head. If `after` is as high, the store is not asked.
   * Writes at the gate beyond it are still overlaid, unless the plan is that of a shared read.
   */
  readonly through: number;
  readonly limit: number;
  readonly budgetBytes?: number;
  readonly subset?: SubsetOf<T>;
  readonly columns?: readonly (keyof RowOf<T> & string)[];
}

/**
 * Committed rows of any actor by a server-wide unique key. A hint: another actor may change them at any time.
 *
 * With a limit, the first columns of such a key are enough. It then finds all rows with these values, in the order of the
 * values and then of the key, without their large column.
 */
export interface LookupPlan<T extends AnyTable> {
  readonly plan: 'lookup';
  readonly table: T;
  /** All values name the same columns. */
  readonly values: readonly Partial<RowOf<T>>[];
  /** The most rows of all values together. */
  readonly limit?: number;
  /** With a limit: the values of the key's other columns in the last row of the page before. */
  readonly after?: Partial<RowOf<T>>;
  /** With a limit: only so many rows of each value, the last ones. The last row comes first. */
  readonly lastOfEach?: number;
}

/** An owner to read rows from, and the position that the reader has reached. */
export interface RequestedOwner<T extends AnyTable = AnyTable> {
  readonly owner: string;
  /** A position in this owner's own order. */
  readonly after: number;
  readonly subset?: SubsetOf<T>;
}

/**
 * Committed rows of other owners, in order, each after a position of its own. An owner answers only if its membership table has
 * a row under (owner, `member`).
 *
 * The membership table and the rows are read at one moment, so a removed member sees nothing that was committed after the
 * removal. The answer has committed rows only. It has no row that a committed one has succeeded (the table's `succession`), so
 * that no reader gets the old row after the new one.
 */
export interface CrossOwnerPlan<T extends AnyTable> {
  readonly plan: 'crossOwner';
  /** Has an `order`. The kind that owns its rows declares it, as it does the membership table. */
  readonly table: T;
  readonly membership: MembershipCondition;
  /** Each owner at most once. If there are none, the store is not asked. */
  readonly owners: readonly RequestedOwner<T>[];
  /** At most this many rows, counted over all owners in the order given. The budget is counted the same way. */
  readonly limit: number;
  readonly budgetBytes?: number;
  readonly columns?: readonly (keyof RowOf<T> & string)[];
  /**
   * Set by a reader that repeats the same plan. Two of its plans over one table are equal if their versions are. As long as the
   * owners commit nothing, a repeated plan is answered without a look-up of each owner.
   */
  readonly version?: number | undefined;
}

/** A membership table of these owners. Its key is [owner, member]. */
interface MembershipCondition {
  readonly table: AnyTable;
  readonly member: string;
}

// biome-ignore lint/suspicious/noExplicitAny: a plan over any table
export type AnyPlan = KeysPlan<any> | RangePlan<any> | LookupPlan<any> | CrossOwnerPlan<any>;
export type Plans = Readonly<Record<string, AnyPlan>>;

export interface KeysResult<T extends AnyTable> {
  /** The row as this turn sees it, with its own writes. */
  get(key: KeyOf<T>): RowOf<T> | undefined;
}
export interface RangeResult<T extends AnyTable> {
  /** Ascending by order, as they were when the turn began. With `columns`, other columns are absent. */
  readonly rows: readonly RowOf<T>[];
  /** False if `limit` or `budgetBytes` cut the range short. */
  readonly complete: boolean;
  /**
   * Every row with an order up to this is in `rows`. It is infinity if the range is complete; otherwise the next page begins
   * here. It may lie beyond the last row. `rows` may even be empty if the rows of the page have moved on meanwhile.
   */
  readonly upTo: number;
}
export interface LookupResult<T extends AnyTable> {
  readonly rows: readonly RowOf<T>[];
  /** False if `limit` left rows out. */
  readonly complete: boolean;
}
export interface CrossOwnerResult<T extends AnyTable> {
  /** The owners that authorize the reader, in the order asked. */
  readonly owners: readonly OwnerRows<T>[];
  /** True if all owners authorize the reader and have no new rows for it. */
  readonly isQuiet: boolean;
}
interface OwnerRows<T extends AnyTable> {
  readonly owner: string;
  /** Ascending by order. With `columns`, other columns are absent. */
  readonly rows: readonly RowOf<T>[];
  /** False for the owner of the first row that `limit` or `budgetBytes` left out, and for all owners after it. */
  readonly complete: boolean;
  /**
   * Where the next page begins: the order of the last row, or `after` if there is none. An owner's commits follow each other
   * and its orders only grow, so any row that is not in `rows` lies beyond this.
   */
  readonly upTo: number;
}

type PlanResult<P> =
  P extends KeysPlan<infer T>
    ? KeysResult<T>
    : P extends RangePlan<infer T>
      ? RangeResult<T>
      : P extends LookupPlan<infer T>
        ? LookupResult<T>
        : P extends CrossOwnerPlan<infer T>
          ? CrossOwnerResult<T>
          : never;
export type PlanResults<P extends Plans> = { readonly [Name in keyof P]: PlanResult<P[Name]> };

export const keys = <T extends AnyTable>(
  table: T,
  rowKeys: readonly KeyOf<T>[],
  budgetBytes?: number,
): KeysPlan<T> => {
  const plan: KeysPlan<T> = { plan: 'keys', table, keys: rowKeys };
  return budgetBytes === undefined ? plan : { ...plan, budgetBytes };
};
export const range = <T extends AnyTable>(
  table: T,
  options: Omit<RangePlan<T>, 'plan' | 'table'>,
): RangePlan<T> => Object.assign({ plan: 'range' as const, table }, options);
export const lookup = <T extends AnyTable>(
  table: T,
  values: readonly Partial<RowOf<T>>[],
  limit?: number,
  after?: Partial<RowOf<T>>,
): LookupPlan<T> => ({
  plan: 'lookup',
  table,
  values,
  ...(limit !== undefined && { limit }),
  ...(after !== undefined && { after }),
});
/** The last rows of each value, in descending order of the key's other columns. No value takes the place of another. */
export const lookupLast = <T extends AnyTable>(
  table: T,
  values: readonly Partial<RowOf<T>>[],
  ofEach: number,
): LookupPlan<T> => ({ plan: 'lookup', table, values, limit: values.length * ofEach, lastOfEach: ofEach });
export const crossOwner = <T extends AnyTable>(
  table: T,
  options: Omit<CrossOwnerPlan<T>, 'plan' | 'table'>,
): CrossOwnerPlan<T> => Object.assign({ plan: 'crossOwner' as const, table }, options);

export interface Activation {
  /** Random. No other activation of any actor has it. */
  readonly id: string;
}

/**
 * The state that a read plan is made from. It is the actor's present state, which may not be durable yet. If earlier turns
 * change it so that the turn asks for keys outside its plan, the plan is made again. A range that was left out, or limited to
 * nothing, is not detected. A range whose `through` says that there is nothing yet costs no more.
 */
export interface View extends SliceSource {
  readonly self: Address;
  /**
   * This stay of the actor in memory: the key, in a `WeakMap`, of values that may be lost with it. A crash, a move or a
   * passivation ends it.
   */
  readonly activation: Activation;
  readonly nowMicros: number;
  /** One of the dependencies that the kind declares. */
  use<T>(dependency: Dependency<T>): T;
  /**
   * The committed row, of any owner, that holds one of the unique keys of `row`. It is undefined until a commit was rejected
   * for it. Ask for it before every `insert` of a row whose key another actor, or an unread row of this one, may hold.
   *
   * A plan may ask for it, too, to read its own row again before the turn runs again. A row found by a rejection comes without
   * its large column. In a turn, and with the whole key, this also finds a row of an earlier turn of this actor that is not
   * durable yet.
   */
  conflicting<T extends AnyTable>(table: T, row: Partial<RowOf<T>>): RowOf<T> | undefined;
}

/** A view of an actor with the time at which it is seen. */
export type ClockedView = View & { readonly nowMs: number };

export interface Turn extends View {
  readonly nowMs: number;
  set<T>(of: Slice<T>, value: T): void;
  setEntry<T>(of: SliceMap<T>, key: string, value: T): void;
  removeEntry<T>(of: SliceMap<T>, key: string): void;

  /**
   * Writes a row that a read plan of this turn has shown to exist, or a row of a table without `generation`. `replaced` is the row
   * that the plan has shown. If its large value is small, the commit looks for no parts of it.
   */
  put<T extends AnyTable>(table: T, row: RowOf<T>, replaced?: RowOf<T>): void;
  /**
   * Writes a new row without having read whether its key exists. If the key or a server-wide unique key is taken, the turn runs
   * again and `conflicting` finds the other row.
   */
  insert<T extends AnyTable>(table: T, row: RowOf<T>): void;
  /**
   * Writes a row whose key no row has ever had, in a table without `generation`. Were it wrong, parts of an older large
   * value would stay in the database, and no reader would see them.
   */
  putFirst<T extends AnyTable>(table: T, row: RowOf<T>): void;
  remove<T extends AnyTable>(table: T, key: KeyOf<T>): void;
  /** Arms (or moves) a timer of the kind; `keyed` makes one of several. */
  arm<Payload>(timer: MessageShape<Payload>, dueMs: number, payload: Payload): void;
  disarm(timer: Pick<MessageShape<unknown>, 'name' | 'isJob'>): void;
  /**
   * Runs a job of the kind once this turn's commit is durable. `keyed` makes one of several, which run side by side. One job
   * never runs beside itself. A start while it runs means one more run after that, with the newest payload. If the present run
   * is interrupted or fails, that run follows instead of a repeat.
   */
  start<Payload>(job: JobShape<Payload>, payload: Payload): void;
  /** From this turn's commit on, no turn of the job takes effect. Its work outside turns cannot be undone. */
  stop(job: Pick<JobShape<unknown>, 'name' | 'isJob'>): void;
  /** Sends durable messages without a reply. Each takes effect exactly once, in no order. */
  tell<T>(kind: { readonly name: string; readonly tells: T }, id: string): Tells<T>;
  /**
   * Hands an event to every gateway subscribed to this actor, once the outcome of this turn may leave. Best effort: a message
   * that must arrive is a `tell`. An event that takes work to make is given as a function, which runs only if a gateway has
   * subscribed. Like a turn, it depends on nothing that changes. If it returns undefined, there is no event.
   */
  publish<E>(kind: { readonly event: z.ZodType<E> | undefined }, event: E | (() => E | undefined)): void;
  /**
   * From the moment this turn's outcome leaves, the events of this actor go to the gateway of this id. That lasts for a while,
   * and as long as this host runs the actor. Returns the name of the registration, which begins with the
   * incarnation of the host that sends the events.
   * @throws OverloadedError
   */
  subscribe(gateway: string): string;
  /** The actor ceases to exist with this commit. Its row stays as a tombstone that consumes tells. */
  tombstone(): void;

  /** Random bytes and uuids for this turn. */
  readonly random: { bytes(length: number): Buffer; uuid(): string };
}

/** Between the steps of a workflow: each `turn` resolves once its commit is durable. */
export interface Workflow {
  readonly self: Address;
  readonly callId: string;
  readonly nowMs: number;
  /** One of the dependencies that the kind declares. */
  use<T>(dependency: Dependency<T>): T;
  turn<R, P extends Plans = Record<never, never>>(step: {
    reads?: (view: View) => P;
    turn: (turn: Turn, reads: PlanResults<P>) => R;
    /** Records the step's result under the workflow's call id. A repeat of the workflow's call gets it back. */
    recorded?: boolean;
  }): Promise<R>;
  /** Other actors, asked within this call's deadline and under call ids derived from this call's. */
  readonly actors: Actors;
}

interface CommandBase<Request, Reply> extends CommandShape<Request, Reply> {
  /** Only such a command may create an actor that does not exist yet. */
  readonly creates?: boolean;
}

/** One turn. `repeat: 'recorded'` keeps the reply for a repeat of the same call id. */
export interface TurnCommand<Request, Reply, P extends Plans = Plans> extends CommandBase<Request, Reply> {
  readonly type: 'turn';
  readonly repeat: 'natural' | 'recorded';
  readonly reads?: (view: View, request: Request) => P;
  readonly turn: (turn: Turn, request: Request, reads: PlanResults<P>) => Reply;
}

/** Answered from durable state, without waiting for the mailbox. It writes nothing. */
export interface SharedCommand<Request, Reply, P extends Plans = Plans> extends CommandBase<Request, Reply> {
  readonly type: 'shared';
  /** The answer if memory has all of it. It usually does for a client that asks whether there is anything new. */
  readonly known?:
    | ((view: View & { readonly nowMs: number }, request: Request) => Reply | undefined)
    | undefined;
  readonly reads?: (view: View, request: Request) => P;
  readonly answer: (
    view: View & { readonly nowMs: number },
    request: Request,
    reads: PlanResults<P>,
  ) => Reply;
}

/** Several turns with asks or slow work between them. Every step must be repeatable. */
export interface WorkflowCommand<Request, Reply> extends CommandBase<Request, Reply> {
  readonly type: 'workflow';
  readonly run: (workflow: Workflow, request: Request) => Promise<Reply>;
}

/**
 * The request decides how it is run: by a turn, a shared read or a workflow. So a sync that sends no items need not wait like one
 * that writes.
 */
export interface ChoiceCommand<Request, Reply> extends CommandBase<Request, Reply> {
  readonly type: 'choice';
  readonly choose: (request: Request, by: Pick<View, 'use'>) => PlainCommand<Request, Reply>;
}

type PlainCommand<Request, Reply> =
  // biome-ignore lint/suspicious/noExplicitAny: plans of any shape
  TurnCommand<Request, Reply, any> | SharedCommand<Request, Reply, any> | WorkflowCommand<Request, Reply>;
export type Command<Request, Reply> = PlainCommand<Request, Reply> | ChoiceCommand<Request, Reply>;

// biome-ignore lint/suspicious/noExplicitAny: the runtime handles commands of any shape
type Anything = any;
export type AnyCommand = Command<Anything, Anything>;

/** What a handler adds to the shape that its contract declares. */
type Handling<Handler> = Omit<Handler, 'type' | 'repeat' | keyof CommandShape<unknown, unknown> | 'payload'>;

interface TurnHandling<Request, Reply, P extends Plans> extends Handling<TurnCommand<Request, Reply, P>> {
  readonly repeat?: 'natural' | 'recorded';
}

/** `handling`: the turn alone, or with what it reads and how it may be repeated. Other handlers are declared in the same way. */
export function command<Request, Reply, P extends Plans = Record<never, never>>(
  shape: CommandShape<Request, Reply>,
  handling: TurnHandling<Request, Reply, P> | TurnCommand<Request, Reply, P>['turn'],
): TurnCommand<Request, Reply, P> {
  const whole = typeof handling === 'function' ? { turn: handling } : handling;
  return { type: 'turn', repeat: 'natural', ...shape, ...whole };
}

export function sharedRead<Request, Reply, P extends Plans = Record<never, never>>(
  shape: CommandShape<Request, Reply>,
  handling: Handling<SharedCommand<Request, Reply, P>> | SharedCommand<Request, Reply, P>['answer'],
): SharedCommand<Request, Reply, P> {
  const whole = typeof handling === 'function' ? { answer: handling } : handling;
  return { type: 'shared', ...shape, ...whole };
}

export function workflow<Request, Reply>(
  shape: CommandShape<Request, Reply>,
  handling: Handling<WorkflowCommand<Request, Reply>> | WorkflowCommand<Request, Reply>['run'],
): WorkflowCommand<Request, Reply> {
  const whole = typeof handling === 'function' ? { run: handling } : handling;
  return { type: 'workflow', ...shape, ...whole };
}

export const choiceCommand = <Request, Reply>(
  shape: CommandShape<Request, Reply>,
  choose: ChoiceCommand<Request, Reply>['choose'],
): ChoiceCommand<Request, Reply> => ({ type: 'choice', ...shape, choose });

/**
 * A timer's handler. If the timer is late, the handler still runs once. The commit of its turn removes the timer, unless the turn
 * arms it again.
 */
export interface TimerHandler<Payload = unknown, P extends Plans = Plans> {
  readonly payload: z.ZodType<Payload>;
  readonly reads?: (view: View, payload: Payload) => P;
  readonly turn: (turn: Turn, payload: Payload, reads: PlanResults<P>) => void;
}

/** A tell's handler. An actor that keeps a copy of the sender's state finds in `sender` whether the tell is older than its copy. */
export interface TellHandler<Payload = unknown, P extends Plans = Plans> {
  readonly payload: z.ZodType<Payload>;
  readonly reads?: (view: View, payload: Payload) => P;
  readonly turn: (
    turn: Turn,
    payload: Payload,
    sender: { readonly address: Address; readonly version: number },
    reads: PlanResults<P>,
  ) => void;
  /** Whether the tell may create an actor that does not exist yet. Otherwise it is consumed without effect. */
  readonly creates?: boolean;
}

type PayloadShape<T> = Pick<MessageShape<T>, 'payload'>;

export function timer<T, P extends Plans = Record<never, never>>(
  shape: PayloadShape<T>,
  handling: Handling<TimerHandler<T, P>> | TimerHandler<T, P>['turn'],
): TimerHandler<T, P> {
  return { ...shape, ...(typeof handling === 'function' ? { turn: handling } : handling) };
}

export function tell<T, P extends Plans = Record<never, never>>(
  shape: PayloadShape<T>,
  handling: Handling<TellHandler<T, P>> | TellHandler<T, P>['turn'],
): TellHandler<T, P> {
  return { ...shape, ...(typeof handling === 'function' ? { turn: handling } : handling) };
}

/** The result of `JobRun.finish`. Nothing else makes it, so a run cannot end well without that call. */
export interface Finished {
  readonly finished: true;
}

interface JobStep<R, P extends Plans> {
  readonly reads?: (view: View) => P;
  readonly turn: (turn: Turn, reads: PlanResults<P>) => R;
}

/** One run of a job, for as long as it holds the job's lease. */
export interface JobRun extends Pick<Workflow, 'self' | 'use'> {
  /**
   * The same in every run of one start, and different for every other start. Outside systems can tell a repeat by it (a
   * `Message-ID`, a call id).
   */
  readonly id: string;
  readonly nowMs: number;
  /**
   * Aborted once the run must not go on: it took too long, another run has its lease, or its job was stopped. Pass it to
   * everything that waits.
   */
  readonly signal: AbortSignal;
  /** Other actors. Every run asks again. Use a call id made from `id` if a repeat must not take effect twice. */
  readonly actors: Actors;
  /**
   * Runs a turn, and resolves once its commit is durable. If the run has lost its lease, the turn is rejected before it begins.
   * So a result counts only for the run that holds the job.
   */
  turn<R, P extends Plans = Record<never, never>>(step: JobStep<R, P>): Promise<R>;
  /** The last turn: the job is over with the same commit. */
  finish<P extends Plans = Record<never, never>>(step?: JobStep<void, P>): Promise<Finished>;
}

/**
 * A job's handler. It runs until it finishes: again from the beginning after a crash or a hand-over, and after a growing pause
 * when it throws. So its turns record its progress in the state. Its work outside turns may be repeated.
 */
export interface JobHandler<Payload = unknown> {
  readonly payload: z.ZodType<Payload>;
  /** How long one run may take. After that it has failed. */
  readonly timeoutMs: number;
  readonly run: (run: JobRun, payload: Payload) => Promise<Finished>;
}

export const job = <T>(shape: PayloadShape<T>, handling: Handling<JobHandler<T>>): JobHandler<T> => ({
  ...shape,
  ...handling,
});

/** Reads outside of turns. */
export interface Lookups {
  /** Committed rows of any actor by a server-wide unique key: a hint, as in a read plan. @throws ActorError */
  find<T extends AnyTable>(plan: LookupPlan<T>): Promise<LookupResult<T>>;
}
