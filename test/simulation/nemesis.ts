/** Disturbs the cluster again and again, following the seed's plan. */
import type { SeededRandom } from '../kit/random.ts';
import { counterNames } from './clients.ts';
import type { DatabaseClock, WatchedDatabase } from './database.ts';
import type { Links } from './links.ts';
import type { Machines, Run } from './machines.ts';
import type { Network } from './network.ts';
import type { ChaosRates, Plan } from './plan.ts';
import type { SimulatedProcess } from './process.ts';
import { type StickyFaults, stickyFaultKinds } from './sticky-faults.ts';
import type { StorageFaults } from './storage-faults.ts';
import type { SimulatedTime } from './time.ts';
import type { Trace } from './trace.ts';

export interface NemesisOptions {
  readonly plan: Plan;
  readonly time: SimulatedTime;
  readonly random: SeededRandom;
  readonly trace: Trace;
  readonly machines: Machines;
  readonly links: Links;
  readonly network: Network;
  readonly faults: StorageFaults;
  readonly stickyFaults: StickyFaults;
  readonly database: WatchedDatabase;
  readonly databaseClock: DatabaseClock;
}

type Event = keyof ChaosRates['events'];

const noticeMaxMs = 3_000;
const cutLeases = 6;
const readyPauseMs = 200;

export class Nemesis {
  readonly #options: NemesisOptions;
  readonly #actions: Readonly<Record<Event, (run: Run) => unknown>>;

