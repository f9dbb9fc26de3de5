/**
 * Faults around a hand-over to a relay or a messenger: the process dies or pauses, or the other side puts the message
 * off.
 */
import { sleep } from '../../../runtime/clock.ts';
import type { SeededRandom } from '../../kit/random.ts';
import type { SimulatedProcess } from '../process.ts';
import type { SimulatedTime } from '../time.ts';
import type { DeliveryPlan } from './plan.ts';

export interface DeliveryFaultsOptions {
  readonly plan: DeliveryPlan;
  readonly random: SeededRandom;
  readonly time: SimulatedTime;
  readonly crash: (process: SimulatedProcess) => void;
  readonly pause: (process: SimulatedProcess) => void;
}

export class DeliveryFaults {
  readonly #options: DeliveryFaultsOptions;
  /** A message that is put off again and again waits for longer than the simulation runs. */
  readonly #putOff = new Set<string>();
  #healed = false;

  constructor(options: DeliveryFaultsOptions) {
    this.#options = options;
  }

  heal(): void {
    this.#healed = true;
  }

  async step(process: SimulatedProcess): Promise<void> {
    const { plan, random } = this.#options;
    await this.strike(process);
    await sleep(process, random.fraction() * plan.relay.stepMs);
  }

  /** A process that dies or pauses here goes no further, or not before it wakes. */
  async strike(process: SimulatedProcess): Promise<void> {
    const { plan, crash, pause } = this.#options;
    if (this.draws(plan.relay.crash)) crash(process);
    else if (this.draws(plan.relay.pause)) pause(process);
    if (!process.isRunning) await new Promise<void>((resolve) => process.enter(resolve));
  }

  /**
   * From here on the other side does not need the host any more. It ends the exchange after a while, and the host learns of it.
   */
  outside<Result>(process: SimulatedProcess, end: () => Result): Promise<Result> {
    const { plan, time, random } = this.#options;
    return new Promise((resolve) => {
      time.after(random.fraction() * plan.relay.stepMs, () => {
        const result = end();
        process.enter(() => resolve(result));
      });
    });
  }

  /** Each at most once. */
  putsOff(name: string, chance: number): boolean {
    if (this.#putOff.has(name) || !this.draws(chance)) return false;
    this.#putOff.add(name);
    return true;
  }

  draws(chance: number): boolean {
    return !this.#healed && chance > 0 && this.#options.random.chance(chance);
  }
}
