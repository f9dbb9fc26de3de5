/**
 * Which shards this host owns, and under which epochs.
 *
 * There is no coordinator. Each host reconciles with the database again and again, and at once after a hint that something
 * changed. It expires the nodes whose leases have ended (`sight.ts`), and computes where each shard belongs (`placement.ts`).
 * It claims free shards that belong to it, and hands over shards that belong to another host (`hand-over.ts`).
 *
 * A shard at this host
 *   owned      served, under the epoch of its claim
 *   leaving    no longer served, not yet released: calls to it are answered "moved" and are repeated
 *   (neither)
 *
 * Invariants
 *   - A shard is served only after its claim was answered, and never again after it began to leave under that epoch.
 *   - The database may say that this incarnation holds a shard which the host does not know of, because the answer of a claim was
 *     lost. The next reconciliation claims it anew or releases it, so nothing stays unserved for longer.
 *   - A host whose lease has lapsed listens for no shard. A host that hears of another owner of its shard stops listening for that
 *     shard until the database has decided. "Moved" from a former owner would outrun the new owner's reply, and the caller would
 *     ask again and again.
 *
 * Crash at any step: the lease expires, another host declares the incarnation dead, and its shards are free.
 *
 * Stability: a shard leaves only for a host that has renewed its lease lately. The set of hosts has to have stayed the same for
 * half a lease before. A drain or an operator can override this. The host that a free shard belongs to claims it at once. After
 * it has been free for a whole lease any other host claims it. Its own host may be unable to, for example because it cannot read
 * a newer format. Such a host leaves the shard to others for a few leases. If the shard is free even then, no host could take
 * it. This host then serves the part that it can read, until the hosts change.
 *
 * Cost: a reconciliation is three small statements, and now and then one over all shards of other hosts. Few hosts send that
 * one twice a lease each; many hosts together send it as often as a few do. Hosts reconcile by themselves four times a lease,
 * and when the first lease of another host ends. They reconcile at once when a shard that belongs to them is freed. All
 * reconcile when a host drains, leaves or is declared dead, spread over a time that grows with their number. When a host joins,
 * only those that have a shard for it reconcile at once: of three hundred hosts that is one in six. However
 * many hints come, at most one reconciliation waits while another runs. Nothing here waits for the transport.
 */
import { sleep } from '../clock.ts';
import type { Random } from '../random.ts';
import { type HeldShard, type LiveNode, type NodeRow, type Store, StoreError } from '../store/store.ts';
import type { Hint, Transport } from '../transport/transport.ts';
import { HandOver, type HandOverOptions } from './hand-over.ts';
import { ClusterMembership } from './membership.ts';
import { Neighbours } from './neighbours.ts';
import { Peers } from './peers.ts';
import { shardsOfHostMin, takesAny } from './placement.ts';
import { Reachability } from './reachability.ts';
import { Sight } from './sight.ts';

/** The time from a hint to its reconciliation, and the time per host over which hosts spread theirs. */
const reconciliationPauseMs = 10;
const reconciliationSpreadMinMs = 20;
const reconciliationSpreadPerHostMs = 2;
/** Hosts that get the same hint at once reconcile at random times within this span, which bounds their statements per second. */
export const reconciliationSpreadMs = (hosts: number): number =>
  Math.max(reconciliationSpreadMinMs, reconciliationSpreadPerHostMs * hosts);
/** Beyond this number, hosts together search for free shards no more often, because all of them find the same. */
export const searchersMax = 8;
/** The pause before the database is asked again after a failure. */
const retryPauseMs = 500;
const leaveFailuresMax = 5;
/** The number of leases for which a host leaves a shard that it cannot read to others. */
const declinedLeases = 3;
/** The number of leases for which a starting host waits for its shards at other hosts before it says that it is ready. */
const joinLeases = 3;

export interface OwnershipOptions extends Omit<HandOverOptions, 'stopIntake'> {
  readonly store: Store;
  readonly random: Random;
  readonly shardCount: number;
  readonly leaseMs: number;
  /** See `ReachabilityOptions`. */
  readonly isClockRight?: () => boolean;
  readonly transport: Pick<Transport, 'isConnected' | 'reachesOthers' | 'route' | 'unroute' | 'hint'>;
  /** Newly claimed shards. This host now delivers their timers and tells. */
  readonly onClaimed: (shards: readonly number[]) => void;
}

