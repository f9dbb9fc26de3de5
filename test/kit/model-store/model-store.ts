/**
 * The model as a `Store`: the store of the simulator and of unit tests. A port, `Schedule`, stands between a call and
 * its effect. So a simulator can delay a call, lose it before or after it ran, or answer `unknown` and run it later.
 */
import type { Address } from '../../../runtime/address.ts';
import type {
  ActivationResult,
  ActorRow,
  Backlog,
  Commit,
  HeldShard,
  LiveNode,
  NodeRow,
  ShardRow,
  SliceRow,
  Store,
  StoreRead,
  StoreRows,
  SweepRead,
  TellRow,
  TimerRow,
} from '../../../runtime/store/store.ts';
import type { ModelDatabase } from './model-database.ts';

export { ModelDatabase } from './model-database.ts';

/**
 * Runs `apply`, which is atomic, at a moment of its choice, at most once, and answers with its result. For a lost
 * call it rejects with a StoreError: `unavailable` only if `apply` never runs, else `unknown`.
 */
export type Schedule = <T>(method: keyof Store, apply: () => T) => Promise<T>;

const atOnce: Schedule = async (_method, apply) => {
  // Never in the caller's own turn, because a database is not that fast either.
  await undefined;
  return apply();
};

export class ModelStore implements Store {
  readonly #database: ModelDatabase;
  readonly #schedule: Schedule;

  constructor(database: ModelDatabase, schedule: Schedule = atOnce) {
    this.#database = database;
    this.#schedule = schedule;
  }

  timeMs(): Promise<number> {
    return this.#schedule('timeMs', () => this.#database.timeMs());
  }

  async register(node: NodeRow, leaseMs: number, isPredecessorDead = false): Promise<number> {
    const started = await this.#schedule('register', () => this.#database.nextStart());
    return this.#schedule('register', () =>
      this.#database.register(node, started, leaseMs, isPredecessorDead),
    );
  }

  renew(nodeId: string, incarnation: string, leaseMs: number): Promise<number | undefined> {
    return this.#schedule('renew', () => this.#database.renew(nodeId, incarnation, leaseMs));
  }

  leave(nodeId: string, incarnation: string): Promise<void> {
    return this.#schedule('leave', () => this.#database.leave(nodeId, incarnation));
  }

  nodes(): Promise<readonly LiveNode[]> {
    return this.#schedule('nodes', () => this.#database.nodes());
  }

  setDraining(nodeId: string, draining: boolean, incarnation?: string): Promise<boolean> {
    return this.#schedule('setDraining', () => this.#database.setDraining(nodeId, draining, incarnation));
  }

  setConnected(nodeId: string, incarnation: string, connected: boolean): Promise<void> {
    return this.#schedule('setConnected', () => this.#database.setConnected(nodeId, incarnation, connected));
  }

  expireNodes(): Promise<readonly string[]> {
    return this.#schedule('expireNodes', () => this.#database.expireNodes());
  }

  claim(
    nodeId: string,
    incarnation: string,
    shards: readonly number[],
  ): Promise<{ epoch: number; shards: readonly number[] }> {
    return this.#schedule('claim', () => this.#database.claim(nodeId, incarnation, shards));
  }

  shardsOf(incarnation: string): Promise<readonly HeldShard[]> {
    return this.#schedule('shardsOf', () => this.#database.shardsOf(incarnation));
  }

  release(incarnation: string, held: readonly HeldShard[]): Promise<void> {
    return this.#schedule('release', () => this.#database.release(incarnation, held));
  }

  freeShards(shards: readonly number[]): Promise<readonly number[]> {
    return this.#schedule('freeShards', () => this.#database.freeShards(shards));
  }

  shards(): Promise<readonly ShardRow[]> {
    return this.#schedule('shards', () => this.#database.shards());
  }

  activate(address: Address, shard: number, epoch: number, create: boolean): Promise<ActivationResult> {
    return this.#schedule('activate', () => this.#database.activate(address, epoch, create, shard));
  }

  barrier(address: Address, epoch: number): Promise<ActorRow | undefined> {
    return this.#schedule('barrier', () => this.#database.barrier(address, epoch));
  }

  head(address: Address): Promise<ActorRow | undefined> {
    return this.#schedule('head', () => this.#database.head(address));
  }

  commit(commits: readonly Commit[]): Promise<ReadonlySet<number>> {
    return this.#schedule('commit', () => this.#database.commit(commits));
  }

  unlocked(addresses: readonly Address[]): Promise<ReadonlySet<number>> {
    return this.#schedule('unlocked', () => this.#database.unlocked(addresses));
  }

  slices(address: Address): Promise<readonly SliceRow[]> {
    return this.#schedule('slices', () => this.#database.slices(address));
  }

  timers(address: Address): Promise<readonly TimerRow[]> {
    return this.#schedule('timers', () => this.#database.timers(address));
  }

  /** Each read at its own moment: the port promises no common snapshot. */
  read(reads: readonly StoreRead[]): Promise<readonly StoreRows[]> {
    return Promise.all(reads.map((read) => this.#schedule('read', () => this.#database.read(read))));
  }

  dueTimers(sweep: SweepRead): Promise<readonly TimerRow[]> {
    return this.#schedule('dueTimers', () => this.#database.dueTimers(sweep));
  }

  pendingTells(sweep: SweepRead): Promise<readonly TellRow[]> {
    return this.#schedule('pendingTells', () => this.#database.pendingTells(sweep));
  }

  backlog(): Promise<Backlog> {
    return this.#schedule('backlog', () => this.#database.backlog());
  }

  deadTimers(limit: number): Promise<readonly TimerRow[]> {
    return this.#schedule('deadTimers', () => this.#database.deadTimers(limit));
  }

  deadTells(limit: number): Promise<readonly TellRow[]> {
    return this.#schedule('deadTells', () => this.#database.deadTells(limit));
  }

  pruneCalls(shards: readonly number[], beforeMs: number, limit: number): Promise<number> {
    return this.#schedule('pruneCalls', () => this.#database.pruneCalls(shards, beforeMs, limit));
  }

  removeEnded(shards: readonly number[], beforeMs: number, limit: number): Promise<number> {
    return this.#schedule('removeEnded', () => this.#database.removeEnded(shards, beforeMs, limit));
  }

  removeNodes(beforeMs: number): Promise<void> {
    return this.#schedule('removeNodes', () => this.#database.removeNodes(beforeMs));
  }

  fixedSetting(name: string, value: string): Promise<string> {
    return this.#schedule('fixedSetting', () => this.#database.fixedSetting(name, value));
  }

  replaceSetting(name: string, value: string): Promise<void> {
    return this.#schedule('replaceSetting', () => this.#database.replaceSetting(name, value));
  }

  async close(): Promise<void> {}
}
