/**
 * Crashes and pauses at any await. Whenever a process sends or receives something, it may end, or fall asleep for
 * longer than its lease.
 */
import type { SeededRandom } from '../kit/random.ts';
import type { FaultRates } from './plan.ts';
import type { SimulatedProcess } from './process.ts';

export interface FaultInjectorOptions {
  readonly random: SeededRandom;
  readonly rates: Pick<FaultRates, 'crashAtStore' | 'pauseAtStore' | 'crashAtMessage' | 'pauseAtMessage'>;
  readonly crash: (process: SimulatedProcess) => void;
  readonly pause: (process: SimulatedProcess) => void;
}

export class FaultInjector {
  readonly #options: FaultInjectorOptions;
  #healed = false;

  constructor(options: FaultInjectorOptions) {
    this.#options = options;
  }

  heal(): void {
    this.#healed = true;
  }

  atStore(process: SimulatedProcess): void {
    const { crashAtStore, pauseAtStore } = this.#options.rates;
    this.#strike(process, crashAtStore, pauseAtStore);
  }

  atMessage(process: SimulatedProcess): void {
    const { crashAtMessage, pauseAtMessage } = this.#options.rates;
    this.#strike(process, crashAtMessage, pauseAtMessage);
  }

  #strike(process: SimulatedProcess, crash: number, pause: number): void {
    if (this.#healed || !process.isRunning || crash + pause === 0) return;
    const { random } = this.#options;
    const drawn = random.fraction();
    if (drawn < crash) this.#options.crash(process);
    else if (drawn < crash + pause) this.#options.pause(process);
  }
}
