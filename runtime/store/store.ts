/**
 * The store port: everything that the runtime asks of the database. It has two implementations, `postgres/` and
 * `test/kit/model-store/`, and one contract test for both.
 *
 * Promises that everything above relies on:
 * 1. `commit` applies each actor's commit whole or not at all, and only if that actor's row still has exactly
 *    the epoch and version named. Members of a batch pass or fail the fence independently.
 * 2. `activate` and `barrier` serialise with commits on the actor's row. Once either has returned, a commit that names an older
 *    version can never apply, however late its statement comes.
 * 3. Reads after the answer of `activate` or `barrier` see every earlier commit of that actor.
 * 4. Epochs come from one counter of the whole cluster and only grow.
 * 5. A shard is claimed only while no other live incarnation holds it, by database time. A release names the epoch of its
 *    claim, so a late one frees nothing that was claimed anew.
 * 6. No version of an actor comes twice. The row of an actor that has ended is removed after a while (`removeEnded`), and an
 *    actor created later begins above its versions (docs/decisions/0018-rows-that-go.md).
 * 7. Incarnations of one node succeed each other in the order of their starts. Once a later start has registered, an earlier
 *    one can never register, whenever its statement reaches the database.
 *
 * Every method rejects with a `StoreError` and nothing else.
 */
import type { Address } from '../address.ts';
import type { AnyKey, AnyRow, AnyTable } from '../table.ts';

export type StoreFailure =
  /** A server-wide unique key is taken (23505), or a later start has the node. Nothing of the statement was applied. */
  | 'rejected'
  /** A serialisation failure, deadlock or lock time-out (40001, 40P01, 55P03). Nothing was applied. */
  | 'conflict'
  /** The database cannot serve (53xxx, 25006, disk full, no connection available). Nothing was applied. */
  | 'unavailable'
  /**
   * The statement may or may not have been applied, or may still be. There was no answer, or one above severity ERROR, or one
   * whose code does not tell. Settle by a barrier.
   */
  | 'unknown'
  /** The statement itself is wrong (a defect, a schema that does not fit). Nothing was applied. */
  | 'defect';

export class StoreError extends Error {
  readonly failure: StoreFailure;
  constructor(failure: StoreFailure, message: string, options?: ErrorOptions) {
    super(message, options);
    this.failure = failure;
  }
  override get name(): string {
    return 'StoreError';
  }
}

/** One actor's row. `commitId` is that of the last commit; null before the first. */
export interface ActorRow {
  readonly epoch: number;
  readonly version: number;
  readonly commitId: string | null;
}

export type ActivationResult =
  | { readonly outcome: 'active'; readonly row: ActorRow }
  /** A newer epoch holds the actor. */
  | { readonly outcome: 'fenced' }
  /** The actor does not exist, and `create` was not set. */
  | { readonly outcome: 'absent' };

/** The final write of one key in one commit: a whole row, or its removal. */
export type Write =
  | {
      readonly table: AnyTable;
      readonly put: AnyRow;
      /** The turn took the row as new (see `generation`). */
      readonly isNew: boolean;
      /** No row had this key, or only one without parts. So there are none to remove. */
      readonly hadNoParts?: boolean;
    }
  | { readonly table: AnyTable; readonly remove: AnyKey };

type Put = Extract<Write, { readonly put: AnyRow }>;

/**
 * A large value of this many characters is never stored in parts. The number must not grow: of rows that an earlier release has
 * written, parts would stay.
 */
export const wholeCharactersMax = 128 * 1024;

/** Whether the row has no parts, as far as it tells: it may have been read without its large value. */
export function hasNoParts({ large }: AnyTable, row: AnyRow): boolean {
  const value = large === undefined ? null : row[large];
  return value === null || (typeof value === 'string' && value.length <= wholeCharactersMax);
}

