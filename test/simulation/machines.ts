/**
 * The machines: each runs one process after another, as a host, a gateway or both. A process crashes, pauses, shuts
 * down and starts again. A process that is paused for long may have a successor of the same node, and finds out when
 * it wakes. Only the runtime decides whether two processes of one node can harm each other.
 */

import { sleep } from '../../runtime/clock.ts';
import { type Provided, provide } from '../../runtime/dependency.ts';
import { ActorError } from '../../runtime/errors.ts';
import type { Actors } from '../../runtime/handles.ts';
import { createActors } from '../../runtime/host/actors.ts';
import { Node } from '../../runtime/host/node.ts';
import type { RuntimeMetrics } from '../../runtime/host/runtime-metrics.ts';
import type { Kind } from '../../runtime/kind.ts';
import { type Commit, type NodeRow, StoreError } from '../../runtime/store/store.ts';
import { ModelStore, type Schedule } from '../kit/model-store/model-store.ts';
import type { SeededRandom } from '../kit/random.ts';
import { SlowWork } from './counter.ts';
import type { WatchedDatabase } from './database.ts';
import type { Endpoint } from './endpoint.ts';
import type { Network } from './network.ts';
import type { MachinePlan, Plan } from './plan.ts';
import { SimulatedProcess } from './process.ts';
import type { StickyFaults } from './sticky-faults.ts';
import type { StorageFaults } from './storage-faults.ts';
import { Supervisors } from './supervisors.ts';
import type { SimulatedTime } from './time.ts';
import type { Trace } from './trace.ts';

export interface MachinesOptions {
  readonly plan: Plan;
  readonly time: SimulatedTime;
  readonly random: SeededRandom;
  readonly trace: Trace;
  readonly kinds: readonly Kind[];
  readonly provided: readonly Provided[];
  readonly database: WatchedDatabase;
  readonly faults: StorageFaults;
  readonly stickyFaults: StickyFaults;
  readonly network: Network;
  readonly metrics: RuntimeMetrics;
  readonly jobBegan: SlowWork['began'];
  /** The parts of a process that are its own, besides the shared ones. */
  readonly providedTo: (process: SimulatedProcess) => readonly Provided[];
  readonly randomOf: (part: string) => SeededRandom;
}

/** One run of a process. */
export interface Run {
  readonly machine: MachinePlan;
  readonly process: SimulatedProcess;
  readonly endpoint: Endpoint;
  /** For clients; undefined if it serves none. */
  readonly actors: Actors | undefined;
  readonly node: Node | undefined;
  readonly store: RunStore;
  /** No other process of its machine can exist while it runs: it knows that its predecessor is dead. */
  readonly hasLock: boolean;
  /** It accepts no more calls of clients, and ends when its open ones are answered. */
  isClosing: boolean;
  asks: number;
}

/** Records its last registered incarnation. Its commits meet the sticky faults of their actors. */
class RunStore extends ModelStore {
  readonly #stickyFaults: StickyFaults;
  readonly #process: SimulatedProcess;
  incarnation = '';

  constructor(
    database: WatchedDatabase,
    schedule: Schedule,
    stickyFaults: StickyFaults,
    process: SimulatedProcess,
  ) {
    super(database, schedule);
    this.#stickyFaults = stickyFaults;
    this.#process = process;
  }

  override commit(commits: readonly Commit[]): Promise<ReadonlySet<number>> {
    return this.#stickyFaults.commit(commits, this.#process, () => super.commit(commits));
  }

  override register(node: NodeRow, leaseMs: number, isPredecessorDead: boolean): Promise<number> {
    this.incarnation = node.incarnation;
    return super.register(node, leaseMs, isPredecessorDead);
  }
}

const restartMaxMs = 2_000;
const longPauseShare = 1.3;
const drainMs = 2_000;
const plannedDrainMs = 15_000;
const drainPauseMs = 20;

export class Machines {
  readonly #options: MachinesOptions;
  readonly #runs = new Set<Run>();
  /** The machines that must always have a process. */
  readonly #planned = new Set<MachinePlan>();
  readonly #supervisors: Supervisors;
  #started = 0;
  #healed = false;

