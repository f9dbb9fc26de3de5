/** Connects the stream of a body to its connection. */
import { BodyStream } from './body-stream.ts';
import { ThroughputWatch } from './minimum-throughput.ts';
import type { Receiving, ReceivingOptions, Recipient } from './receiving.ts';
import { type HttpRefusal, refusals } from './refusal.ts';
import type { ScheduledUpload } from './upload-scheduler.ts';
import { type HttpResponse, resetIdleTimer } from './uws.ts';

export interface StreamHead {
  /** The sender, as far as the head proves it. */
  readonly user: string | undefined;
  readonly bytesMax: number;
}

/** The share of streams from unknown senders, so that they take nothing from users who are about to sign in. */
const streamsShare = 'streams';

export class StreamedBody implements Receiving {
  endsConnection = false;
  isComing = true;
  readonly #res: HttpResponse;
  readonly #recipient: Recipient;
  readonly #upload: ScheduledUpload;
  readonly #stream: BodyStream;
  readonly #throughput: ThroughputWatch;
  #paused = false;
  /** The reader waits for the client. */
  #isAwaited = false;
  /** Nothing more will come. */
  #over = false;
  /** The reply is out, or the client is gone: `res` is no longer ours. */
  #ended = false;

  constructor(
    res: HttpResponse,
    { bytesMax, user = streamsShare }: StreamHead,
    options: ReceivingOptions,
    recipient: Recipient,
  ) {
    this.#res = res;
    this.#recipient = recipient;
    this.#throughput = new ThroughputWatch(options.limits.minimumThroughput, options.clock);
    this.#upload = options.uploadScheduler.open(user, options.bodyMemory.shareOf(user), {
      pause: () => this.#hold(),
      resume: () => this.#resume(),
    });
    this.#stream = new BodyStream(this.#upload, bytesMax, {
      pause: () => this.#upload.hold(),
      resume: () => this.#upload.unhold(),
      waiting: (isWaiting) => {
        this.#isAwaited = isWaiting;
        this.#watchThroughput();
        recipient.waitsForBody(isWaiting);
      },
    });
  }

  start(): void {
    this.#res.onData((chunk, isLast) => {
      this.isComing = !isLast;
      if (isLast && this.#over) this.#recipient.bodyEnded();
      if (this.#over || this.#ended) return;
      this.#throughput.moved(chunk.byteLength);
      this.#stream.add(new Uint8Array(chunk));
      if (!isLast) return;
      this.#over = true;
      this.#stream.complete();
    });
    this.#recipient.received({}, this.#stream);
  }

  overdue(nowMs: number): HttpRefusal | undefined {
    // The clock of the library bounds what comes after the reply.
    if (this.#ended || this.#paused || (this.#over && this.isComing)) return undefined;
    // The handler is notified, so that it can clean up, and answers with the refusal.
    if (this.#throughput.isTooSlow(nowMs)) this.#stream.lose(refusals.bodyTooSlow);
    // This also holds if all of it came: once a body was held back, the clock runs until the reply is out.
    resetIdleTimer(this.#res);
    return undefined;
  }

  discard(): void {
    this.endsConnection ||= this.#upload.isOneOfMany;
    this.#stream.release();
    this.#upload.close();
    this.#over = true;
  }

  /** Nothing to do: the memory is freed chunk by chunk. */
  release(): void {}

  end(): void {
    this.#ended = true;
    this.#stream.release();
    this.#upload.close();
  }

  /** A client that is held back need not reach any throughput. */
  #watchThroughput(): void {
    if (this.#isAwaited && !this.#paused) this.#throughput.wait();
    else this.#throughput.rest();
  }

  #hold(): void {
    if (this.#ended) return;
    this.#paused = true;
    this.#watchThroughput();
    this.#res.pause();
  }

  #resume(): void {
    if (this.#ended || !this.#paused) return;
    this.#paused = false;
    this.#watchThroughput();
    this.#res.resume();
  }
}
