/** Counts by name. A name whose count reaches zero is removed. */
export class Counts {
  readonly #byName = new Map<string, number>();

  of(name: string): number {
    return this.#byName.get(name) ?? 0;
  }

  add(name: string, change: number): void {
    const count = this.of(name) + change;
    if (count > 0) this.#byName.set(name, count);
    else this.#byName.delete(name);
  }

  /** Undefined: all counts are zero. */
  most(): string | undefined {
    let most: readonly [name: string | undefined, count: number] = [undefined, 0];
    for (const each of this.#byName) if (each[1] > most[1]) most = each;
    return most[0];
  }
}
