/** What one socket of the lane may send: frames and bytes, in two buckets that fill up again. */
const framesMax = 32;
const framesPerSecond = 16;
/** Eight frames of the largest size at once. */
export const bytesMax = 4 * 1_024 * 1_024;
const bytesPerSecond = 512 * 1_024;

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

/** Bytes that all sockets of the lane hold together: commands that wait, and answers that are not read. */
export class LaneMemory {
  readonly #bytesMax: number;
  bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get isFull(): boolean {
    return this.bytes > this.#bytesMax;
  }
}
