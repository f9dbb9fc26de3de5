/**
 * Sends the body of one reply to a reader who may be slower than its source.
 *
 * It handles one chunk at a time: offer the next only when the one before is taken. For a body of known length, the
 * library gets only what the system takes, so nothing is copied. For a body of unknown length, the library keeps what
 * the system does not take, so this code hands it over in pieces. After a piece that the library kept, the next is
 * small: it shows whether the reader has caught up.
 *
 * Bytes not yet taken count in the memory of replies, and their reader must keep a minimum throughput. Taken bytes are
 * released at once. Otherwise a reader that leaves the last bytes of a reply would keep all of it in memory, and be
 * charged only for those.
 */
import type { Clock } from '../../runtime/clock.ts';
import { type MinimumThroughput, ThroughputWatch } from './minimum-throughput.ts';
import type { HeldReply, ReplyHolder, ReplyReader } from './reply-memory.ts';
import { type HttpResponse, resetIdleTimer } from './uws.ts';

export interface BodyWriterOptions {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly replyMemory: ReplyHolder;
  readonly limits: { readonly minimumThroughput: MinimumThroughput };
}

export interface BodyWriterEvents {
  /** Everything that was declared is taken; `res` is finished. */
  complete(): void;
  /** The reader is too slow. */
  giveUp(): void;
}

const pieceBytesMax = 64 * 1024;
/** Less than the system's free capacity when it reports any. */
const probeBytes = 1024;
const empty: Uint8Array = new Uint8Array();

export class BodyWriter implements HeldReply {
  readonly reader: ReplyReader;
  readonly #res: HttpResponse;
  readonly #lengthBytes: number | undefined;
  readonly #options: BodyWriterOptions;
  readonly #events: BodyWriterEvents;
  readonly #throughput: ThroughputWatch;
  #unsent: Uint8Array = empty;
  /** The last chunk is not taken yet. */
  #isBehind = false;
  /** For a reply of unknown length: the bytes of the latest piece of which the library kept a part. */
  #keptBytes = 0;
  #isOver = false;
  #onWritten = () => {};

  constructor({
    res,
    lengthBytes,
    options,
    events,
    reader,
  }: {
    readonly res: HttpResponse;
    readonly lengthBytes: number | undefined;
    readonly options: BodyWriterOptions;
    readonly events: BodyWriterEvents;
    readonly reader: ReplyReader;
  }) {
    this.reader = reader;
    this.#res = res;
    this.#lengthBytes = lengthBytes;
    this.#options = options;
    this.#events = events;
    this.#throughput = new ThroughputWatch(options.limits.minimumThroughput, options.clock);
    res.onWritable(() => {
      this.#retry();
      return !this.#isBehind;
    });
  }

  /** Hands over a chunk, inside a cork. Await `taken` afterwards. */
  offer(chunk: Uint8Array): void {
    this.#unsent = chunk;
    this.#push();
    if (!this.#isBehind) return;
    this.#throughput.wait();
    this.#hold();
  }

  /** Resolves when the last chunk is taken, or never will be. Undefined if it is taken already. */
  get written(): Promise<void> | undefined {
    if (!this.#isBehind || this.#isOver) return undefined;
    return new Promise((resolve) => {
      this.#onWritten = resolve;
    });
  }

  /** Call about every second. */
  overdue(nowMs: number): void {
    if (this.#isOver) return;
    if (this.#throughput.isTooSlow(nowMs)) {
      this.giveUp();
      return;
    }
    resetIdleTimer(this.#res);
    // The system reports free capacity late, long after it has taken the bytes.
    if (this.#isBehind && this.#lengthBytes !== undefined) this.#retry();
  }

  giveUp(): void {
    this.#events.giveUp();
  }

  /** The reply is over, one way or the other. `res` may be gone. */
  end(): void {
    this.#isOver = true;
    this.#unsent = empty;
    this.#options.replyMemory.release(this);
    this.#onWritten();
  }

  #retry(): void {
    if (this.#isOver) return;
    const heldBytes = this.#unsent.byteLength;
    // Ends by handing everything that the library keeps to the system, even if the cork writes nothing.
    this.#res.cork(() => this.#push());
    if (this.#isOver) return;
    const movedBytes = heldBytes - this.#unsent.byteLength;
    this.#throughput.moved(movedBytes);
    if (!this.#isBehind) {
      this.#throughput.rest();
      this.#options.replyMemory.release(this);
      this.#onWritten();
    } else if (movedBytes > 0) {
      this.#hold();
    }
  }

  #hold(): void {
    const { byteLength, buffer } = this.#unsent;
    if (byteLength * 2 < buffer.byteLength) this.#unsent = new Uint8Array(this.#unsent);
    this.#options.replyMemory.hold(this, this.#unsent.byteLength + this.#keptBytes);
  }

  #push(): void {
    if (this.#lengthBytes === undefined) this.#pushPieces();
    else this.#pushSized(this.#lengthBytes);
  }

  #pushSized(lengthBytes: number): void {
    const fromBytes = this.#res.getWriteOffset();
    const [accepted, complete] = this.#res.tryEnd(this.#unsent, lengthBytes);
    if (complete) {
      this.#events.complete();
      return;
    }
    this.#isBehind = !accepted;
    this.#unsent = accepted ? empty : this.#unsent.subarray(this.#res.getWriteOffset() - fromBytes);
  }

  #pushPieces(): void {
    // With nothing left to hand over, the library kept the last piece, and the system has capacity again.
    this.#isBehind = false;
    while (this.#unsent.byteLength > 0 && !this.#isBehind) {
      const piece = this.#unsent.subarray(0, this.#keptBytes > 0 ? probeBytes : pieceBytesMax);
      this.#unsent = this.#unsent.subarray(piece.byteLength);
      this.#isBehind = !this.#res.write(piece);
      this.#keptBytes = this.#isBehind ? piece.byteLength : 0;
    }
  }
}
