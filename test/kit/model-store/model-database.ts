/**
 * The database as a model: the promises of the store port, in their simplest form. Every method is synchronous and
 * atomic. It shares no code with `postgres/`, and one contract test holds for both.
 */
import { type Address, addressKey } from '../../../runtime/address.ts';
import type {
  ActivationResult,
  ActorRow,
  Backlog,
  Commit,
  CrossOwnerRead,
  HeldShard,
  LiveNode,
  NodeRow,
  ShardRow,
  SliceRow,
  StoreRead,
  StoreRows,
  SweepRead,
  TellRow,
  TimerRow,
} from '../../../runtime/store/store.ts';
import { StoreError } from '../../../runtime/store/store.ts';
import {
  callTable,
  outboxTable,
  sliceTable,
  timerTable,
  tombstoneSlice,
  versionTable,
} from '../../../runtime/store/tables.ts';
import type { AnyRow, AnyTable } from '../../../runtime/table.ts';
import { keyText } from '../../../runtime/table.ts';
import { ModelTable, type Undo } from './model-table.ts';

interface Lease {
  readonly node: NodeRow;
  readonly incarnation: string | null;
  readonly started: number;
  readonly draining: boolean;
  readonly connected: boolean;
  readonly expiresAtMs: number;
}

/** The shard of an actor if it does not matter. */
const unowned = -1;

interface StoredActor {
  readonly address: Address;
  readonly shard: number;
  readonly row: ActorRow;
  /** Undefined while it has state. */
  readonly endedAtMs: number | undefined;
}

export class ModelDatabase {
  readonly #clock: { nowMs(): number };
  readonly #tables = new Map<string, ModelTable>();
  readonly #actors = new Map<string, StoredActor>();
  readonly #locked = new Set<string>();
  readonly #leases = new Map<string, Lease>();
  readonly #shards = new Map<number, ShardRow>();
  readonly #settings = new Map<string, string>();
  #epoch = 0;
  #starts = 0;
  /** Above all versions of removed rows. */
  #versionFloor = 0;

  /** `clock` is the database's own. */
  constructor(clock: { nowMs(): number }) {
    this.#clock = clock;
  }

