/**
 * The bytes of replies that their readers have not taken: for the whole process, for all anonymous clients together, and for
 * each reader. The reader of a reply is its user or, without a session, the network that asks.
 *
 * Above the process's bound, the reader that has been idle longest loses its connection. Above a reader's bound, it loses its
 * own idlest one. Above the anonymous bound, the network that holds the most loses its idlest one. So slow readers cost memory
 * up to the bound, and never another reader's reply. A crowd of anonymous clients costs no user theirs.
 */
import { Counts } from './counts.ts';

export interface ReplyReader {
  /** A user, or the network of an anonymous client. */
  readonly name: string;
  readonly isAnonymous: boolean;
}

export interface HeldReply {
  readonly reader: ReplyReader;
  /** Called when the reader is too slow. The reply frees everything and calls `release`. */
  giveUp(): void;
}

/** The account for the untaken bytes of a reply. */
export interface ReplyHolder {
  hold(reply: HeldReply, bytes: number): void;
  release(reply: HeldReply): void;
}

export class ReplyMemory implements ReplyHolder {
  readonly bytesMax: number;
  readonly #readerBytesMax: number;
  bytes = 0;
  /** Ordered by when their readers last moved. */
  readonly #held = new Map<HeldReply, number>();
  readonly #bytesOfUsers = new Counts();
  readonly #bytesOfAnonymous = new Counts();
  #anonymousBytes = 0;

  constructor(bytesMax: number, readerBytesMax = bytesMax) {
    this.bytesMax = bytesMax;
    this.#readerBytesMax = readerBytesMax;
  }

  /** The reply holds this many bytes from now on, and its reader has just moved. */
  hold(reply: HeldReply, bytes: number): void {
    this.release(reply);
    this.#held.set(reply, bytes);
    this.#count(reply.reader, bytes);
    if (this.#isBeyond(reply.reader)) this.#giveUpOthersOf(reply);
    if (reply.reader.isAnonymous) this.#giveUpGreedyAnonymous(reply);
    for (const stillest of this.#held.keys()) {
      if (this.bytes <= this.bytesMax) return;
      stillest.giveUp();
    }
  }

  /** May be called any number of times. */
  release(reply: HeldReply): void {
    this.#count(reply.reader, -(this.#held.get(reply) ?? 0));
    this.#held.delete(reply);
  }

  /** The only reply of a reader may be as large as the process has memory for. */
  #giveUpOthersOf(reply: HeldReply): void {
    for (const stillest of this.#held.keys()) {
      if (stillest === reply || !this.#isBeyond(reply.reader)) return;
      if (stillest.reader.name === reply.reader.name) stillest.giveUp();
    }
  }

  /** Anonymous clients have half of the process's bound. The only reply to any of them may be larger. */
  #giveUpGreedyAnonymous(reply: HeldReply): void {
    const bytesMax = this.bytesMax / 2;
    while (this.#anonymousBytes > Math.max(bytesMax, this.#held.get(reply) ?? 0)) {
      const greediest = this.#bytesOfAnonymous.most();
      for (const stillest of this.#held.keys()) {
        if (stillest.reader.name !== greediest) continue;
        stillest.giveUp();
        break;
      }
    }
  }

  #isBeyond(reader: ReplyReader): boolean {
    return this.#bytesOf(reader).of(reader.name) > this.#readerBytesMax;
  }

  #count(reader: ReplyReader, bytes: number): void {
    if (bytes === 0) return;
    this.bytes += bytes;
    if (reader.isAnonymous) this.#anonymousBytes += bytes;
    this.#bytesOf(reader).add(reader.name, bytes);
  }

  #bytesOf({ isAnonymous }: ReplyReader): Counts {
    return isAnonymous ? this.#bytesOfAnonymous : this.#bytesOfUsers;
  }
}