  constructor(options: MachinesOptions) {
    this.#options = options;
    this.#supervisors = new Supervisors({
      ...options,
      random: options.randomOf('supervisors'),
      leaseMs: options.plan.leaseMs,
      hint: () => this.#hintNodes(),
    });
    for (const machine of options.plan.machines) {
      options.time.after(machine.startsAtMs, () => {
        this.#planned.add(machine);
        this.#start(machine);
      });
    }
  }

  /** Processes that are not dead. */
  get runs(): readonly Run[] {
    return [...this.#runs];
  }

  /** Every machine runs one process, and that one is ready. */
  get unready(): string | undefined {
    for (const machine of this.#planned) {
      const runs = this.runs.filter((run) => run.machine === machine);
      if (runs.length !== 1) return `${machine.id} has ${runs.length} processes`;
      if (runs.some(({ node }) => node?.isReady === false)) return `${machine.id} is not ready`;
    }
    return undefined;
  }

  /** Every slot of every host is free again. */
  get busy(): string | undefined {
    const busy = this.runs.find(({ node }) => node?.isIdle === false);
    return busy === undefined ? undefined : `${busy.process.name} has something in flight`;
  }

  runOf(process: SimulatedProcess): Run | undefined {
    return this.runs.find((run) => run.process === process);
  }

  /** From now on no process suffers a fault. */
  heal(): void {
    this.#healed = true;
    for (const { process } of this.#runs) this.#wake(process);
  }

  crash(process: SimulatedProcess): void {
    const run = this.runOf(process);
    if (run !== undefined) this.#end(run, 'crashes');
  }

  /** For longer than a lease. */
  pauseLong(process: SimulatedProcess): void {
    const { random, plan } = this.#options;
    this.pause(process, (1 + random.fraction()) * longPauseShare * plan.leaseMs);
  }

  pause(process: SimulatedProcess, forMs: number): void {
    const { time, random, plan, trace } = this.#options;
    const run = this.runOf(process);
    if (run === undefined || !process.isRunning || this.#healed) return;
    const suspended = random.chance(run.machine.suspends);
    trace.add(() => `${process.name} pauses for ${Math.round(forMs)} ms${suspended ? ', asleep' : ''}`);
    process.pause(suspended);
    time.after(forMs, () => this.#wake(process));
    if (run.node === undefined || run.hasLock || !random.chance(plan.chaos.succeedPaused)) return;
    time.after(random.fraction() * forMs * 0.9, () => {
      if (!this.#healed && process.isPaused) this.#start(run.machine);
    });
  }

  /** An orderly end, after which it starts again, or is gone for good. */
  async shutDown(run: Run, forGood: boolean): Promise<void> {
    const { plan, time } = this.#options;
    if (forGood) this.#planned.delete(run.machine);
    this.#options.trace.add(() => `${run.process.name} shuts down${forGood ? ' for good' : ''}`);
    run.isClosing = true;
    await run.node?.drain(plan.isPlanned ? plannedDrainMs : drainMs);
    const untilMs = time.nowMs + drainMs;
    while (run.asks > 0 && (plan.isPlanned || time.nowMs < untilMs)) await time.sleep(drainPauseMs);
    this.#end(run, 'has shut down');
  }

  /** By the connection of a live process: messages there may be lost as well. */
  #hintNodes(): void {
    const [run] = this.#runs;
    run?.process.enter(() => run.endpoint.hint({ hint: 'nodes' }));
  }

  #wake(process: SimulatedProcess): void {
    if (!process.isPaused) return;
    this.#options.trace.add(() => `${process.name} wakes`);
    process.resume();
  }

  #start(machine: MachinePlan): void {
    const { plan, time, network, trace, randomOf, random, database, faults, stickyFaults } = this.#options;
    this.#started += 1;
    const own = randomOf(`run ${this.#started}`);
    const clocks = {
      wallSkewMs: (own.fraction() * 2 - 1) * plan.wallSkewMs,
      rate: 1 + (own.fraction() * 2 - 1) * plan.driftMost,
    };
    const process = new SimulatedProcess(`${machine.id}${this.#started}`, time, clocks);
    const endpoint = network.join(process);
    const store = new RunStore(database, faults.scheduleOf(process), stickyFaults, process);
    const isAlone = this.runs.every((run) => run.machine !== machine);
    const hasLock = isAlone && random.chance(plan.chaos.succeedAtOnce);
    const run: Run = {
      machine,
      process,
      endpoint,
      store,
      hasLock,
      isClosing: false,
      asks: 0,
      actors: machine.roles === 'host' ? undefined : this.#actors(process, endpoint, own),
      node:
        machine.roles === 'gateway'
          ? undefined
          : this.#node(machine, { process, endpoint, store, random: own }, hasLock),
    };
    this.#runs.add(run);
    trace.add(() => `${process.name} starts`);
    void this.#startNode(run);
  }

  #actors(clock: SimulatedProcess, transport: Endpoint, random: SeededRandom): Actors {
    const { defaultDeadlineMs } = this.#options.plan.limits;
    return createActors({ transport, clock, random, defaultDeadlineMs });
  }

  #node(
    machine: MachinePlan,
    {
      process,
      endpoint,
      store,
      random,
    }: Pick<Run, 'process' | 'endpoint' | 'store'> & { random: SeededRandom },
    isPredecessorDead: boolean,
  ): Node {
    const { plan, kinds, provided, trace, jobBegan, providedTo } = this.#options;
    const { id, roles } = machine;
    const own = [
      provide(SlowWork, { began: jobBegan, take: (forMs) => sleep(process, forMs) }),
      ...providedTo(process),
    ];
    return new Node({
      kinds,
      provided: [...provided, ...own],
      store,
      transport: endpoint,
      clock: process,
      random,
      limits: plan.limits,
      metrics: this.#options.metrics,
      logger: trace.loggerOf(process.name),
      node: { id, address: '', roles, version: '0', formats: '1' },
      shardCount: plan.shardCount,
      leaseMs: plan.leaseMs,
      isPredecessorDead,
      onRejected: (error) => {
        const run = this.runOf(process);
        if (run !== undefined) this.#end(run, `was refused: ${error}`);
      },
    });
  }

  async #startNode(run: Run): Promise<void> {
    const { trace } = this.#options;
    try {
      await run.node?.start();
      trace.add(() => `${run.process.name} serves`);
    } catch (error) {
      if (!(error instanceof StoreError || error instanceof ActorError)) throw error;
      // A process that is to end while it starts stays until its open calls are answered.
      if (!run.isClosing) this.#end(run, `could not start: ${error}`);
    }
  }

  #end(run: Run, why: string): void {
    const { time, network, random, trace } = this.#options;
    if (run.process.isDead) return;
    trace.add(() => `${run.process.name} ${why}`);
    run.process.kill();
    this.#runs.delete(run);
    network.leave(run.endpoint);
    // A process that shut down cleanly has given up its lease itself, and leaves no name.
    if (!run.isClosing) this.#supervisors.died(run.machine.id, run.store.incarnation);
    // Often at once, while messages of its predecessor are still on their way.
    time.after(random.fraction() ** 3 * restartMaxMs, () => {
      const isAlone = this.runs.every(({ machine }) => machine !== run.machine);
      if (isAlone && this.#planned.has(run.machine)) this.#start(run.machine);
    });
  }
}
