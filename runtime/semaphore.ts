/** Bounds how much of something is in use at once. Callers that find too little free wait for it, in order. */
export class Semaphore {
  readonly #total: number;
  #free: number;
  readonly #waiting: { readonly amount: number; readonly start: () => void }[] = [];

  constructor(total: number) {
    this.#total = total;
    this.#free = total;
  }

  get isIdle(): boolean {
    return this.#free === this.#total;
  }

  /**
   * Runs `work` once `amount`, which must not exceed the total, is free. The caller bounds how much waits here.
   * @throws what `work` throws
   */
  async run<T>(work: () => Promise<T>, amount = 1): Promise<T> {
    if (this.#free < amount || this.#waiting.length > 0) {
      await new Promise<void>((start) => this.#waiting.push({ amount, start }));
    } else {
      this.#free -= amount;
    }
    try {
      return await work();
    } finally {
      this.#free += amount;
      this.#startWaiting();
    }
  }

  #startWaiting(): void {
    for (;;) {
      const [next] = this.#waiting;
      if (next === undefined || next.amount > this.#free) return;
      this.#waiting.shift();
      this.#free -= next.amount;
      next.start();
    }
  }
}
