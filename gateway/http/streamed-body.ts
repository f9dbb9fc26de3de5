/** Connects the stream of a body to its connection. */
import { BodyStream } from './body-stream.ts';
import type { Inlet } from './intake.ts';
import { Pace } from './pace.ts';
import type { Receiving, ReceivingOptions, Recipient } from './receiving.ts';
import { type Refusal, refusals } from './refusal.ts';
import { type HttpResponse, windUpLibraryClock } from './uws.ts';

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
  readonly #inlet: Inlet;
  readonly #stream: BodyStream;
  readonly #pace: Pace;
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
    this.#pace = new Pace(options.limits.leastPace, options.clock);
    this.#inlet = options.intake.open(user, options.bodyMemory.shareOf(user), {
      pause: () => this.#hold(),
      resume: () => this.#goOn(),
    });
    this.#stream = new BodyStream(this.#inlet, bytesMax, {
      pause: () => this.#inlet.hold(),
      resume: () => this.#inlet.goOn(),
      waiting: (isWaiting) => {
        this.#isAwaited = isWaiting;
        this.#watchPace();
        recipient.waitsForBody(isWaiting);
      },
    });
  }

  start(): void {
    this.#res.onData((chunk, isLast) => {
      this.isComing = !isLast;
      if (isLast && this.#over) this.#recipient.bodyEnded();
      if (this.#over || this.#ended) return;
      this.#pace.moved(chunk.byteLength);
      this.#stream.add(new Uint8Array(chunk));
      if (!isLast) return;
      this.#over = true;
      this.#stream.complete();
    });
    this.#recipient.received({}, this.#stream);
  }

  overdue(nowMs: number): Refusal | undefined {
    // The clock of the library bounds what comes after the reply.
    if (this.#ended || this.#paused || (this.#over && this.isComing)) return undefined;
    // The handler is notified, so that it can clean up, and answers with the refusal.
    if (this.#pace.isTooSlow(nowMs)) this.#stream.lose(refusals.bodyTooSlow);
    // This also holds if all of it came: once a body was held back, the clock runs until the reply is out.
    windUpLibraryClock(this.#res);
    return undefined;
  }

  letGo(): void {
    this.endsConnection ||= this.#inlet.isOneOfMany;
    this.#stream.release();
    this.#inlet.close();
    this.#over = true;
  }

  /** Its memory is freed chunk by chunk, and at the end. */
  giveBack(): void {}

  end(): void {
    this.#ended = true;
    this.#stream.release();
    this.#inlet.close();
  }

  /** A client that is held back need not keep any pace. */
  #watchPace(): void {
    if (this.#isAwaited && !this.#paused) this.#pace.wait();
    else this.#pace.rest();
  }

  #hold(): void {
    if (this.#ended) return;
    this.#paused = true;
    this.#watchPace();
    this.#res.pause();
  }

  #goOn(): void {
    if (this.#ended || !this.#paused) return;
    this.#paused = false;
    this.#watchPace();
    this.#res.resume();
  }
}