/** Joins a put with an earlier write of its key in the same commit. The later row counts; both say whether the key is new. */
export function putOver(before: Write | undefined, now: Put): Put {
  if (before === undefined) return now;
  const { table, put } = now;
  if ('remove' in before) return { table, put, isNew: now.isNew };
  // What was there when the commit began counts, however often the row was rewritten since.
  return { table, put, isNew: now.isNew || before.isNew, hadNoParts: before.hadNoParts === true };
}

export interface Commit {
  readonly address: Address;
  readonly epoch: number;
  /** The version of the actor's row before this commit. The commit adds one. */
  readonly version: number;
  /** A fresh uuid by which a barrier recognises this commit. */
  readonly commitId: string;
  /** At most one write per table and key. */
  readonly writes: readonly Write[];
  /** After this commit the actor has no state: it is a tombstone, or never was more than its row. */
  readonly ends?: boolean;
}

/**
 * For a table with a large column. Once the sum of `size`, in the order of the keys, reaches this, further rows come without
 * that column. If absent, it always comes.
 */
type Budget = number | undefined;

export interface KeysRead {
  readonly read: 'keys';
  readonly table: AnyTable;
  readonly keys: readonly AnyKey[];
  readonly budgetBytes?: Budget;
}

/** Rows of one owner by the table's order column: `after` < order <= `through`, ascending. */
export interface RangeRead {
  readonly read: 'range';
  readonly table: AnyTable;
  readonly owner: string;
  readonly after: number;
  readonly through: number;
  readonly limit: number;
  /** Stop after the row at which the running sum of `size` reaches this. */
  readonly budgetBytes?: number | undefined;
  readonly subset?: string | undefined;
  /** Only these columns. Key and order columns are always included. */
  readonly columns?: readonly string[] | undefined;
}

/** Committed rows of any owner whose unique columns have these values. */
export interface LookupRead {
  readonly read: 'lookup';
  readonly table: AnyTable;
  /** All columns of a unique key. With a limit, the first columns of one. */
  readonly unique: readonly string[];
  readonly values: readonly AnyKey[];
  readonly budgetBytes?: Budget;
  /**
   * The most rows of all values together. They are ordered by the values, then by the columns that `unique` leaves out, and
   * come without the large column.
   */
  readonly limit?: number | undefined;
  /** With a limit: values of the columns that `unique` leaves out. Only rows after them come, so that a list has pages. */
  readonly after?: AnyRow | undefined;
  /**
   * With a limit and without `after`: so many rows of each value, the last ones by the columns that `unique` leaves out. Their order
   * is descending. `complete` says nothing of the rows before them.
   */
  readonly lastOfEach?: number | undefined;
}

/**
 * Committed rows of several owners, one owner after the other in the order given, each as a range without an end. An owner
 * answers only if the table of `membership` has a row under (owner, `member`). A row that any owner's row has succeeded
 * (`succession`) is left out. Everything is read at one moment.
 */
export interface CrossOwnerRead {
  readonly read: 'crossOwner';
  readonly table: AnyTable;
  /** A table whose key is [owner, member]. */
  readonly membership: { readonly table: AnyTable; readonly member: string };
  /** Each owner at most once. */
  readonly owners: readonly {
    readonly owner: string;
    readonly after: number;
    readonly subset?: string | undefined;
  }[];
  /** The most rows of all owners together. */
  readonly limit: number;
  /** Likewise: stop after the row at which the running sum of `size` reaches this. */
  readonly budgetBytes?: number | undefined;
  readonly columns?: readonly string[] | undefined;
}

export type StoreRead = KeysRead | RangeRead | LookupRead | CrossOwnerRead;

/** Whether one statement may answer it together with others. A read with a limit or a budget needs one of its own. */
export function isJoinable(read: StoreRead): read is KeysRead | LookupRead {
  if (read.read === 'range' || read.read === 'crossOwner' || read.budgetBytes !== undefined) return false;
  return read.read === 'keys' || read.limit === undefined;
}

export interface StoreRows {
  readonly rows: readonly AnyRow[];
  /** False if a limit or a budget cut it short and more rows follow. */
  readonly complete: boolean;
  /** Only in the answer to a cross-owner read: the owners that authorize the member, in the order given. */
  readonly authorized?: readonly AuthorizedOwner[];
}

