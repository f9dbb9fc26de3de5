/**
 * Work that may wait for something that never comes: a bounded amount at once, the rest in order of arrival.
 */
export class Semaphore {
  readonly #slots: number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(slots: number) {
    this.#slots = slots;
  }

  get isIdle(): boolean {
    return this.#running === 0;
  }

  /** The user of the semaphore bounds how much waits in it. @throws what `work` throws */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running < this.#slots) this.#running += 1;
    else await new Promise<void>((enter) => this.#waiting.push(enter));
    try {
      return await work();
    } finally {
      // The longest waiting takes over the slot; if none waits it is free.
      const next = this.#waiting.shift();
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }
}
