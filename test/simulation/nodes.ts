/**
 * The machines: each runs one incarnation of a host after another. They crash, pause, drain and start again; an
 * incarnation that is paused for long may be succeeded by another of the same node, and finds that out when it wakes.
 */
import { Host } from '../../runtime/host.ts';
import type { Kind } from '../../runtime/kind.ts';
import { noMetrics, silentLogger } from '../../runtime/ports.ts';
import { ModelStore } from '../../runtime/store/model.ts';
import { StoreError } from '../../runtime/store/store.ts';
import type { SeededRandom } from '../support/random.ts';
import type { WatchedDatabase } from './database.ts';
import type { Network } from './network.ts';
import type { Plan } from './plan.ts';
import { SimulatedProcess } from './process.ts';
import type { StorageFaults } from './storage-faults.ts';
import type { SimulatedTime } from './time.ts';
import type { Trace } from './trace.ts';

export interface NodesOptions {
  readonly plan: Plan;
  readonly time: SimulatedTime;
  readonly random: SeededRandom;
  readonly trace: Trace;
  readonly kinds: readonly Kind[];
  readonly database: WatchedDatabase;
  readonly faults: StorageFaults;
  readonly network: Network;
  readonly randomOf: (part: string) => SeededRandom;
}

interface Incarnation {
  readonly id: string;
  readonly process: SimulatedProcess;
  host: Host | undefined;
}

const restartMaxMs = 2_000;
const longPauseShare = 1.3;

export class Nodes {
  readonly #options: NodesOptions;
  /** Of every node the incarnation that serves, or should. */
  readonly #current = new Map<string, Incarnation>();
  /** Paused, and succeeded meanwhile by another of the same node. */
  readonly #succeeded = new Set<Incarnation>();
  #incarnations = 0;
  #healed = false;

  constructor(options: NodesOptions) {
    this.#options = options;
    for (const node of options.plan.nodes) this.#start(node);
  }

  /** Crashes the host that runs in this process. */
  crash(process: SimulatedProcess): void {
    for (const [node, incarnation] of this.#current) {
      if (incarnation.process === process) this.#end(node, incarnation, 'crashes');
    }
  }

  /** Pauses it for longer than its lease. */
  pauseLong(process: SimulatedProcess): void {
    const { random, plan } = this.#options;
    for (const [node, incarnation] of this.#current) {
      if (incarnation.process !== process || process.isPaused || process.isDead) continue;
      this.#pause(node, incarnation, (1 + random.fraction()) * longPauseShare * plan.leaseMs);
    }
  }