interface AuthorizedOwner {
  readonly owner: string;
  /** All of the owner's rows are there. False for the owner of the first row left out, and for all owners after it. */
  readonly complete: boolean;
}

/** One document slice of an actor: msgpack with a leading format version. */
export interface SliceRow {
  readonly slice: string;
  readonly data: Buffer;
}

export interface NodeRow {
  readonly id: string;
  readonly incarnation: string;
  readonly address: string;
  readonly roles: string;
  readonly version: string;
  readonly formats: string;
}

export interface LiveNode extends Omit<NodeRow, 'incarnation'> {
  /** Null: it left, or was declared dead. */
  readonly incarnation: string | null;
  /** It hands over all its shards, and takes none until it restarts or its drain is undone. */
  readonly draining: boolean;
  /** Other processes can reach it, by its own account. */
  readonly connected: boolean;
  readonly expiresInMs: number;
}

export interface HeldShard {
  readonly shard: number;
  readonly epoch: number;
}

/** The last incarnation that took a shard. The shard is free unless a node has that incarnation. */
export interface ShardRow extends HeldShard {
  readonly node: string;
  readonly incarnation: string;
}

/** The timers and tells that wait for delivery in the whole cluster. */
export interface Backlog {
  readonly pendingTells: number;
  readonly deadTells: number;
  readonly pendingTimers: number;
  readonly deadTimers: number;
}

export interface TimerRow {
  readonly kind: string;
  readonly id: string;
  readonly name: string;
  readonly shard: number;
  readonly due_at: number;
  readonly payload: Buffer;
  readonly attempts: number;
  readonly dead: boolean;
}

export interface TellRow {
  readonly tell_id: string;
  readonly target_kind: string;
  readonly target_id: string;
  readonly target_shard: number;
  readonly name: string;
  readonly payload: Buffer;
  readonly sender_kind: string;
  readonly sender_id: string;
  readonly sender_version: number;
  readonly attempts: number;
  readonly retry_at: number;
  readonly dead: boolean;
}

/**
 * A sweep's read of some shards. It costs its answer plus one look into the index for each shard, however many rows there are.
 */
export interface SweepRead {
  readonly shards: readonly number[];
  /** From this time on, inclusive. */
  readonly fromMs: number;
  readonly untilMs: number;
  readonly limit: number;
  /** The most rows of one shard, so that its long backlog does not delay the others. */
  readonly share: number;
}

export interface Store {
  /** Database time, integer milliseconds since the epoch. */
  timeMs(): Promise<number>;

  /**
   * Starts a new incarnation of `node.id` whose lease runs `leaseMs` from database time, and resolves to 0. While the
   * predecessor's lease still runs, it changes nothing and resolves to the milliseconds left, unless `isPredecessorDead`.
   * Otherwise its shards would be free at once, although it may still answer from memory.
   *
   * Starts are ordered by the number that each draws before it sends its registration. A registration that finds a later start
   * rejects as `rejected`: nothing was applied. Trying again would draw a later number and end a process that serves. A
   * rejected process must not serve.
   */
  register(node: NodeRow, leaseMs: number, isPredecessorDead?: boolean): Promise<number>;
  /**
   * Extends the lease of exactly this incarnation, and returns the database time. Undefined if it was declared dead; it must
   * never serve again.
   */
  renew(nodeId: string, incarnation: string, leaseMs: number): Promise<number | undefined>;
  /** Gives up the lease and every shard of this incarnation. */
  leave(nodeId: string, incarnation: string): Promise<void>;
  /** Every node row, live or not; `expiresInMs` by database time. */
  nodes(): Promise<readonly LiveNode[]>;
  /** Sets whether a node should drain. False if there is no such live node, or not under the incarnation named. */
  setDraining(nodeId: string, draining: boolean, incarnation?: string): Promise<boolean>;
  /** Records whether other processes can reach this incarnation. */
  setConnected(nodeId: string, incarnation: string, connected: boolean): Promise<void>;
  /**
   * Clears the incarnation of nodes whose lease has expired by database time. Their renewals fail from then on. Returns the ids
   * that this call has cleared.
   */
  expireNodes(): Promise<readonly string[]>;
  /**
   * Claims those of the named shards that no other live incarnation holds, all under one new epoch. Shards that this
   * incarnation holds are claimed again: it names them only if it never got the answer of the claim before. Returns that epoch
   * and the shards now held under it.
   */
  claim(
    nodeId: string,
    incarnation: string,
    shards: readonly number[],
  ): Promise<{ epoch: number; shards: readonly number[] }>;

