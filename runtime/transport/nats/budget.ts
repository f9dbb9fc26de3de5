/** Bounds how much of something is in use at once. Callers that want more wait for it, in order. */
export class Budget {
  #left: number;
  readonly #waiting: { readonly amount: number; readonly start: () => void }[] = [];

  constructor(amount: number) {
    this.#left = amount;
  }

  /** Runs `work` once `amount`, which must not exceed the total, is free. */
  async spend<T>(amount: number, work: () => Promise<T>): Promise<T> {
    if (this.#left < amount || this.#waiting.length > 0) {
      await new Promise<void>((start) => this.#waiting.push({ amount, start }));
    } else {
      this.#left -= amount;
    }
    try {
      return await work();
    } finally {
      this.#left += amount;
      this.#startNext();
    }
  }

  #startNext(): void {
    for (
      let next = this.#waiting[0];
      next !== undefined && next.amount <= this.#left;
      next = this.#waiting[0]
    ) {
      this.#waiting.shift();
      this.#left -= next.amount;
      next.start();
    }
  }
}