  get isReady(): boolean {
    return [...this.#current.values()].some(({ host }) => host?.hasLease === true);
  }

  /** From now on nothing befalls any host. */
  heal(): void {
    this.#healed = true;
    for (const incarnation of [...this.#succeeded, ...this.#current.values()]) this.#wake(incarnation);
  }

  /** Something befalls hosts again and again. */
  async disturb(untilMs: number): Promise<void> {
    const { time, random, plan } = this.#options;
    while (plan.chaos.everyMs !== Number.POSITIVE_INFINITY) {
      await time.sleep(random.fraction() * 2 * plan.chaos.everyMs);
      if (time.nowMs >= untilMs) return;
      this.#befall(random.pick(plan.nodes));
    }
  }

  #befall(node: string): void {
    const { plan, random, faults, trace } = this.#options;
    const incarnation = this.#current.get(node);
    if (incarnation === undefined || incarnation.process.isPaused || incarnation.process.isDead) return;
    const { crash, shortPause, longPause, databaseAway, drain } = plan.chaos;
    let drawn = random.fraction() * (crash + shortPause + longPause + databaseAway + drain);
    const isNext = (weight: number) => {
      drawn -= weight;
      return drawn < 0;
    };
    if (isNext(crash)) this.#end(node, incarnation, 'crashes');
    else if (isNext(shortPause)) this.#pause(node, incarnation, random.fraction() * 0.8 * plan.leaseMs);
    else if (isNext(longPause)) this.pauseLong(incarnation.process);
    else if (isNext(databaseAway)) {
      const forMs = random.fraction() * 2 * plan.leaseMs;
      trace.add(() => `${incarnation.process.name} is cut off from the database for ${Math.round(forMs)} ms`);
      faults.cutOff(incarnation.process, forMs);
    } else if (isNext(drain)) void this.#drain(node, incarnation);
  }

  #start(node: string): void {
    const { plan, time, network, database, faults, kinds, trace, randomOf } = this.#options;
    this.#incarnations += 1;
    const random = randomOf(`incarnation ${this.#incarnations}`);
    const skewMs = (random.fraction() * 2 - 1) * plan.wallSkewMs;
    const process = new SimulatedProcess(`${node}${this.#incarnations}`, time, skewMs);
    const incarnation: Incarnation = { id: random.uuid(), process, host: undefined };
    const former = [...this.#succeeded, ...this.#current.values()].filter(({ process: { name } }) =>
      name.startsWith(node),
    );
    this.#current.set(node, incarnation);
    trace.add(() => `${process.name} starts`);
    const host = new Host({
      kinds,
      store: new ModelStore(database, faults.scheduleOf(process)),
      transport: network.join(process, incarnation.id),
      clock: process,
      random,
      limits: plan.limits,
      metrics: noMetrics,
      logger: silentLogger,
      node: { id: node, incarnation: incarnation.id, address: '', roles: 'all', version: '0', formats: '1' },
      shardCount: plan.shardCount,
      leaseMs: plan.leaseMs,
      isPredecessorDead: former.every((each) => each.process.isDead),
      onLeaseLost: () => this.#end(node, incarnation, 'was declared dead'),
    });
    host.start().then(
      () => {
        incarnation.host = host;
        trace.add(() => `${process.name} serves`);
      },
      (error) => {
        if (!(error instanceof StoreError)) throw error;
        this.#end(node, incarnation, 'could not start');
      },
    );
  }

  #end(node: string, incarnation: Incarnation, why: string): void {
    const { time, network, random, trace } = this.#options;
    if (incarnation.process.isDead) return;
    trace.add(() => `${incarnation.process.name} ${why}`);
    incarnation.process.kill();
    network.leave(incarnation.id);
    this.#succeeded.delete(incarnation);
    if (this.#current.get(node) !== incarnation) return;
    // Often at once, while what the one before had sent is still running.
    time.after(random.fraction() ** 3 * restartMaxMs, () => {
      if (this.#current.get(node) === incarnation) this.#start(node);
    });
  }

  /**
   * A successor of the same node comes only where the pause outlasts the lease: what the predecessor may answer from
   * memory in that time is bounded by its lease, and by nothing else.
   */
  #pause(node: string, incarnation: Incarnation, forMs: number): void {
    const { time, random, plan, trace } = this.#options;
    const suspended = random.chance(0.5);
    trace.add(
      () => `${incarnation.process.name} pauses for ${Math.round(forMs)} ms${suspended ? ', asleep' : ''}`,
    );
    incarnation.process.pause(suspended);
    time.after(forMs, () => this.#wake(incarnation));
    if (forMs < plan.leaseMs || !random.chance(plan.chaos.succeedPaused)) return;
    time.after(random.fraction() * forMs * 0.9, () => {
      if (this.#healed || this.#current.get(node) !== incarnation || !incarnation.process.isPaused) return;
      this.#succeeded.add(incarnation);
      this.#start(node);
    });
  }

  #wake(incarnation: Incarnation): void {
    if (!incarnation.process.isPaused) return;
    // One that was succeeded sleeps on until its lease has certainly lapsed.
    const { plan, time, trace } = this.#options;
    const sleepOnMs = this.#succeeded.has(incarnation) ? plan.leaseMs - incarnation.process.pausedForMs : 0;
    if (sleepOnMs > 0) {
      time.after(sleepOnMs + 1, () => this.#wake(incarnation));
      return;
    }
    trace.add(() => `${incarnation.process.name} wakes`);
    incarnation.process.resume();
  }

  async #drain(node: string, incarnation: Incarnation): Promise<void> {
    const { host, process } = incarnation;
    if (host === undefined) return;
    this.#options.trace.add(() => `${process.name} drains`);
    await host.drain(2_000);
    this.#end(node, incarnation, 'has drained');
  }
}
