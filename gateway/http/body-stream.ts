/**
 * A request's body as its handler reads it: chunk by chunk, in order, while it arrives.
 *
 *     client -> library -> add -> queue -> for await (const chunk of stream)
 *
 * - Chunks are copies, as uWebSockets.js takes the memory of its own back; waiting small ones are joined. Each is the
 *   reader's until it asks for the next.
 * - With `queueBytesMax` waiting the client is held back. What the system had received by then comes on top
 *   (upload-scheduler.ts has streams take turns for that), as does the chunk in the reader's hands. All of it counts in the
 *   memory of bodies, the latter until the reader asks for the next.
 * - When the rest will not come, the reader gets a `BodyLostError`, which it cannot mistake for a normal end. What
 *   still waited is discarded. If the handler lets the error through, it becomes the answer.
 * - One reader, once. When it stops early, the rest is discarded as it comes.
 */
import type { BodyAccount } from './body.ts';
import { type HttpRefusal, refusals } from './refusal.ts';

/** The most that the library hands over at once. */
const blockBytes = 512 * 1024;
/** The most blocks that are kept while unused. */
const freeMax = 16;

/**
 * Reuses memory for large pieces of bodies. The system hands out new memory of that size page by page, and gets it
 * back only after garbage collection. On a fast line that costs more than the rest of receiving.
 */
export class Blocks {
  readonly #free: Buffer[] = [];

  /** A block whose old contents belong to another request. */
  take(): Buffer {
    return this.#free.pop() ?? Buffer.allocUnsafeSlow(blockBytes);
  }

  /** Call when the block is no longer read. It ignores memory that did not come from here. */
  release(block: Buffer): void {
    if (block.length === blockBytes && this.#free.length < freeMax) this.#free.push(block);
  }
}

/** The blocks of this process. */
const ownBlocks = new Blocks();

/** The rest of a body will not arrive. */
export class BodyLostError extends Error {
  readonly refusal: HttpRefusal;

  constructor(refusal: HttpRefusal) {
    super(refusal.message);
    this.refusal = refusal;
  }
}

/** The source of the chunks. */
export interface BodySource {
  /** Stop and resume sending. Called in turns, starting with `pause`. */
  pause(): void;
  resume(): void;
  /** The reader waits for the client, or has just received a chunk. */
  waiting(isWaiting: boolean): void;
}

interface Block {
  readonly buffer: Buffer;
  length: number;
}

interface WaitingReader {
  readonly resolve: (result: IteratorResult<Buffer>) => void;
  readonly reject: (error: Error) => void;
}

export const queueBytesMax = 256 * 1024;
const blockBytesMin = 16 * 1024;

export class BodyStream implements AsyncIterable<Buffer> {
  readonly #memory: BodyAccount;
  readonly #bytesMax: number;
  readonly #source: BodySource;
  readonly #blocks: Blocks;
  readonly #queue: Block[] = [];
  #queuedBytes = 0;
  /** The chunk in the reader's hands, and how much of it counts. */
  #lent: Buffer | undefined;
  #lentBytes = 0;
  #receivedBytes = 0;
  #paused = false;
  #reader: WaitingReader | undefined;
  /** What the reader gets when the queue is empty. */
  #end: 'done' | BodyLostError | undefined;

  constructor(memory: BodyAccount, bytesMax: number, source: BodySource, blocks = ownBlocks) {
    this.#memory = memory;
    this.#bytesMax = bytesMax;
    this.#source = source;
    this.#blocks = blocks;
  }

  [Symbol.asyncIterator](): AsyncIterator<Buffer> {
    return {
      next: () => this.#next(),
      return: async () => {
        this.#takeBack();
        this.#finish('done');
        return { done: true, value: undefined };
      },
    };
  }