  constructor(options: NemesisOptions) {
    this.#options = options;
    const { machines, random, plan, faults } = options;
    const someMs = () => random.fraction() * 2 * plan.leaseMs;
    this.#actions = {
      crash: ({ process }) => machines.crash(process),
      shortPause: ({ process }) => machines.pause(process, random.fraction() * 0.8 * plan.leaseMs),
      longPause: ({ process }) => machines.pauseLong(process),
      databaseAway: ({ process }) => {
        if (plan.isTroubled) return this.#trouble(process);
        return faults.cutOff(process, someMs());
      },
      networkAway: (run) => this.#cutOff(run, someMs()),
      allAway: (run) => {
        const forMs = someMs();
        faults.cutOff(run.process, forMs);
        this.#cutOff(run, forMs);
      },
      blip: (run) => this.#cutOff(run, 300 * random.fraction(), 0),
      partition: () => this.#partition(someMs()),
      oneWay: (run) => this.#oneWay(run, someMs()),
      wallJump: (run) => this.#jump(run),
      databaseJump: () => this.#jumpDatabase(),
      restart: (run) => this.#restart(run),
      retire: (run) => this.#retire(run),
      drain: (run) => this.#setDraining(run, true),
      undrain: (run) => this.#setDraining(run, false),
      stickyFault: () => this.#injectStickyFault(someMs()),
      rebalance: ({ endpoint }) => endpoint.hint({ hint: 'rebalance' }),
    };
  }

  async disturb(untilMs: number): Promise<void> {
    const { time, random, plan, machines, trace } = this.#options;
    while (plan.chaos.everyMs !== Number.POSITIVE_INFINITY) {
      await time.sleep(random.fraction() * 2 * plan.chaos.everyMs);
      if (time.nowMs >= untilMs) return;
      const running = machines.runs.filter(({ process }) => process.isRunning);
      if (running.length === 0) continue;
      const run = random.pick(running);
      const event = this.#drawEvent();
      if (event === undefined) continue;
      trace.add(() => `~ ${event} ${run.process.name}`);
      const done = this.#actions[event](run);
      if (plan.isPlanned) await this.#untilReady(done);
    }
  }

  /** Beyond its lease, or for a moment. */
  #trouble(process: SimulatedProcess): Promise<void> {
    const { random, plan, faults, time } = this.#options;
    const forMs = random.fraction() * cutLeases * plan.leaseMs;
    faults.cutOff(process, forMs);
    return time.sleep(forMs);
  }

  #injectStickyFault(forMs: number): void {
    const { random, plan, trace } = this.#options;
    const counter = random.pick(counterNames.slice(0, plan.counters));
    const kind = random.pick(stickyFaultKinds);
    trace.add(() => `~ ${counter} is ${kind}`);
    this.#options.stickyFaults.inject(counter, kind, forMs);
  }

  async #untilReady(done: unknown): Promise<void> {
    await done;
    do await this.#options.time.sleep(readyPauseMs);
    while (this.#options.machines.unready !== undefined);
  }

  /** Everything works again: nobody is cut off, and somebody is there to serve. */
  heal(): void {
    const { links, network, database, machines, databaseClock } = this.#options;
    links.heal();
    databaseClock.offsetMs = 0;
    const hosts = machines.runs.filter(({ node }) => node !== undefined);
    const drained = new Set(database.nodes().flatMap(({ id, draining }) => (draining ? [id] : [])));
    for (const run of hosts) {
      if (hosts.every(({ machine }) => drained.has(machine.id))) this.#setDraining(run, false);
    }
    network.heal();
  }

  #drawEvent(): Event | undefined {
    const { random, plan } = this.#options;
    const weights = Object.entries(plan.chaos.events) as [Event, number][];
    let drawn = random.fraction() * weights.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [event, weight] of weights) {
      drawn -= weight;
      if (drawn < 0) return event;
    }
    return undefined;
  }

  #cutOff({ process, endpoint }: Run, forMs: number, noticedAfterMs = this.#noticeMs()): void {
    const { links, time, network } = this.#options;
    const from = (other: SimulatedProcess) => other === process;
    links.cut({ from, to: () => true, bothWays: true, forMs, noticedAfterMs });
    time.after(noticedAfterMs, () => {
      if (noticedAfterMs <= forMs) network.disconnect(endpoint);
    });
    time.after(forMs, () => network.reconnect(endpoint));
  }

  #partition(forMs: number): void {
    const { links, random, machines } = this.#options;
    const side = new Set(machines.runs.filter(() => random.chance(0.5)).map(({ process }) => process));
    const from = (process: SimulatedProcess) => side.has(process);
    const to = (process: SimulatedProcess) => !side.has(process);
    links.cut({ from, to, bothWays: true, forMs, noticedAfterMs: this.#noticeMs() });
  }

  /** Messages from one process to some others are lost, or those from them to it. */
  #oneWay({ process }: Run, forMs: number): void {
    const { links, random } = this.#options;
    const it = (other: SimulatedProcess) => other === process;
    const others = (other: SimulatedProcess) => other !== process;
    const [from, to] = random.chance(0.5) ? [it, others] : [others, it];
    links.cut({ from, to, bothWays: false, forMs, noticedAfterMs: undefined });
  }

  #noticeMs(): number {
    return noticeMaxMs * this.#options.random.fraction();
  }

  #jump({ machine, process }: Run): void {
    const { random, plan } = this.#options;
    const byMs = random.fraction() * plan.wallJumpMs;
    // A machine that sleeps must find at least one of its clocks right when it wakes.
    process.jump(machine.suspends > 0 || random.chance(0.5) ? byMs : -byMs);
  }

  #jumpDatabase(): void {
    const { random, plan, databaseClock } = this.#options;
    databaseClock.offsetMs = (random.fraction() - 0.5) * plan.databaseJumpMs;
  }

  /** Like an operator: only while another host is there to take over. */
  #restart(run: Run): Promise<void> | undefined {
    const { plan, machines } = this.#options;
    if (plan.isPlanned && this.#successors(run).length === 0) return undefined;
    return machines.shutDown(run, false);
  }

  #retire(run: Run): Promise<void> | undefined {
    const successors = this.#successors(run);
    if (run.machine.stays || !successors.some(({ machine }) => machine.stays)) return undefined;
    return this.#options.machines.shutDown(run, true);
  }

  #successors({ machine }: Run): readonly Run[] {
    const { database, machines } = this.#options;
    const drained = new Set(database.nodes().flatMap(({ id, draining }) => (draining ? [id] : [])));
    return machines.runs.filter(
      (run) => run.machine !== machine && run.node !== undefined && !drained.has(run.machine.id),
    );
  }

  #setDraining({ machine, endpoint }: Run, draining: boolean): void {
    this.#options.database.setDraining(machine.id, draining);
    endpoint.process.enter(() => endpoint.hint({ hint: 'nodes' }));
  }
}