  timeMs(): number {
    return Math.floor(this.#clock.nowMs());
  }

  nextStart(): number {
    this.#starts += 1;
    return this.#starts;
  }

  register(node: NodeRow, started: number, leaseMs: number, isPredecessorDead = false): number {
    const holder = this.#leases.get(node.id);
    if (holder !== undefined && holder.started >= started) {
      throw new StoreError('rejected', `another process has meanwhile started as node ${node.id}`);
    }
    const heldForMs = (holder?.expiresAtMs ?? 0) - this.timeMs();
    const isAnother = ![null, undefined, node.incarnation].includes(holder?.incarnation);
    if (isAnother && heldForMs >= 0 && !isPredecessorDead) return Math.max(1, heldForMs);
    const expiresAtMs = this.timeMs() + leaseMs;
    const { incarnation } = node;
    this.#leases.set(node.id, { node, incarnation, started, draining: false, connected: true, expiresAtMs });
    return 0;
  }

  renew(nodeId: string, incarnation: string, leaseMs: number): number | undefined {
    const lease = this.#leases.get(nodeId);
    if (lease?.incarnation !== incarnation) return undefined;
    const nowMs = this.timeMs();
    this.#leases.set(nodeId, { ...lease, expiresAtMs: nowMs + leaseMs });
    return nowMs;
  }

  leave(nodeId: string, incarnation: string): void {
    const lease = this.#leases.get(nodeId);
    if (lease?.incarnation !== incarnation) return;
    const expiresAtMs = Math.min(lease.expiresAtMs, this.timeMs());
    this.#leases.set(nodeId, { ...lease, incarnation: null, expiresAtMs });
  }

  nodes(): readonly LiveNode[] {
    return [...this.#leases.entries()]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([, { node, incarnation, draining, connected, expiresAtMs }]) => ({
        ...node,
        incarnation,
        draining,
        connected,
        expiresInMs: expiresAtMs - this.timeMs(),
      }));
  }

  setDraining(nodeId: string, draining: boolean, incarnation?: string): boolean {
    const lease = this.#leases.get(nodeId);
    if (lease === undefined || lease.incarnation === null) return false;
    if (incarnation !== undefined && lease.incarnation !== incarnation) return false;
    this.#leases.set(nodeId, { ...lease, draining });
    return true;
  }

  setConnected(nodeId: string, incarnation: string, connected: boolean): void {
    const lease = this.#leases.get(nodeId);
    if (lease?.incarnation === incarnation) this.#leases.set(nodeId, { ...lease, connected });
  }

  expireNodes(): readonly string[] {
    const expired = [...this.#leases].filter(
      ([, { incarnation, expiresAtMs }]) => incarnation !== null && expiresAtMs < this.timeMs(),
    );
    for (const [id, lease] of expired) this.#leases.set(id, { ...lease, incarnation: null });
    return expired.map(([id]) => id);
  }

  claim(
    nodeId: string,
    incarnation: string,
    shards: readonly number[],
  ): { epoch: number; shards: readonly number[] } {
    const free = shards.filter((shard) => {
      const holder = this.#shards.get(shard)?.incarnation;
      return holder === incarnation || !this.#isLive(holder);
    });
    const isClaimerLive = this.#leases.get(nodeId)?.incarnation === incarnation;
    if (free.length === 0 || !isClaimerLive) return { epoch: 0, shards: [] };
    this.#epoch += 1;
    for (const shard of free)
      this.#shards.set(shard, { shard, node: nodeId, incarnation, epoch: this.#epoch });
    return { epoch: this.#epoch, shards: [...free].sort((a, b) => a - b) };
  }

  shardsOf(incarnation: string): readonly HeldShard[] {
    return this.shards()
      .filter((row) => row.incarnation === incarnation)
      .map(({ shard, epoch }) => ({ shard, epoch }));
  }

  release(incarnation: string, held: readonly HeldShard[]): void {
    for (const { shard, epoch } of held) {
      const row = this.#shards.get(shard);
      if (row?.incarnation === incarnation && row.epoch === epoch)
        this.#shards.set(shard, { ...row, incarnation: '' });
    }
  }

  freeShards(shards: readonly number[]): readonly number[] {
    return shards.filter((shard) => !this.#isLive(this.#shards.get(shard)?.incarnation));
  }

  shards(): readonly ShardRow[] {
    return [...this.#shards.values()].sort((a, b) => a.shard - b.shard);
  }

  /**
   * Another client takes the lock of an actor's row. Nothing waits in the model: a call that would have to wait fails
   * as if it had waited too long.
   */
  lock(address: Address): void {
    this.#locked.add(addressKey(address));
  }

  unlock(address: Address): void {
    this.#locked.delete(addressKey(address));
  }

  unlocked(addresses: readonly Address[]): ReadonlySet<number> {
    const isFree = (address: Address) =>
      this.head(address) !== undefined && !this.#locked.has(addressKey(address));
    return new Set(addresses.flatMap((address, index) => (isFree(address) ? [index] : [])));
  }

  activate(address: Address, epoch: number, create: boolean, shard = unowned): ActivationResult {
    this.#assertUnlocked(address);
    const row = this.head(address);
    if (row === undefined && !create) return { outcome: 'absent' };
    const isFormerOwner = create && (this.#shards.get(shard)?.epoch ?? 0) > epoch;
    if (isFormerOwner) return { outcome: 'fenced' };
    if (row !== undefined && row.epoch > epoch) return { outcome: 'fenced' };
    const active =
      row === undefined
        ? { epoch, version: this.#versionFloor, commitId: null }
        : { epoch, version: row.version + 1, commitId: row.commitId };
    if (row === undefined) this.#setRow({ address, shard, row: active, endedAtMs: this.timeMs() });
    else this.#touch(address, active);
    return { outcome: 'active', row: active };
  }

  barrier(address: Address, epoch: number): ActorRow | undefined {
    this.#assertUnlocked(address);
    const row = this.head(address);
    if (row?.epoch !== epoch) return undefined;
    const bumped = { ...row, version: row.version + 1 };
    this.#touch(address, bumped);
    return bumped;
  }

  head(address: Address): ActorRow | undefined {
    return this.#actors.get(addressKey(address))?.row;
  }

  commit(commits: readonly Commit[]): ReadonlySet<number> {
    for (const { address } of commits) this.#assertUnlocked(address);
    const passing = [...commits.entries()].filter(([, commit]) => this.#passesFence(commit));
    this.#applyWrites(passing.map(([, commit]) => commit));
    for (const [, { address, epoch, version, commitId, ends }] of passing) {
      const stored = this.#actors.get(addressKey(address));
      const endedAtMs = ends === true ? this.timeMs() : undefined;
      if (stored !== undefined)
        this.#setRow({ ...stored, row: { epoch, version: version + 1, commitId }, endedAtMs });
    }
    return new Set(passing.map(([index]) => index));
  }

  slices({ kind, id }: Address): readonly SliceRow[] {
    return this.#rowsOf(sliceTable)
      .filter((row) => row['kind'] === kind && row['id'] === id)
      .map((row) => ({ slice: String(row['slice']), data: row['data'] as Buffer }))
      .sort((a, b) => compare(a.slice, b.slice));
  }

  timers({ kind, id }: Address): readonly TimerRow[] {
    return this.#timers()
      .filter((timer) => timer.kind === kind && timer.id === id)
      .sort((a, b) => compare(a.name, b.name));
  }

  read(read: StoreRead): StoreRows {
    if (read.table === versionTable) return this.#versions(read);
    const table = this.#table(read.table);
    switch (read.read) {
      case 'range':
        return table.range(read);
      case 'keys':
        return table.fit(found(read.keys.map((key) => table.get(key))), read.budgetBytes);
      case 'crossOwner':
        return table.crossOwner(read, this.#authorizing(read));
      case 'lookup':
        if (read.limit !== undefined) return table.lookupAll(read);
        return table.fit(
          found(read.values.map((value) => table.lookup(read.unique, value))),
          read.budgetBytes,
        );
    }
  }

  #versions(read: StoreRead): StoreRows {
    if (read.read !== 'keys') throw new StoreError('defect', 'versions are read by key');
    const rows = read.keys.map((key) => {
      const [kind, id] = [String(key['kind']), String(key['id'])];
      const row = this.head({ kind, id });
      return row && { kind, id, version: row.version };
    });
    return found(rows);
  }

  #authorizing({ membership, owners }: CrossOwnerRead): (owner: string) => boolean {
    const [ownerKey, memberKey, ...others] = membership.table.key;
    const isEachOnce = new Set(owners.map(({ owner }) => owner)).size === owners.length;
    if (ownerKey === undefined || memberKey === undefined || others.length > 0 || !isEachOnce)
      throw new StoreError(
        'defect',
        'a membership table has owner and member as its key, and each owner is asked once',
      );
    const members = this.#table(membership.table);
    return (owner) => members.get({ [ownerKey]: owner, [memberKey]: membership.member }) !== undefined;
  }

  dueTimers({ shards, fromMs, untilMs, limit, share }: SweepRead): readonly TimerRow[] {
    const due = this.#timers()
      .filter((timer) => shards.includes(timer.shard) && !timer.dead)
      .filter((timer) => timer.due_at >= fromMs && timer.due_at <= untilMs)
      .sort((a, b) => a.due_at - b.due_at || compareKeys(timerTable, a, b));
    return sharesOf(due, ({ shard }) => shard, share).slice(0, limit);
  }

  pendingTells({ shards, fromMs, untilMs, limit, share }: SweepRead): readonly TellRow[] {
    const pending = this.#tells()
      .filter((tell) => shards.includes(tell.target_shard) && !tell.dead)
      .filter((tell) => tell.retry_at >= fromMs && tell.retry_at <= untilMs)
      .sort((a, b) => a.retry_at - b.retry_at || compareKeys(outboxTable, a, b));
    return sharesOf(pending, ({ target_shard }) => target_shard, share).slice(0, limit);
  }

  backlog(): Backlog {
    const tells = this.#tells();
    const timers = this.#timers();
    return {
      pendingTells: tells.filter(({ dead }) => !dead).length,
      deadTells: tells.filter(({ dead }) => dead).length,
      pendingTimers: timers.filter(({ dead }) => !dead).length,
      deadTimers: timers.filter(({ dead }) => dead).length,
    };
  }

  deadTimers(limit: number): readonly TimerRow[] {
    const dead = this.#timers().filter((timer) => timer.dead);
    return dead.sort((a, b) => a.due_at - b.due_at || compareKeys(timerTable, a, b)).slice(0, limit);
  }

  deadTells(limit: number): readonly TellRow[] {
    const dead = this.#tells().filter((tell) => tell.dead);
    return dead.sort((a, b) => compareKeys(outboxTable, a, b)).slice(0, limit);
  }

  pruneCalls(shards: readonly number[], beforeMs: number, limit: number): number {
    const old = this.#rowsOf(callTable)
      .filter((call) => shards.includes(Number(call['shard'])) && Number(call['at']) < beforeMs)
      .sort((a, b) => Number(a['at']) - Number(b['at']))
      .slice(0, limit);
    for (const call of old) this.#table(callTable).remove(call);
    return old.length;
  }

  removeEnded(shards: readonly number[], beforeMs: number, limit: number): number {
    const ended = [...this.#actors.values()]
      .filter(({ shard, endedAtMs }) => shards.includes(shard) && (endedAtMs ?? beforeMs) < beforeMs)
      .slice(0, limit);
    for (const stored of ended) this.#removeEnded(stored);
    return ended.length;
  }

  #removeEnded(stored: StoredActor): void {
    const { address, row } = stored;
    const hasState =
      this.slices(address).some(({ slice }) => slice !== tombstoneSlice) || this.timers(address).length > 0;
    if (hasState) {
      this.#setRow({ ...stored, endedAtMs: undefined });
      return;
    }
    this.#versionFloor = Math.max(this.#versionFloor, row.version + 1);
    this.#actors.delete(addressKey(address));
    this.#table(sliceTable).remove({ ...address, slice: tombstoneSlice });
  }

  removeNodes(beforeMs: number): void {
    for (const [id, { incarnation, expiresAtMs }] of this.#leases)
      if (incarnation === null && expiresAtMs < beforeMs) this.#leases.delete(id);
  }

  /** How many rows each table has, by name. */
  get sizes(): ReadonlyMap<string, number> {
    const own = [
      ['actor', this.#actors.size],
      ['node', this.#leases.size],
      ['shard', this.#shards.size],
    ] as const;
    return new Map([
      ...own,
      ...[...this.#tables].map(([name, table]) => [name, table.all().length] as const),
    ]);
  }

  fixedSetting(name: string, value: string): string {
    const known = this.#settings.get(name);
    if (known === undefined) this.#settings.set(name, value);
    return known ?? value;
  }

  replaceSetting(name: string, value: string): void {
    this.#settings.set(name, value);
  }

  #setRow(stored: StoredActor): void {
    this.#actors.set(addressKey(stored.address), stored);
  }

  /** Every write to the row of an actor without state restarts the time for which that row stays. */
  #touch(address: Address, row: ActorRow): void {
    const stored = this.#actors.get(addressKey(address));
    if (stored === undefined) return;
    this.#setRow({ ...stored, row, endedAtMs: stored.endedAtMs === undefined ? undefined : this.timeMs() });
  }

  #isLive(incarnation: string | undefined): boolean {
    if (incarnation === undefined) return false;
    return [...this.#leases.values()].some((lease) => lease.incarnation === incarnation);
  }

  #assertUnlocked(address: Address): void {
    if (this.#locked.has(addressKey(address))) throw new StoreError('conflict', 'a row is locked');
  }

  #passesFence({ address, epoch, version }: Commit): boolean {
    const row = this.head(address);
    return row !== undefined && row.epoch === epoch && row.version === version;
  }

  /** Removals first, then puts in the order of their keys; all of them or none. */
  #applyWrites(commits: readonly Commit[]): void {
    const undos: Undo[] = [];
    const writes = commits.flatMap((commit) => commit.writes);
    try {
      for (const write of writes) {
        if ('remove' in write) undos.push(this.#table(write.table).remove(write.remove));
      }
      const puts = writes.flatMap((write) => ('put' in write ? [write] : []));
      puts.sort((a, b) => compare(keyText(a.table, a.put), keyText(b.table, b.put)));
      for (const write of puts) undos.push(this.#table(write.table).put(write.put));
    } catch (error) {
      for (const undo of undos.reverse()) undo();
      throw error;
    }
  }

  #table(table: AnyTable): ModelTable {
    const known = this.#tables.get(table.name);
    if (known !== undefined) return known;
    const made = new ModelTable(table);
    this.#tables.set(table.name, made);
    return made;
  }

  #rowsOf(table: AnyTable): readonly AnyRow[] {
    return this.#table(table).all();
  }

  #timers(): readonly TimerRow[] {
    return this.#rowsOf(timerTable) as unknown as readonly TimerRow[];
  }

  #tells(): readonly TellRow[] {
    return this.#rowsOf(outboxTable) as unknown as readonly TellRow[];
  }
}

/** The first rows of each shard. */
function sharesOf<Row>(rows: readonly Row[], shardOf: (row: Row) => number, share: number): readonly Row[] {
  const counts = new Map<number, number>();
  return rows.filter((row) => {
    const shard = shardOf(row);
    counts.set(shard, (counts.get(shard) ?? 0) + 1);
    return (counts.get(shard) ?? 0) <= share;
  });
}

function found(rows: readonly (AnyRow | undefined)[]): StoreRows {
  return { rows: [...new Set(rows.filter((row) => row !== undefined))], complete: true };
}

function compareKeys(table: AnyTable, a: object, b: object): number {
  return compare(keyText(table, { ...a }), keyText(table, { ...b }));
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
