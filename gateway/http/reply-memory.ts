/**
 * What replies hold that their readers have not taken, of the whole process. Above its bound the reader that has kept
 * still the longest loses its connection, so that slow readers cost memory up to the bound and nobody else's reply.
 */
export interface HeldReply {
  /** Its reader was too slow: it lets go of everything, and calls `release`. */
  giveUp(): void;
}

export class ReplyMemory {
  readonly bytesMax: number;
  bytes = 0;
  /** The one whose reader has moved last is the last. */
  readonly #held = new Map<HeldReply, number>();

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax;
  }

  /** The reply holds so many bytes from now on, and its reader has just moved. */
  hold(reply: HeldReply, bytes: number): void {
    this.release(reply);
    this.#held.set(reply, bytes);
    this.bytes += bytes;
    for (const stillest of this.#held.keys()) {
      if (this.bytes <= this.bytesMax) return;
      stillest.giveUp();
    }
  }

  /** May be called any number of times. */
  release(reply: HeldReply): void {
    this.bytes -= this.#held.get(reply) ?? 0;
    this.#held.delete(reply);
  }
}
