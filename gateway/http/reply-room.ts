/**
 * Memory for replies with content that is given only once, so that none of them is broken off for want of memory. A reader
 * takes its room before it asks for the content. One that finds no room waits a moment and is then refused, while nothing has
 * happened yet. Room that was taken belongs to that reply until it is over.
 *
 * A network takes no more than a quarter of what it leaves free. So the first has a fifth of all, and the next always finds
 * some: it takes many networks to keep others from large replies, and more than anybody has to keep them from small ones. A
 * waiting reader is passed over only by readers that need less than is there.
 */
import type { Clock } from '../../runtime/clock.ts';
import { Counts } from './counts.ts';
import type { ReplyHolder } from './reply-memory.ts';

/** A reader on a fast line has taken a large reply by then. */
const waitMs = 5_000;
const waitingMax = 512;
const waitingOfNetworkMax = 64;

interface Waiting {
  readonly network: string;
  readonly bytes: number;
  readonly end: (isTaken: boolean) => void;
}

export class ReplyRoom {
  readonly #bytesMax: number;
  readonly #clock: Pick<Clock, 'schedule'>;
  readonly #held = new Counts();
  /** In the order in which they came. */
  readonly #waiting = new Set<Waiting>();
  bytes = 0;

  constructor(bytesMax: number, clock: Pick<Clock, 'schedule'>) {
    this.#bytesMax = bytesMax;
    this.#clock = clock;
  }

  /** False: there was none all the while. */
  async take(network: string, bytes: number): Promise<boolean> {
    if (this.#fits(network, bytes)) {
      this.#count(network, bytes);
      return true;
    }
    const isCrowded = this.#waiting.size >= waitingMax || this.#waitingOf(network) >= waitingOfNetworkMax;
    return isCrowded ? false : this.#wait(network, bytes);
  }

  giveBack(network: string, bytes: number): void {
    if (bytes === 0) return;
    this.#count(network, -bytes);
    for (const waiting of this.#waiting) {
      if (this.#fits(waiting.network, waiting.bytes)) waiting.end(true);
    }
  }

  #wait(network: string, bytes: number): Promise<boolean> {
    return new Promise((resolve) => {
      const waiting: Waiting = {
        network,
        bytes,
        end: (isTaken) => {
          cancel();
          this.#waiting.delete(waiting);
          if (isTaken) this.#count(network, bytes);
          resolve(isTaken);
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

/** What one reply has of it. */
export class TakenRoom implements ReplyHolder {
  readonly #room: ReplyRoom;
  readonly #network: string;
  #bytes = 0;

  constructor(room: ReplyRoom, network: string) {
    this.#room = room;
    this.#network = network;
  }

  /** Makes it as large as this, if it is not yet. False: there is no room. */
  async reach(bytes: number): Promise<boolean> {
    const moreBytes = bytes - this.#bytes;
    if (moreBytes <= 0) return true;
    if (!(await this.#room.take(this.#network, moreBytes))) return false;
    this.#bytes += moreBytes;
    return true;
  }

  /** May be called any number of times. */
  giveBack(): void {
    const bytes = this.#bytes;
    this.#bytes = 0;
    this.#room.giveBack(this.#network, bytes);
  }

  /** What its reader has not taken was counted before there was a reply. */
  hold(): void {}
  release(): void {}
}
