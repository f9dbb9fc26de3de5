/**
 * Counts the connections that each network opened in the last 16 s at least, and in the last 32 s at most. The
 * library closes an idle connection after 14 s at the latest, so a network never has more idle ones open than this
 * count. An exact count is impossible, because the library does not say whose connection ends.
 */
import type { Clock } from '../../runtime/clock.ts';

export const windowMs = 16_000;

export class RecentAccepts {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #networksMax: number;
  #current = new Map<string, number>();
  #previous = new Map<string, number>();
  #turnsMs = 0;

  /** Networks beyond `networksMax` in one window are not counted: a crowd is not one network that takes everything. */
  constructor(clock: Pick<Clock, 'monotonicMs'>, networksMax: number) {
    this.#clock = clock;
    this.#networksMax = networksMax;
  }

  /** Counts one more, unless the network has `share` already. */
  take(network: string, share: number): boolean {
    this.#turn();
    const current = this.#current.get(network) ?? 0;
    if (current + (this.#previous.get(network) ?? 0) >= share) return false;
    if (current > 0 || this.#current.size < this.#networksMax) this.#current.set(network, current + 1);
    return true;
  }

  #turn(): void {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs < this.#turnsMs) return;
    this.#previous = nowMs < this.#turnsMs + windowMs ? this.#current : new Map();
    this.#current = new Map();
    this.#turnsMs = nowMs + windowMs;
  }
}
