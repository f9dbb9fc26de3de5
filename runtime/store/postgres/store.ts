/**
 * The store on PostgreSQL or CockroachDB. Commits, reads, barriers, sweeps, ownership and leases have a pool each. So a flood
 * of one kind, or claims that queue behind those of other nodes, never makes a lease lapse or a commit wait.
 */
import type pg from 'pg';
import type { Address } from '../../address.ts';
import { type Clock, systemClock } from '../../clock.ts';
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
} from '../store.ts';
import { StoreError } from '../store.ts';
import { isCockroachVersion } from './cockroach.ts';
import { batchCommit } from './commit.ts';
import { type Dialect, shardsMax } from './each.ts';
import { GatheredStatements } from './gathered.ts';
import { joinReads } from './joined-reads.ts';
import * as ownership from './ownership-statements.ts';
import { ConnectionPool, type PoolLimits, type Row } from './pool.ts';
import { planRead } from './reads.ts';
import type { Statement } from './sql.ts';
import type { Activating, EndedActor } from './statements.ts';
import * as statements from './statements.ts';

export interface PostgresStoreOptions {
  /** `connectionString`, or host, port, user, password and database; `ssl` if wanted. */
  readonly connection: pg.ClientConfig;
  /** Connections per pool. */
  readonly sizes?: Partial<PoolSizes>;
  /** Callers that may wait for a connection, per pool. */
  readonly queueMax?: number;
  /** How long a caller waits for a connection before it gets `unavailable`. */
  readonly waitMaxMs?: number;
  readonly statementTimeoutMs?: number;
  readonly clock?: Clock;
  /** How long a commit, activation or barrier waits for another transaction's lock, and delays others meanwhile. */
  readonly lockWaitMs?: number;
  /** Called for idle connections that broke. The pools replace them by themselves. */
  readonly onConnectionError?: (error: Error) => void;
  /** The statements to use. Tests pass wrong ones to see the contract catch them. */
  readonly sql?: StoreSql;
}

interface PoolSizes {
  readonly commits: number;
  readonly reads: number;
  /** Connections for activations and barriers. */
  readonly barriers: number;
  /** Connections for sweeps and other statements about the whole database. */
  readonly sweeps: number;
  readonly ownership: number;
  readonly leases: number;
}

const { sweepStatements, ...common } = statements;
const sqlFor = (dialect: Dialect) => ({
  ...common,
  ...sweepStatements(dialect),
  ...ownership,
  batchCommit,
  planRead: (read: StoreRead) => planRead(read, dialect),
  shardsMax: shardsMax[dialect],
});
/** The statements for PostgreSQL. CockroachDB can run them, too, but reads more rows than they return. */
export const storeSql = sqlFor('PostgreSQL');
export const cockroachSql = sqlFor('CockroachDB');
export type StoreSql = typeof storeSql;

/**
 * After this time a statement is given up, so that it can be sent again over another connection. A renewal still has its lease
 * then, and a claim keeps shards waiting.
 */
const leaseTimeoutMaxMs = 2_000;
const ownershipTimeoutMaxMs = 4_000;
/**
 * Activations that one statement serves, as after a take-over. A statement for their state serves fewer, because it may be
 * large.
 */
const activatedTogetherMax = 64;
const loadedTogetherMax = 16;
/** Much longer than an answer takes, and much shorter than a lease. */
const hedgeMs = 500;

/**
 * Commits have as many connections as the runtime's limits allow in flight, with those in quarantine. Reads have one more than
 * their slots, for the committer's look-ups. Leases have two, so that a renewal never waits for the one before.
 */
const defaultSizes: PoolSizes = {
  commits: 4,
  reads: 4,
  barriers: 4,
  sweeps: 2,
  ownership: 1,
  leases: 2,
};

/** Opens the pools and checks a connection of each. @throws StoreError (`unavailable`) */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<PostgresStore> {
  const store = new PostgresStore(options);
  try {
    await store.verify();
    return store;
  } catch (error) {
    await store.close();
    throw error;
  }
}

