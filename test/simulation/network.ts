/**
 * The network and its brokers. They track which process listens for the calls of which shard, and each process learns
 * that late and at a different time. They also decide the fate of a message, and deliver wake-ups to some host.
 * `endpoint.ts` is a process's side.
 */
import type { TellRow } from '../../runtime/store/store.ts';
import type { HostEvent } from '../../runtime/transport/transport.ts';
import type { SeededRandom } from '../kit/random.ts';
import { Endpoint, type OutputWatcher, type Wires } from './endpoint.ts';
import type { FaultInjector } from './fault-injector.ts';
import type { Links } from './links.ts';
import type { FaultRates } from './plan.ts';
import type { SimulatedProcess } from './process.ts';
import type { SimulatedTime } from './time.ts';
import type { Trace } from './trace.ts';

export interface NetworkOptions {
  readonly time: SimulatedTime;
  readonly random: SeededRandom;
  readonly rates: FaultRates;
  readonly trace: Trace;
  readonly shardCount: number;
  readonly watcher: OutputWatcher;
  readonly links: Links;
  readonly faultInjector: FaultInjector;
}

type MessageFault = 'messageLost' | 'messageDoubled' | 'messageSlow' | 'wrongOwner' | 'interestSlow';

const slowMaxMs = 3_000;
const wakeTriesMax = 5;
const wakeDeadlineMs = 20_000;
const wakePauseMs = 1_000;

export class Network implements Wires {
  readonly #options: NetworkOptions;
  readonly #endpoints = new Set<Endpoint>();
  #healed = false;
  /** The share of events that are lost although all else is healed. */
  eventsLost = 0;

  constructor(options: NetworkOptions) {
    this.#options = options;
  }

  get shardCount(): number {
    return this.#options.shardCount;
  }

  get trace(): Trace {
    return this.#options.trace;
  }

  get watcher(): OutputWatcher {
    return this.#options.watcher;
  }

  get faultInjector(): FaultInjector {
    return this.#options.faultInjector;
  }

  get random(): SeededRandom {
    return this.#options.random;
  }

  heal(): void {
    this.#healed = true;
    for (const endpoint of this.#endpoints) this.reconnect(endpoint);
  }

  join(process: SimulatedProcess): Endpoint {
    const endpoint = new Endpoint(this, process);
    this.#endpoints.add(endpoint);
    this.#showAll(endpoint);
    return endpoint;
  }

  /** Its process has ended. Brokers learn of it later. */
  leave(endpoint: Endpoint): void {
    this.#endpoints.delete(endpoint);
    for (const viewer of this.#endpoints) this.#learns(() => viewer.forget(endpoint));
  }

  /** A process finds out that it is cut off. */
  disconnect(endpoint: Endpoint): void {
    if (this.#healed || !this.#endpoints.has(endpoint)) return;
    endpoint.process.enter(() => endpoint.disconnected());
  }

  reconnect(endpoint: Endpoint): void {
    this.#showAll(endpoint);
    endpoint.process.enter(() => endpoint.reconnected());
  }

  /** Others learn, each in its time, whether calls of these shards go to this endpoint. */
  announce(endpoint: Endpoint, shards: readonly number[]): void {
    for (const viewer of this.#endpoints) {
      if (viewer !== endpoint) this.#learns(() => viewer.see(endpoint, shards));
    }
  }

  /** The recipients of a call to this shard: all listeners, as the caller's broker knows them. */
  targetsOf(caller: Endpoint, shard: number): readonly Endpoint[] {
    const { links, random } = this.#options;
    const listening = caller
      .listeners(shard)
      .filter((endpoint) => !links.isKnownCut(caller.process, endpoint.process));
    if (!this.happens('wrongOwner')) return listening;
    const wrong = random.pick([...this.#endpoints]);
    return [...listening.filter((endpoint) => endpoint !== wrong), wrong];
  }

  /** Delivers a message to another process, or loses it. */
  carry(from: Endpoint, to: Endpoint, what: string, handle: () => void, delayMs = 0): void {
    const { time, links, trace, faultInjector } = this.#options;
    if (this.happens('messageLost') || !links.passes(from.process, to.process)) {
      trace.add(() => `${what} from ${from.process.name} to ${to.process.name} is lost`);
      return;
    }
    time.after(delayMs + this.latencyMs(), () => {
      faultInjector.atMessage(to.process);
      to.process.enter(handle);
    });
  }

  /** To every other process. */
  broadcast(from: Endpoint, what: string, handle: (to: Endpoint) => void): void {
    for (const to of this.#endpoints) {
      if (to === from) continue;
      this.carry(from, to, what, () => handle(to));
      if (this.happens('messageDoubled')) this.carry(from, to, what, () => handle(to), this.#extraMs());
    }
  }

  /** A wake-up goes to a stream that all hosts take from. Delivery is tried a few times, and it may come twice. */
  wake(tell: TellRow): void {
    const { time } = this.#options;
    if (this.happens('messageLost')) return;
    time.after(this.latencyMs(), () => this.#deliver(tell, 1));
    if (this.happens('messageDoubled')) time.after(this.#extraMs(), () => this.#deliver(tell, 1));
  }

  /** To the one process that listens as this gateway, if there still is one. */
  publish(from: Endpoint, gateway: string, event: HostEvent): void {
    const to = [...this.#endpoints].find((endpoint) => endpoint.listensAs(gateway));
    if (to === undefined) return;
    if (this.eventsLost > 0 && this.#options.random.chance(this.eventsLost)) return;
    const hear = () => to.heard(gateway, event);
    this.carry(from, to, 'an event', hear);
    if (this.happens('messageDoubled')) this.carry(from, to, 'an event', hear, this.#extraMs());
  }

  #deliver(tell: TellRow, tries: number): void {
    const { time, random } = this.#options;
    const again = () => {
      if (tries < wakeTriesMax) time.after(wakePauseMs, () => this.#deliver(tell, tries + 1));
    };
    const hosts = [...this.#endpoints].filter(({ handler, isConnected }) => handler && isConnected);
    if (hosts.length === 0) {
      again();
      return;
    }
    const host = random.pick(hosts);
    const callId = random.uuid();
    host.process.enter(() => {
      const address = { kind: tell.target_kind, id: tell.target_id };
      const deadlineMs = host.process.monotonicMs() + wakeDeadlineMs;
      const request = { tellId: tell.tell_id };
      host.ask({ address, command: '$deliver', request, callId, deadlineMs }).catch(again);
    });
  }

  happens(fault: MessageFault): boolean {
    return !this.#healed && this.#options.random.chance(this.#options.rates[fault]);
  }

  latencyMs(): number {
    const { random, rates } = this.#options;
    if (this.happens('messageSlow')) return random.fraction() * slowMaxMs;
    return 0.2 + random.fraction() * rates.messageMs;
  }

  after(delayMs: number, fire: () => void): void {
    this.#options.time.after(delayMs, fire);
  }

  #extraMs(): number {
    return this.#options.random.fraction() * slowMaxMs;
  }

  #showAll(viewer: Endpoint): void {
    for (const endpoint of this.#endpoints) {
      if (endpoint !== viewer) this.#learns(() => viewer.see(endpoint, [...endpoint.routed]));
    }
  }

  #learns(learn: () => void): void {
    const lagMs = this.happens('interestSlow') ? this.#extraMs() : this.latencyMs();
    this.#options.time.after(lagMs, learn);
  }
}
