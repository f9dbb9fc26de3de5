/**
 * Memory for large pieces of bodies, used again and again. New memory of that size comes from the system page by page, and goes
 * back to it only after garbage collection: on a fast line that costs more than the rest of receiving.
 */

/** As much as the library hands over at once. */
export const blockBytes = 512 * 1024;
/** Kept while nobody needs them. */
const freeMax = 16;

export class Blocks {
  readonly #free: Buffer[] = [];

  /** What is in it is of somebody else. */
  take(): Buffer {
    return this.#free.pop() ?? Buffer.allocUnsafeSlow(blockBytes);
  }

  /** Call when nobody reads it any more. What did not come from here is left alone. */
  giveBack(block: Buffer): void {
    if (block.length === blockBytes && this.#free.length < freeMax) this.#free.push(block);
  }
}

/** The blocks of this process. */
export const ownBlocks = new Blocks();
