import type { Random } from '../../runtime/random.ts';

/** A seeded generator (mulberry32): the same seed gives the same run. Never for secrets. */
export class SeededRandom implements Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  fraction(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number in [0, below). */
  below(below: number): number {
    return Math.floor(this.fraction() * below);
  }

  pick<T>(from: readonly T[]): T {
    const picked = from[this.below(from.length)];
    if (picked === undefined) throw new Error('nothing to pick from');
    return picked;
  }

  chance(probability: number): boolean {
    return this.fraction() < probability;
  }

  bytes(length: number): Buffer {
    return Buffer.from(Array.from({ length }, () => this.below(256)));
  }

  uuid(): string {
    const hex = this.bytes(16).toString('hex');
    const variant = '89ab'[this.below(4)];
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
  }
}

/**
 * A seeded generator (sfc32) for long runs with many streams. All streams of the one above lie on one circle of 2^32 numbers.
 * So two of them can meet, and then make the same uuids.
 */
export class LongRandom extends SeededRandom {
  #a = 0;
  #b = 0;
  #c: number;
  #count = 1;

  constructor(seed: number) {
    super(seed);
    this.#c = seed | 0;
    // The first numbers of neighbouring seeds are alike.
    for (let round = 0; round < 12; round += 1) this.fraction();
  }

  override fraction(): number {
    const drawn = (this.#a + this.#b + this.#count) | 0;
    this.#count = (this.#count + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + drawn) | 0;
    return (drawn >>> 0) / 2 ** 32;
  }
}