export class Ownership {
  readonly #options: OwnershipOptions;
  readonly #membership: ClusterMembership;
  readonly #neighbours: Neighbours;
  readonly #peers: Peers;
  readonly #reachability: Reachability;
  /** Owned shards and their epochs. */
  readonly #epochs = new Map<number, number>();
  readonly #handOver: HandOver;
  readonly #sight: Sight;
  /** Shards that were found free, and when. */
  #freeSinceMs = new Map<number, number>();
  #searchesAtMs = Number.NEGATIVE_INFINITY;
  /** Shards that this host could not read, and until when it leaves them to others. */
  readonly #declinedUntilMs = new Map<number, number>();
  #reconciledAtMs = Number.NEGATIVE_INFINITY;
  #startedAtMs = Number.POSITIVE_INFINITY;
  #hasJoined = false;
  #isLeaving = false;
  #reconciling: Promise<void> | undefined;
  #needsReconciliation = false;
  /** Shards of this host that another host says it has claimed. They are not routed here until the next reconciliation. */
  readonly #disputed = new Set<number>();
  #isLapsed = false;
  #cancel: () => void = () => {};
  #ended = false;

  constructor(options: OwnershipOptions) {
    this.#options = options;
    this.#membership = new ClusterMembership(options);
    this.#neighbours = new Neighbours(options);
    this.#peers = new Peers(options);
    this.#reachability = new Reachability(options);
    this.#sight = new Sight(options.leaseMs);
    this.#handOver = new HandOver({ ...options, stopIntake: (max) => this.#stopIntake(max) });
  }

  /**
   * Claims free shards that belong here, and keeps every shard at its host from now on. Hosts that all start at once claim one
   * by one. A host whose turn does not come in time reconciles again. @throws StoreError
   */
  async start(): Promise<void> {
    this.#startedAtMs = this.#options.clock.monotonicMs();
    try {
      await this.#reconcile();
    } catch (error) {
      const isPassing = error instanceof StoreError && ['conflict', 'unknown'].includes(error.failure);
      if (!isPassing) throw error;
      this.#failed(error, 'the first reconciliation of shards failed');
    }
    this.#options.transport.hint({ hint: 'joined', node: this.#options.node.id });
    this.#scheduleReconciliation();
  }

  /** The epoch under which this host owns a shard. Undefined if it does not own it. */
  epochOf(shard: number): number | undefined {
    return this.#epochs.get(shard);
  }

