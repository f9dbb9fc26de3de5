/**
 * Reuses memory for large pieces of bodies. The system hands out new memory of that size page by page, and gets it
 * back only after garbage collection. On a fast line that costs more than the rest of receiving.
 */

/** As much as the library hands over at once. */
export const blockBytes = 512 * 1024;
/** Blocks kept while nobody needs them. */
const freeMax = 16;

export class Blocks {
  readonly #free: Buffer[] = [];

  /** Its contents belong to somebody else. */
  take(): Buffer {
    return this.#free.pop() ?? Buffer.allocUnsafeSlow(blockBytes);
  }

  /** Call when nobody reads the block any more. Memory that did not come from here is left alone. */
  release(block: Buffer): void {
    if (block.length === blockBytes && this.#free.length < freeMax) this.#free.push(block);
  }
}

/** The blocks of this process. */
export const ownBlocks = new Blocks();