export class PostgresStore implements Store {
  readonly #commits: ConnectionPool;
  readonly #reads: ConnectionPool;
  readonly #barriers: ConnectionPool;
  readonly #sweeps: ConnectionPool;
  readonly #ownership: ConnectionPool;
  readonly #leases: ConnectionPool;
  #sql: StoreSql;
  readonly #clock: Clock;
  readonly #activations: GatheredStatements<Activating, ActivationResult>;
  readonly #slices: GatheredStatements<Address, readonly SliceRow[]>;
  readonly #timers: GatheredStatements<Address, readonly TimerRow[]>;

  constructor(options: PostgresStoreOptions) {
    const sizes = { ...defaultSizes, ...options.sizes };
    const statementTimeoutMs = options.statementTimeoutMs ?? 10_000;
    const waitMaxMs = options.waitMaxMs ?? 5_000;
    const pool = (connectionsMax: number, limits: Partial<PoolLimits> = {}): ConnectionPool =>
      new ConnectionPool(
        options.connection,
        {
          connectionsMax,
          queueMax: options.queueMax ?? 1_000,
          waitMaxMs,
          statementTimeoutMs,
          ...limits,
        },
        options.onConnectionError ?? (() => undefined),
      );
    const atMost = (timeoutMaxMs: number) => ({
      statementTimeoutMs: Math.min(timeoutMaxMs, statementTimeoutMs),
    });
    const lockWaitMaxMs = options.lockWaitMs ?? 100;
    this.#commits = pool(sizes.commits, { lockWaitMaxMs });
    this.#reads = pool(sizes.reads);
    this.#barriers = pool(sizes.barriers, { lockWaitMaxMs });
    this.#sweeps = pool(sizes.sweeps);
    this.#ownership = pool(sizes.ownership, atMost(ownershipTimeoutMaxMs));
    this.#leases = pool(sizes.leases, {
      ...atMost(leaseTimeoutMaxMs),
      waitMaxMs: Math.min(leaseTimeoutMaxMs, waitMaxMs),
    });
    this.#sql = options.sql ?? storeSql;
    this.#clock = options.clock ?? systemClock;
    const concurrencyMax = sizes.barriers;
    this.#activations = new GatheredStatements({
      concurrencyMax,
      batchMax: activatedTogetherMax,
      one: (request) => this.#activateOne(request),
      many: (requests) => this.#activateMany(requests),
    });
    this.#slices = new GatheredStatements({
      concurrencyMax,
      batchMax: loadedTogetherMax,
      one: async (address) =>
        (await this.#barriers.query(this.#sql.slices(address))) as unknown as SliceRow[],
      many: (addresses) => this.#ofMany<SliceRow>(this.#sql.slicesOfMany(addresses), addresses.length),
    });
    this.#timers = new GatheredStatements({
      concurrencyMax,
      batchMax: loadedTogetherMax,
      one: async (address) =>
        (await this.#barriers.query(this.#sql.timers(address))) as unknown as TimerRow[],
      many: (addresses) => this.#ofMany<TimerRow>(this.#sql.timersOfMany(addresses), addresses.length),
    });
  }

  /** For readiness: the database answers, is writable and READ COMMITTED. It uses no connection of the leases. */
  check(): Promise<void> {
    return this.#verifyPool(this.#barriers);
  }

  /** Checks a connection of each pool, and finds out which of the two databases this is. */
  async verify(): Promise<void> {
    await Promise.all(this.#pools.map((pool) => this.#verifyPool(pool)));
    const [row] = await this.#ownership.query(this.#sql.serverVersion);
    if (this.#sql === storeSql && isCockroachVersion(String(row?.['version']))) this.#sql = cockroachSql;
  }

  async timeMs(): Promise<number> {
    const rows = await this.#sweeps.query(this.#sql.time());
    return Number(rows[0]?.['now_ms']);
  }

  async register(node: NodeRow, leaseMs: number, isPredecessorDead = false): Promise<number> {
    const [counter] = await this.#leases.query(this.#sql.nextStart());
    const started = Number(counter?.['value']);
    const rows = await this.#leases.query(this.#sql.register(node, started, leaseMs, isPredecessorDead));
    if (rows.length > 0) return 0;
    const [holder] = await this.#leases.query(this.#sql.registered(node.id));
    if (Number(holder?.['started']) > started)
      throw new StoreError('rejected', `another process has meanwhile started as node ${node.id}`);
    return Math.max(1, Number(holder?.['expires_in_ms']));
  }

  async renew(nodeId: string, incarnation: string, leaseMs: number): Promise<number | undefined> {
    const statement = this.#sql.renew(nodeId, incarnation, leaseMs);
    const [row] = await this.#hedged(() => this.#leases.query(statement));
    return row && Number(row['now_ms']);
  }

  async leave(nodeId: string, incarnation: string): Promise<void> {
    await this.#leases.query(this.#sql.leave(nodeId, incarnation));
  }

  async nodes(): Promise<readonly LiveNode[]> {
    const rows = await this.#ownership.query(this.#sql.nodes());
    return rows.map(({ expires_in_ms: expiresInMs, ...row }) => ({ ...row, expiresInMs }) as LiveNode);
  }

  async setDraining(nodeId: string, draining: boolean, incarnation?: string): Promise<boolean> {
    const statement = this.#sql.setDraining(nodeId, draining, incarnation ?? null);
    return (await this.#ownership.query(statement)).length > 0;
  }

  async setConnected(nodeId: string, incarnation: string, connected: boolean): Promise<void> {
    await this.#ownership.query(this.#sql.setConnected(nodeId, incarnation, connected));
  }

  async expireNodes(): Promise<readonly string[]> {
    const rows = await this.#ownership.query(this.#sql.expireNodes());
    return rows.map(({ id }) => id as string);
  }

  async claim(
    nodeId: string,
    incarnation: string,
    shards: readonly number[],
  ): Promise<{ epoch: number; shards: readonly number[] }> {
    const free = await this.#ownership.query(this.#sql.freeShards(shards, incarnation));
    if (free.length === 0) return { epoch: 0, shards: [] };
    // The epoch is drawn after the look and in a statement of its own. So it is greater than every epoch seen, and other claims do
    // not wait.
    const [counter] = await this.#ownership.query(this.#sql.nextEpoch());
    const epoch = Number(counter?.['value']);
    const seen = free.map((row) => ({ shard: Number(row['shard']), epoch: Number(row['epoch']) }));
    const take = this.#sql.takeShards(nodeId, incarnation, seen, epoch);
    const claimed = shardNumbers(await this.#ownership.query(take)).sort((a, b) => a - b);
    return claimed.length === 0 ? { epoch: 0, shards: [] } : { epoch, shards: claimed };
  }

  async shardsOf(incarnation: string): Promise<readonly HeldShard[]> {
    return (await this.#ownership.query(this.#sql.shardsOf(incarnation))) as unknown as readonly HeldShard[];
  }

  async release(incarnation: string, held: readonly HeldShard[]): Promise<void> {
    const shards = held.map(({ shard }) => shard);
    const epochs = held.map(({ epoch }) => epoch);
    await this.#ownership.query(this.#sql.release(incarnation, shards, epochs));
  }

  async freeShards(shards: readonly number[]): Promise<readonly number[]> {
    return shardNumbers(await this.#ownership.query(this.#sql.freeShards(shards, null)));
  }

  async shards(): Promise<readonly ShardRow[]> {
    return (await this.#ownership.query(this.#sql.shards())) as unknown as readonly ShardRow[];
  }

  async activate(address: Address, shard: number, epoch: number, create: boolean): Promise<ActivationResult> {
    if (!create) return this.#activations.ask({ address, epoch });
    const row = actorRow(await this.#barriers.query(this.#sql.activateOrCreate(address, shard, epoch)));
    return row === undefined ? { outcome: 'fenced' } : { outcome: 'active', row };
  }

  async #activateOne({ address, epoch }: Activating): Promise<ActivationResult> {
    const row = actorRow(await this.#barriers.query(this.#sql.activate(address, epoch)));
    if (row !== undefined) return { outcome: 'active', row };
    const isAbsent = (await this.head(address)) === undefined;
    return { outcome: isAbsent ? 'absent' : 'fenced' };
  }

  async #activateMany(requests: readonly Activating[]): Promise<ReadonlyMap<number, ActivationResult>> {
    const rows = await this.#barriers.query(this.#sql.activateMany(requests));
    return new Map(
      rows.flatMap((each) => {
        const row = actorRow([each]);
        return row === undefined ? [] : [[Number(each['member']), { outcome: 'active', row }] as const];
      }),
    );
  }

  /** An answer for each of this many actors, even if it has no rows. */
  async #ofMany<T>(statement: Statement, count: number): Promise<ReadonlyMap<number, readonly T[]>> {
    const found = new Map<number, T[]>(Array.from({ length: count }, (_, member) => [member, []]));
    for (const { member, ...row } of await this.#barriers.query(statement)) {
      found.get(Number(member))?.push(row as unknown as T);
    }
    return found;
  }

  async barrier(address: Address, epoch: number): Promise<ActorRow | undefined> {
    return actorRow(await this.#barriers.query(this.#sql.barrier(address, epoch)));
  }

  async head(address: Address): Promise<ActorRow | undefined> {
    return actorRow(await this.#barriers.query(this.#sql.head(address)));
  }

  async commit(commits: readonly Commit[]): Promise<ReadonlySet<number>> {
    if (commits.length === 0) return new Set();
    const { first, second } = this.#sql.batchCommit(commits);
    if (second === undefined) return new Set(members(await this.#commits.query(first)));
    return this.#commits.transaction(async (connection) => {
      const passed = members(await connection.query(first));
      if (passed.length > 0) await connection.query(second(passed));
      return new Set(passed);
    });
  }

  async unlocked(addresses: readonly Address[]): Promise<ReadonlySet<number>> {
    return new Set(members(await this.#commits.query(this.#sql.unlocked(addresses))));
  }

  slices(address: Address): Promise<readonly SliceRow[]> {
    return this.#slices.ask(address);
  }

  timers(address: Address): Promise<readonly TimerRow[]> {
    return this.#timers.ask(address);
  }

  async read(reads: readonly StoreRead[]): Promise<readonly StoreRows[]> {
    const joined = joinReads(reads).map((each) => ({ ...each, ...this.#sql.planRead(each.read) }));
    const answers = await Promise.all(
      joined.map(async ({ statement, finish, split }) => split(finish(await this.#reads.query(statement)))),
    );
    return answers
      .flat()
      .sort((a, b) => a.index - b.index)
      .map(({ found }) => found);
  }

  async dueTimers(sweep: SweepRead): Promise<readonly TimerRow[]> {
    const rows = await this.#swept(sweep, 'due_at', (part) => this.#sql.dueTimers(part));
    return rows as unknown as readonly TimerRow[];
  }

  async pendingTells(sweep: SweepRead): Promise<readonly TellRow[]> {
    const rows = await this.#swept(sweep, 'retry_at', (part) => this.#sql.pendingTells(part));
    return rows as unknown as readonly TellRow[];
  }

  async backlog(): Promise<Backlog> {
    const [row] = await this.#sweeps.query(this.#sql.backlog());
    return {
      pendingTells: Number(row?.['pending_tells']),
      deadTells: Number(row?.['dead_tells']),
      pendingTimers: Number(row?.['pending_timers']),
      deadTimers: Number(row?.['dead_timers']),
    };
  }

  async deadTimers(limit: number): Promise<readonly TimerRow[]> {
    return (await this.#sweeps.query(this.#sql.deadTimers(limit))) as unknown as readonly TimerRow[];
  }

  async deadTells(limit: number): Promise<readonly TellRow[]> {
    return (await this.#sweeps.query(this.#sql.deadTells(limit))) as unknown as readonly TellRow[];
  }

  async pruneCalls(shards: readonly number[], beforeMs: number, limit: number): Promise<number> {
    let pruned = 0;
    for (const part of this.#partsOf(shards))
      if (pruned < limit)
        pruned += (await this.#sweeps.query(this.#sql.pruneCalls(part, beforeMs, limit - pruned))).length;
    return pruned;
  }

  /** The floor comes before the removal. An actor created after that begins above the removed versions. */
  async removeEnded(shards: readonly number[], beforeMs: number, limit: number): Promise<number> {
    const rows = await this.#sweeps.query(this.#sql.endedActors(shards, beforeMs, limit));
    if (rows.length === 0) return 0;
    const ended = rows as unknown as readonly EndedActor[];
    await this.#sweeps.query(this.#sql.raiseVersionFloor(versionAbove(ended)));
    await this.#sweeps.transaction(async (connection) => {
      await connection.query(this.#sql.removeActors(ended));
      await connection.query(this.#sql.reviewActors(ended));
    });
    return rows.length;
  }

  async removeNodes(beforeMs: number): Promise<void> {
    await this.#ownership.query(this.#sql.removeNodes(beforeMs));
  }

  async fixedSetting(name: string, value: string): Promise<string> {
    const set = await this.#sweeps.query(this.#sql.setSetting(name, value));
    const rows = set.length > 0 ? set : await this.#sweeps.query(this.#sql.setting(name));
    return String(rows[0]?.['value']);
  }

  async replaceSetting(name: string, value: string): Promise<void> {
    await this.#sweeps.query(this.#sql.replaceSetting(name, value));
  }

  async close(): Promise<void> {
    await Promise.all(this.#pools.map((pool) => pool.close()));
  }

  /** Sweeps as many shards at once as one statement may name, and merges the results in order. */
  async #swept(
    sweep: SweepRead,
    time: string,
    statementOf: (part: SweepRead) => Statement,
  ): Promise<readonly Row[]> {
    const [first, ...others] = this.#partsOf(sweep.shards).map((shards) => statementOf({ ...sweep, shards }));
    const found = first === undefined ? [] : [...(await this.#sweeps.query(first))];
    if (others.length === 0) return found;
    for (const statement of others) found.push(...(await this.#sweeps.query(statement)));
    return found.sort((a, b) => Number(a[time]) - Number(b[time])).slice(0, sweep.limit);
  }

  #partsOf(shards: readonly number[]): readonly (readonly number[])[] {
    const { shardsMax: max } = this.#sql;
    if (shards.length <= max) return [shards];
    return Array.from({ length: Math.ceil(shards.length / max) }, (_, part) =>
      shards.slice(part * max, (part + 1) * max),
    );
  }

  get #pools(): readonly ConnectionPool[] {
    return [this.#commits, this.#reads, this.#barriers, this.#sweeps, this.#ownership, this.#leases];
  }

  /** If no answer comes soon, asks again over another connection. The first answer counts. */
  async #hedged<T>(ask: () => Promise<T>): Promise<T> {
    const first = ask();
    const isLate = await new Promise<boolean>((resolve) => {
      const cancel = this.#clock.schedule(hedgeMs, () => resolve(true));
      const answered = () => {
        cancel();
        resolve(false);
      };
      first.then(answered, answered);
    });
    return isLate ? firstOf([first, ask()]) : first;
  }

  async #verifyPool(pool: ConnectionPool): Promise<void> {
    const [isolation] = await pool.query(this.#sql.isolation);
    if (isolation?.['transaction_isolation'] !== 'read committed') {
      throw new StoreError('unavailable', 'the database does not run transactions at READ COMMITTED');
    }
    const [readOnly] = await pool.query(this.#sql.readOnly);
    if (readOnly?.['transaction_read_only'] !== 'off') {
      throw new StoreError('unavailable', 'the database is read-only');
    }
  }
}

/** The first that is fulfilled. If none is, the rejection of the first. */
async function firstOf<T>(answers: readonly Promise<T>[]): Promise<T> {
  try {
    return await Promise.any(answers);
  } catch {
    return Promise.race(answers);
  }
}

function actorRow(rows: readonly Row[]): ActorRow | undefined {
  const [row] = rows;
  if (row === undefined) return undefined;
  const commitId = row['commit_id'];
  return {
    epoch: Number(row['epoch']),
    version: Number(row['version']),
    commitId: typeof commitId === 'string' ? commitId : null,
  };
}

function versionAbove(actors: readonly EndedActor[]): number {
  return actors.reduce((greatest, { version }) => Math.max(greatest, version), 0) + 1;
}

function shardNumbers(rows: readonly Row[]): number[] {
  return rows.map((row) => Number(row['shard']));
}

function members(rows: readonly Row[]): number[] {
  return rows.map((row) => Number(row['member']));
}
