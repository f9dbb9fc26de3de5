/** How much one socket of the lane may send, and how much memory its users may occupy in the lane. */
import { type FairShare, mayTakeOneMore } from '../../../runtime/fair-share.ts';
import { Counts } from '../../http/counts.ts';

const framesMax = 32;
const framesPerSecond = 16;
/** Eight frames of the largest size at once. */
export const bytesMax = 4 * 1_024 * 1_024;
const bytesPerSecond = 512 * 1_024;

/** Frames and bytes of one socket, in two buckets that fill up again. */
export class InboundBudget {
  #frames = framesMax;
  #bytes = bytesMax;
  #atMs: number;

  constructor(nowMs: number) {
    this.#atMs = nowMs;
  }

  /** False: the socket sends too much. */
  take(bytes: number, nowMs: number): boolean {
    const seconds = Math.max(0, nowMs - this.#atMs) / 1_000;
    this.#atMs = nowMs;
    this.#frames = Math.min(framesMax, this.#frames + seconds * framesPerSecond) - 1;
    this.#bytes = Math.min(bytesMax, this.#bytes + seconds * bytesPerSecond) - bytes;
    return this.#frames >= 0 && this.#bytes >= 0;
  }
}

/**
 * Half a mebibyte is one frame of the largest size. A single user holds a fifth of all at most, with any number of
 * sockets.
 */
const share: FairShare = { least: 512 * 1_024, percentOfFree: 25 };

/**
 * Bytes that all sockets of the lane hold together: waiting commands and unread answers. A user whose clients read nothing gets
 * no more than their share of the free memory, so others keep the lane.
 */
export class LaneMemory {
  readonly #bytesMax: number;
  readonly #bytesOfUsers = new Counts();
  bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  isFullFor(user: string): boolean {
    return !mayTakeOneMore(this.#bytesOfUsers.of(user), this.#bytesMax - this.bytes, share);
  }

  add(user: string, bytes: number): void {
    this.bytes += bytes;
    this.#bytesOfUsers.add(user, bytes);
  }
}