  /** The shards that this incarnation holds, by the database. */
  shardsOf(incarnation: string): Promise<readonly HeldShard[]>;
  /** Gives up shards that this incarnation holds under exactly these epochs. */
  release(incarnation: string, held: readonly HeldShard[]): Promise<void>;
  /** Returns the given shards that no live incarnation owns. */
  freeShards(shards: readonly number[]): Promise<readonly number[]>;
  /** Every shard that was ever taken, in order. */
  shards(): Promise<readonly ShardRow[]>;
  /** The activation barrier. With `create` it creates the row of an absent actor, in a new database with version 0. */
  activate(address: Address, shard: number, epoch: number, create: boolean): Promise<ActivationResult>;
  /** Settles an unknown outcome: bumps the version if `epoch` still holds the actor. Undefined if no row matched. */
  barrier(address: Address, epoch: number): Promise<ActorRow | undefined>;
  /** The actor's row as committed, without any effect. */
  head(address: Address): Promise<ActorRow | undefined>;
  /**
   * Applies the commits that pass their fence, at most one per actor, and returns the indexes of those that did. A commit that
   * meets another transaction's row lock waits briefly, and then rejects as `conflict`.
   */
  commit(commits: readonly Commit[]): Promise<ReadonlySet<number>>;
  /** The indexes of those actors whose rows exist and are not locked. A hint, true for the moment. */
  unlocked(addresses: readonly Address[]): Promise<ReadonlySet<number>>;

  /** All slices of an actor. Call it after `activate` or `barrier` has answered. */
  slices(address: Address): Promise<readonly SliceRow[]>;
  /** All timers of an actor. */
  timers(address: Address): Promise<readonly TimerRow[]>;
  /** Runs several reads, each in the order asked. */
  read(reads: readonly StoreRead[]): Promise<readonly StoreRows[]>;

  /** Live timers that are due, oldest first. */
  dueTimers(sweep: SweepRead): Promise<readonly TimerRow[]>;
  /** Live tells that may be tried, oldest retry time first. */
  pendingTells(sweep: SweepRead): Promise<readonly TellRow[]>;

  backlog(): Promise<Backlog>;
  /** Timers that failed too often, earliest due first. */
  deadTimers(limit: number): Promise<readonly TimerRow[]>;
  /** Tells that failed too often, in the order of their ids. */
  deadTells(limit: number): Promise<readonly TellRow[]>;
  /** Removes recorded calls of these shards made before `beforeMs`, at most `limit`; returns how many. */
  pruneCalls(shards: readonly number[], beforeMs: number, limit: number): Promise<number>;
  /**
   * Removes the rows of actors of these shards that have been without state since before `beforeMs`. They have no slice but the
   * tombstone, no timer, and no commit, activation or barrier since. It looks at `limit` actors at most, and returns how many.
   */
  removeEnded(shards: readonly number[], beforeMs: number, limit: number): Promise<number>;
  /** Removes the rows of nodes that have had no lease since before `beforeMs`. */
  removeNodes(beforeMs: number): Promise<void>;

  /** A text for the whole cluster, set by the first process (shard count, key fingerprint, generation). */
  fixedSetting(name: string, value: string): Promise<string>;
  /** Replaces such a text. */
  replaceSetting(name: string, value: string): Promise<void>;

  close(): Promise<void>;
}
