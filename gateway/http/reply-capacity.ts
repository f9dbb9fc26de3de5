/**
 * Reserves memory for replies whose content is given only once, so that no lack of memory breaks them off. A reader
 * reserves its memory before it asks for the content. A reader that finds none waits a moment and is then refused,
 * before anything has happened. Reserved memory belongs to that reply until it is over.
 *
 * A network takes no more than a quarter of what it leaves free. So the first has a fifth of all, and the next always
 * finds some. An attacker needs many networks to keep others from large replies, and cannot get enough to keep them
 * from small ones. A reader that needs less than is free may pass a waiting one.
 */
import type { Clock } from '../../runtime/clock.ts';
import { Counts } from './counts.ts';
import type { ReplyHolder } from './reply-memory.ts';

/** A reader on a fast line takes a large reply within this time. */
const waitMs = 5_000;
const waitingMax = 512;
const waitingOfNetworkMax = 64;

interface Waiter {
  readonly network: string;
  readonly bytes: number;
  readonly end: (isReserved: boolean) => void;
}

export class ReplyCapacity {
  readonly #bytesMax: number;
  readonly #clock: Pick<Clock, 'schedule'>;
  readonly #held = new Counts();
  /** In the order in which they came. */
  readonly #waiting = new Set<Waiter>();
  bytes = 0;

  constructor(bytesMax: number, clock: Pick<Clock, 'schedule'>) {
    this.#bytesMax = bytesMax;
    this.#clock = clock;
  }

  /** False: none became free in time. */
  async take(network: string, bytes: number): Promise<boolean> {
    if (this.#fits(network, bytes)) {
      this.#count(network, bytes);
      return true;
    }
    const isCrowded = this.#waiting.size >= waitingMax || this.#waitingOf(network) >= waitingOfNetworkMax;
    return isCrowded ? false : this.#wait(network, bytes);
  }

  release(network: string, bytes: number): void {
    if (bytes === 0) return;
    this.#count(network, -bytes);
    for (const waiting of this.#waiting) {
      if (this.#fits(waiting.network, waiting.bytes)) waiting.end(true);
    }
  }

  #wait(network: string, bytes: number): Promise<boolean> {
    return new Promise((resolve) => {
      const waiting: Waiter = {
        network,
        bytes,
        end: (isReserved) => {
          cancel();
          this.#waiting.delete(waiting);
          if (isReserved) this.#count(network, bytes);
          resolve(isReserved);
        },
      };
      const cancel = this.#clock.schedule(waitMs, () => waiting.end(false));
      this.#waiting.add(waiting);
    });
  }

  #fits(network: string, bytes: number): boolean {
    const held = this.#held.of(network) + bytes;
    return held <= (this.#bytesMax - this.bytes - bytes) / 4;
  }

  #waitingOf(network: string): number {
    let count = 0;
    for (const waiting of this.#waiting) if (waiting.network === network) count += 1;
    return count;
  }

  #count(network: string, bytes: number): void {
    this.bytes += bytes;
    this.#held.add(network, bytes);
  }
}

/** The part that one reply holds. */
export class ReservedCapacity implements ReplyHolder {
  readonly #capacity: ReplyCapacity;
  readonly #network: string;
  #bytes = 0;

  constructor(capacity: ReplyCapacity, network: string) {
    this.#capacity = capacity;
    this.#network = network;
  }

  /** Grows to this size, if it is smaller. False: there is no memory. */
  async reach(bytes: number): Promise<boolean> {
    const moreBytes = bytes - this.#bytes;
    if (moreBytes <= 0) return true;
    if (!(await this.#capacity.take(this.#network, moreBytes))) return false;
    this.#bytes += moreBytes;
    return true;
  }

  /** May be called any number of times. */
  freeAll(): void {
    const bytes = this.#bytes;
    this.#bytes = 0;
    this.#capacity.release(this.#network, bytes);
  }

  /** Untaken bytes need no further count, because they were counted when the memory was reserved. */
  hold(): void {}
  release(): void {}
}
