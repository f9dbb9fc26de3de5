/**
 * One connection between a client and the lane of a process, which sees it as a `WebSocket`. Frames keep their order,
 * come late, and come twice. A connection may be cut, which each end learns in its time.
 */
import type { SeededRandom } from '../../kit/random.ts';
import type { SimulatedProcess } from '../process.ts';
import type { SimulatedTime } from '../time.ts';
import type { LanePlan } from './plan.ts';

/** The network between clients and processes. */
export interface Wires {
  readonly time: SimulatedTime;
  readonly random: SeededRandom;
  readonly plan: LanePlan;
  isHealed: boolean;
}

/** The end of the link in the process. */
export interface ServerEnd {
  received(text: string): void;
  closed(): void;
}

export interface ClientEnd {
  received(text: string): void;
  closed(): void;
}

const latencyMs = 40;
const lateMs = 3_000;
const clientNoticesMs = 2_000;
/** The library drops a socket that does not answer its pings. */
const serverNoticesMs = 30_000;

export class LaneLink {
  readonly #wires: Wires;
  readonly #process: SimulatedProcess;
  readonly #client: ClientEnd;
  #server: ServerEnd | undefined;
  #state: 'open' | 'cut' | 'closed' = 'open';
  #upAtMs = 0;
  #downAtMs = 0;

  constructor(wires: Wires, process: SimulatedProcess, client: ClientEnd) {
    this.#wires = wires;
    this.#process = process;
    this.#client = client;
    process.onDeath(() => wires.time.after(this.#latencyMs(), () => this.#clientLearns()));
  }

  attach(server: ServerEnd): void {
    this.#server = server;
  }

  /** By the client. */
  send(text: string): void {
    if (this.#state !== 'open' || this.#isCutNow()) return;
    const copies = this.#happens('frameDoubled') ? 2 : 1;
    for (let copy = 0; copy < copies; copy += 1) this.#up(() => this.#server?.received(text));
  }

  closeByClient(): void {
    if (this.#state === 'open') this.#up(() => this.#serverLearns());
    this.#state = 'closed';
  }

  /** By the process. */
  answer(text: string): void {
    if (this.#state !== 'open' || this.#isCutNow()) return;
    this.#down(() => {
      if (this.#state === 'open') this.#client.received(text);
    });
  }

  closeByServer(): void {
    this.#down(() => this.#clientLearns());
    this.#serverLearns();
  }

  #isCutNow(): boolean {
    if (!this.#happens('cut')) return false;
    const { time, random } = this.#wires;
    this.#state = 'cut';
    time.after(random.fraction() * clientNoticesMs, () => this.#clientLearns());
    time.after(random.fraction() * serverNoticesMs, () => this.#process.enter(() => this.#serverLearns()));
    return true;
  }

  #clientLearns(): void {
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    this.#client.closed();
  }

  #serverLearns(): void {
    const server = this.#server;
    this.#server = undefined;
    server?.closed();
  }

  #up(arrive: () => void): void {
    const { time } = this.#wires;
    this.#upAtMs = Math.max(this.#upAtMs, time.nowMs + this.#latencyMs());
    time.after(this.#upAtMs - time.nowMs, () => this.#process.enter(arrive));
  }

  #down(arrive: () => void): void {
    const { time } = this.#wires;
    this.#downAtMs = Math.max(this.#downAtMs, time.nowMs + this.#latencyMs());
    time.after(this.#downAtMs - time.nowMs, arrive);
  }

  #latencyMs(): number {
    const { random } = this.#wires;
    return (this.#happens('frameLate') ? lateMs : latencyMs) * random.fraction();
  }

  #happens(fault: 'frameLate' | 'frameDoubled' | 'cut'): boolean {
    const { isHealed, random, plan } = this.#wires;
    return !isHealed && random.chance(plan[fault]);
  }
}