  /** Adds a copy of a chunk that came. */
  add(chunk: Uint8Array): void {
    if (this.#end !== undefined || chunk.byteLength === 0) return;
    this.#receivedBytes += chunk.byteLength;
    if (this.#receivedBytes > this.#bytesMax) {
      this.lose(refusals.bodyTooLarge);
      return;
    }
    const rest = chunk.subarray(this.#fill(chunk));
    if (rest.byteLength > 0 && !this.#enqueue(rest)) {
      this.lose(refusals.bodyMemoryFull);
      return;
    }
    this.#serve();
    if (this.#queuedBytes >= queueBytesMax) this.#pause();
  }

  /** The body came whole. */
  complete(): void {
    if (this.#end !== undefined) return;
    this.#end = 'done';
    this.#serve();
  }

  /** The rest will not come. Does nothing if all of it has come. */
  lose(refusal: HttpRefusal): void {
    if (this.#end === undefined) this.#finish(new BodyLostError(refusal));
  }

  /** Gives the memory back. Unread data is lost. */
  release(): void {
    const isRead = this.#end === 'done' && this.#queue.length === 0;
    this.#finish(isRead ? 'done' : new BodyLostError(refusals.bodyIncomplete));
  }

  #finish(end: 'done' | BodyLostError): void {
    this.#end = end;
    this.#memory.release(this.#lentBytes + this.#queuedBytes);
    this.#lentBytes = 0;
    this.#queuedBytes = 0;
    for (const { buffer } of this.#queue.splice(0)) this.#blocks.release(buffer);
    this.#resume();
    this.#serve();
  }

  #next(): Promise<IteratorResult<Buffer>> {
    if (this.#reader !== undefined)
      throw new TypeError('a body has one reader, who asks for one chunk at a time');
    this.#takeBack();
    return new Promise((resolve, reject) => {
      this.#reader = { resolve, reject };
      this.#serve();
      if (this.#reader !== undefined) this.#source.waiting(true);
    });
  }

  #takeBack(): void {
    this.#memory.release(this.#lentBytes);
    this.#lentBytes = 0;
    if (this.#lent !== undefined) this.#blocks.release(this.#lent);
    this.#lent = undefined;
  }

  /** Gives a waiting reader the next chunk. */
  #serve(): void {
    const reader = this.#reader;
    if (reader === undefined) return;
    const block = this.#queue.shift();
    if (block === undefined && this.#end === undefined) return;
    this.#reader = undefined;
    this.#source.waiting(false);
    if (block !== undefined) {
      this.#lent = block.buffer;
      this.#lentBytes = block.buffer.length;
      this.#queuedBytes -= block.buffer.length;
      reader.resolve({ done: false, value: block.buffer.subarray(0, block.length) });
      this.#resume();
    } else if (this.#end instanceof BodyLostError) {
      reader.reject(this.#end);
    } else {
      reader.resolve({ done: true, value: undefined });
    }
  }

  /** Copies as much as the last waiting block has capacity for. */
  #fill(chunk: Uint8Array): number {
    const last = this.#queue.at(-1);
    if (last === undefined) return 0;
    const bytes = Math.min(chunk.byteLength, last.buffer.length - last.length);
    last.buffer.set(chunk.subarray(0, bytes), last.length);
    last.length += bytes;
    return bytes;
  }

  #enqueue(chunk: Uint8Array): boolean {
    const capacity = this.#capacityFor(chunk.byteLength);
    if (!this.#memory.take(capacity)) return false;
    const buffer = capacity === blockBytes ? this.#blocks.take() : Buffer.allocUnsafeSlow(capacity);
    buffer.set(chunk);
    this.#queue.push({ buffer, length: chunk.byteLength });
    this.#queuedBytes += capacity;
    return true;
  }

  #capacityFor(bytes: number): number {
    if (bytes > blockBytes / 2 && bytes <= blockBytes) return blockBytes;
    // A waiting reader takes it at once, so nothing will be joined to it.
    return this.#reader === undefined ? Math.max(bytes, blockBytesMin) : bytes;
  }

  #pause(): void {
    if (this.#paused) return;
    this.#paused = true;
    this.#source.pause();
  }

  #resume(): void {
    if (!this.#paused || this.#queuedBytes >= queueBytesMax) return;
    this.#paused = false;
    this.#source.resume();
  }
}
