/**
 * The bytes of replies that their readers have not taken, for the whole process and for each user. Above the
 * process's bound the reader that has been idle longest loses its connection, above a user's bound that
 * user's idlest one, so slow readers cost memory up to the bound and nobody else's reply.
 */
export interface HeldReply {
  /** The user it is for; empty if not signed in: those share one bound. */
  readonly user: string;
  /** Its reader was too slow: it lets go of everything, and calls `release`. */
  giveUp(): void;
}

export class ReplyMemory {
  readonly bytesMax: number;
  readonly #userBytesMax: number;
  bytes = 0;
  /** Ordered by when their readers last moved. */
  readonly #held = new Map<HeldReply, number>();
  readonly #bytesOf = new Map<string, number>();

  constructor(bytesMax: number, userBytesMax = bytesMax) {
    this.bytesMax = bytesMax;
    this.#userBytesMax = userBytesMax;
  }

  /** The reply holds this many bytes from now on, and its reader has just moved. */
  hold(reply: HeldReply, bytes: number): void {
    this.release(reply);
    this.#held.set(reply, bytes);
    this.#count(reply.user, bytes);
    if (this.#isBeyond(reply.user)) this.#giveUpOthersOf(reply);
    for (const stillest of this.#held.keys()) {
      if (this.bytes <= this.bytesMax) return;
      stillest.giveUp();
    }
  }

  /** May be called any number of times. */
  release(reply: HeldReply): void {
    this.#count(reply.user, -(this.#held.get(reply) ?? 0));
    this.#held.delete(reply);
  }

  /** A user's only one may be as large as the process has room for. */
  #giveUpOthersOf(reply: HeldReply): void {
    for (const stillest of this.#held.keys()) {
      if (stillest === reply || !this.#isBeyond(reply.user)) return;
      if (stillest.user === reply.user) stillest.giveUp();
    }
  }

  #isBeyond(user: string): boolean {
    return (this.#bytesOf.get(user) ?? 0) > this.#userBytesMax;
  }

  #count(user: string, bytes: number): void {
    if (bytes === 0) return;
    this.bytes += bytes;
    const held = (this.#bytesOf.get(user) ?? 0) + bytes;
    if (held === 0) this.#bytesOf.delete(user);
    else this.#bytesOf.set(user, held);
  }
}