  get shards(): readonly number[] {
    return [...this.#epochs.keys()];
  }

  /** Shards that are no longer served here and not released yet. */
  get leavingCount(): number {
    return this.#handOver.size;
  }

  /** Live hosts that cannot be reached from here. */
  get unreachableHostCount(): number {
    return this.#peers.unreachableCount;
  }

  /** Milliseconds since the last reconciliation that succeeded began; infinite before the first. */
  get reconciliationAgeMs(): number {
    return this.#options.clock.monotonicMs() - this.#reconciledAtMs;
  }

  /**
   * Whether this host takes the free shards that belong here, after it has once had every shard that belongs here or has waited
   * long enough. Shards that others still serve do not count against it. Otherwise one host that hands over slowly would make all
   * others unready.
   */
  get isComplete(): boolean {
    return this.#hasJoined && this.reconciliationAgeMs < this.#options.leaseMs;
  }

  /** A hint of a newer release is not understood and changes nothing. */
  hinted(hint: Hint): void {
    const isForAll = hint.hint === 'nodes' || hint.hint === 'rebalance';
    if (hint.hint === 'present' || hint.hint === 'claimed') this.#peers.heard(hint.host);
    if (hint.hint === 'claimed' && hint.host !== this.#options.node.incarnation) this.#dispute(hint.shards);
    if (hint.hint === 'rebalance') this.#membership.rebalanceNow();
    if (isForAll || this.#isForUs(hint)) this.#reconcileSoon();
  }

  /** The lease has lapsed: another host may own all of these shards by now. */
  lapsed(): void {
    this.#isLapsed = true;
    this.#options.transport.unroute(this.shards);
    this.#options.logger.warn(
      { shards: this.#epochs.size },
      'the lease has lapsed: nothing is served here for now',
    );
  }

  /** The lease is valid again: no other host has claimed these shards. */
  restored(): void {
    this.#isLapsed = false;
    void this.#options.transport.route(this.shards.filter((shard) => !this.#disputed.has(shard)));
  }

  /** A late hint of an earlier owner looks the same: only the database can tell. */
  #dispute(shards: readonly number[]): void {
    const disputed = shards.filter((shard) => this.#epochs.has(shard));
    if (disputed.length === 0) return;
    for (const shard of disputed) this.#disputed.add(shard);
    this.#options.transport.unroute(disputed);
    this.#reconcileSoon();
  }

  #settleDisputes(): void {
    const settled = [...this.#disputed].filter((shard) => this.#epochs.has(shard));
    this.#disputed.clear();
    if (!this.#isLapsed && settled.length > 0) void this.#options.transport.route(settled);
  }

  #isForUs(hint: Hint): boolean {
    if (hint.hint === 'freed') return hint.shards.some((shard) => this.#belongsHere(shard));
    return hint.hint === 'joined' && takesAny(hint.node, this.#options.node.id, this.#epochs.keys());
  }

  /** This host cannot read the stored state of the shard. Another host may be able to. */
  release(shard: number): void {
    // A shard that was declined before and is here again could not be read by any host.
    if (this.#declinedUntilMs.has(shard)) return;
    const { clock, leaseMs, logger } = this.#options;
    this.#declinedUntilMs.set(shard, clock.monotonicMs() + declinedLeases * leaseMs);
    logger.warn({ shard }, 'a shard holds what this release cannot read; it is given back');
    void this.#handOver.run();
  }

  #isDeclined(shard: number): boolean {
    const untilMs = this.#declinedUntilMs.get(shard);
    return untilMs !== undefined && this.#options.clock.monotonicMs() < untilMs;
  }

  /**
   * Hands all shards over to the other hosts, for a shutdown. Resolves when this host owns none, or when no host is there to
   * take them. The next host finds all of them free when the lease is given back.
   */
  async leave(): Promise<void> {
    const { store, node, transport, clock } = this.#options;
    if (!transport.reachesOthers) return;
    this.#isLeaving = true;
    for (let failures = 0; !this.#ended && failures < leaveFailuresMax; ) {
      try {
        if (!this.#membership.isDraining) {
          // Drains this incarnation only. A later one of this node should stay.
          if (!(await store.setDraining(node.id, true, node.incarnation))) return;
          transport.hint({ hint: 'nodes' });
        }
        await this.#reconcile();
        if (!this.#membership.hasOthers) return;
        await this.#handOver.run();
        if (this.#epochs.size + this.#handOver.size === 0) return;
        failures = 0;
        await sleep(clock, retryPauseMs);
      } catch (error) {
        this.#failed(error, 'the shards could not be handed over');
        failures += 1;
        await sleep(clock, retryPauseMs);
      }
    }
  }

  stop(): void {
    this.#ended = true;
    this.#cancel();
    this.#epochs.clear();
    this.#handOver.stop();
  }

  // --- reconciling ------------------------------------------------------------------------------------------

  #scheduleReconciliation(): void {
    if (this.#ended) return;
    this.#cancel();
    this.#cancel = this.#options.clock.schedule(this.#pauseMs(), () => void this.#reconcileAndGoOn());
  }

  #pauseMs(): number {
    const { leaseMs, random } = this.#options;
    const pauseMs = (leaseMs / 4) * (0.8 + 0.4 * random.fraction());
    const { soonestExpiryMs } = this.#membership;
    if (soonestExpiryMs >= pauseMs) return pauseMs;
    // A host that has not renewed its lease by now may be gone. All others wait for that moment, and the first one tells the
    // rest.
    return Math.min(pauseMs, soonestExpiryMs + 1 + this.#spreadMs() * random.fraction());
  }

  /** Hosts would otherwise begin at the same moment, so each waits for a random part of this time. */
  #spreadMs(): number {
    return reconciliationSpreadMs(this.#membership.hostCount);
  }

  #reconcileSoon(): void {
    if (this.#ended || this.#needsReconciliation) return;
    this.#needsReconciliation = true;
    const { clock, random } = this.#options;
    clock.schedule(
      reconciliationPauseMs + this.#spreadMs() * random.fraction(),
      () => void this.#reconcileWhileNeeded(),
    );
  }

  /** This reconciliation sees everything that was hinted at before it begins. */
  async #reconcileWhileNeeded(): Promise<void> {
    await this.#reconciling?.catch(() => undefined);
    this.#needsReconciliation = false;
    await this.#reconcileAndGoOn();
  }

  async #reconcileAndGoOn(): Promise<void> {
    if (this.#ended) return;
    try {
      await this.#reconcile();
    } catch (error) {
      this.#failed(error, 'the ownership of shards could not be reconciled');
    }
    this.#scheduleReconciliation();
  }

  /** One reconciliation at a time, so that none acts on an older one's reads. */
  #reconcile(): Promise<void> {
    const before = this.#reconciling ?? Promise.resolve();
    const reconciling = before.catch(() => undefined).then(() => this.#reconcileOnce());
    this.#reconciling = reconciling;
    return reconciling;
  }

  async #reconcileOnce(): Promise<void> {
    const { store, node, clock, transport } = this.#options;
    const beganAtMs = clock.monotonicMs();
    const expired = this.#sight.hasLasted(beganAtMs) ? await store.expireNodes() : [];
    if (expired.length > 0) transport.hint({ hint: 'nodes' });
    let nodes = await store.nodes();
    this.#sight.seen(beganAtMs);
    this.#sight.seen(clock.monotonicMs());
    const own = rowOf(node, nodes);
    if (own === undefined) return;
    if (await this.#reachability.correct(own.connected)) nodes = await store.nodes();
    const held = await store.shardsOf(node.incarnation);
    if (this.#ended || rowOf(node, nodes) === undefined) return;
    if (this.#membership.update(nodes)) this.#startAnew();
    this.#neighbours.update(nodes);
    this.#peers.update(nodes);
    await this.#alignWith(held);
    this.#settleDisputes();
    await this.#claim();
    this.#sight.seen(clock.monotonicMs());
    if (this.#ended) return;
    this.#reconciledAtMs = beganAtMs;
    void this.#handOver.run();
  }

  /** The hosts have changed, so findings about the former hosts no longer hold. */
  #startAnew(): void {
    this.#declinedUntilMs.clear();
    this.#freeSinceMs.clear();
    const { shardCount, logger } = this.#options;
    const hosts = this.#membership.hostCount;
    if (shardCount < hosts * shardsOfHostMin)
      logger.warn(
        { shards: shardCount, hosts },
        'there are too few shards to share them evenly; see `scriptorium reshard`',
      );
  }

  /** Makes the database and this host agree on the shards that are here. */
  async #alignWith(held: readonly HeldShard[]): Promise<void> {
    const epochs = new Map(held.map(({ shard, epoch }) => [shard, epoch]));
    const lost = this.shards.filter((shard) => epochs.get(shard) !== this.#epochs.get(shard));
    if (lost.length > 0) {
      this.#options.logger.error(
        { shards: lost.length },
        "shards are no longer this host's; they are dropped",
      );
      for (const shard of lost) this.#epochs.delete(shard);
      this.#options.transport.unroute(lost);
      await this.#options.quiesce(new Set(lost), 0);
      // The next incarnation of this process may have routed other shards here.
      if (this.#ended) return;
    }
    const unknown = held.filter(({ shard }) => !this.#epochs.has(shard) && !this.#handOver.has(shard));
    const unwanted = unknown.filter(({ shard }) => !this.#belongsHere(shard));
    if (unwanted.length > 0) await this.#handOver.release(unwanted);
  }

  #belongsHere(shard: number): boolean {
    if (this.#isLeaving || this.#isDeclined(shard)) return false;
    return this.#membership.hostOf(shard) === this.#options.node.id;
  }

  async #claim(): Promise<void> {
    if (this.#ended) return;
    const { store, node, shardCount } = this.#options;
    const notOwned = Array.from({ length: shardCount }, (_, shard) => shard).filter(
      (shard) => !this.#epochs.has(shard) && !this.#handOver.has(shard),
    );
    const claimable = notOwned.filter((shard) => this.#belongsHere(shard));
    const strays = await this.#strays(notOwned.filter((shard) => !this.#belongsHere(shard)));
    const unserved = [...claimable, ...strays];
    if (unserved.length > 0) {
      const claimed = await store.claim(node.id, node.incarnation, unserved);
      if (this.#ended) return;
      this.#take(claimed);
    }
    this.#hasJoined ||= claimable.every((shard) => this.#epochs.has(shard)) || this.#hasWaitedToJoin;
  }

  /** Shards that others still have after that were adopted by them, and may stay there. */
  get #hasWaitedToJoin(): boolean {
    const { clock, leaseMs } = this.#options;
    return clock.monotonicMs() - this.#startedAtMs >= joinLeases * leaseMs;
  }

  /** The shards that have been free for so long that their host seems unable to take them. */
  async #strays(notOwned: readonly number[]): Promise<readonly number[]> {
    const { store, clock, leaseMs } = this.#options;
    const nowMs = clock.monotonicMs();
    if (this.#isLeaving || this.#membership.isDraining) return [];
    const isSearchDue = nowMs >= this.#searchesAtMs;
    const candidates = notOwned.filter(
      (shard) => (isSearchDue || this.#freeSinceMs.has(shard)) && !this.#isDeclined(shard),
    );
    const free = candidates.length === 0 ? [] : await store.freeShards(candidates);
    if (isSearchDue) this.#searchesAtMs = nowMs + this.#searchPauseMs();
    this.#freeSinceMs = new Map(free.map((shard) => [shard, this.#freeSinceMs.get(shard) ?? nowMs]));
    return free.filter((shard) => nowMs - (this.#freeSinceMs.get(shard) ?? nowMs) >= leaseMs);
  }

  /**
   * A search goes through all shards. If each of three hundred hosts searched twice a lease, the database would do little else.
   */
  #searchPauseMs(): number {
    const { leaseMs, random } = this.#options;
    const share = this.#membership.hostCount / searchersMax;
    if (share <= 1) return leaseMs / 2;
    // Hosts that started together do not search together.
    return (leaseMs / 2) * share * (0.5 + random.fraction());
  }

  #take({ shards, epoch }: { readonly shards: readonly number[]; readonly epoch: number }): void {
    if (shards.length === 0) return;
    const { transport, node, metrics, logger, onClaimed } = this.#options;
    for (const shard of shards) this.#epochs.set(shard, epoch);
    this.#membership.adopt(shards);
    metrics.claimed(shards.length);
    logger.info({ shards: shards.length, owned: this.#epochs.size }, 'claimed shards');
    onClaimed(shards);
    // This must not be awaited: while this process is cut off from the others nothing is routed, but reconciliation has to go on.
    void transport.route(shards).then(() => {
      if (!this.#ended) transport.hint({ hint: 'claimed', shards, host: node.incarnation, epoch });
    });
  }

  /** Takes shards out of service here. */
  #stopIntake(max: number): readonly HeldShard[] {
    const leaving: HeldShard[] = [];
    for (const [shard, epoch] of this.#epochs) {
      if (leaving.length >= max) break;
      if (!this.#isDeclined(shard) && !this.#membership.shouldLeave(shard)) continue;
      this.#epochs.delete(shard);
      leaving.push({ shard, epoch });
    }
    return leaving;
  }

  #failed(error: unknown, message: string): void {
    if (!(error instanceof StoreError)) throw error;
    this.#options.logger.warn({ failure: error.failure }, message);
  }
}

/** Undefined if this incarnation is not the registered one. */
function rowOf(node: NodeRow, nodes: readonly LiveNode[]): LiveNode | undefined {
  return nodes.find(({ id, incarnation }) => id === node.id && incarnation === node.incarnation);
}
