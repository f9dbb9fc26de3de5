/** Ties the stream of a body to the connection that it comes from. */
import { BodyStream } from './body-stream.ts';
import { Pace } from './pace.ts';
import type { Receiving, ReceivingOptions, Recipient } from './receiving.ts';
import { type Refusal, refusals } from './refusal.ts';
import { type HttpResponse, windUpLibraryClock } from './uws.ts';
import type { BodyHead } from './whole-body.ts';

export class StreamedBody implements Receiving {
  readonly #res: HttpResponse;
  readonly #recipient: Recipient;
  readonly #stream: BodyStream;
  readonly #pace: Pace;
  #paused = false;
  /** Nothing more is expected. */
  #over = false;
  /** The reply is out, or the client is gone: `res` is no longer ours. */
  #ended = false;

  constructor(
    res: HttpResponse,
    { bytesMax, credentials }: BodyHead,
    options: ReceivingOptions,
    recipient: Recipient,
  ) {
    this.#res = res;
    this.#recipient = recipient;
    this.#pace = new Pace(options.limits.leastPace, options.clock);
    this.#stream = new BodyStream(options.bodyMemory.shareOf(credentials?.userUuid ?? ''), bytesMax, {
      pause: () => this.#hold(),
      resume: () => this.#goOn(),
      waiting: (isWaiting) => {
        if (isWaiting) this.#pace.wait();
        else this.#pace.rest();
        recipient.waitsForBody(isWaiting);
      },
    });
  }

  start(): void {
    this.#res.onData((chunk, isLast) => {
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
    if (this.#ended || this.#paused) return undefined;
    // The handler is told, so that it can clean up, and answers with the refusal.
    if (this.#pace.isTooSlow(nowMs)) this.#stream.lose(refusals.bodyTooSlow);
    // Even if all of it came: once a body was held back, the clock runs until the reply is out.
    windUpLibraryClock(this.#res);
    return undefined;
  }

  letGo(): void {
    this.#stream.release();
    this.#over = true;
  }

  /** Its memory is given back chunk by chunk, and at the end. */
  giveBack(): void {}

  end(): void {
    this.#ended = true;
    this.#stream.release();
  }

  #hold(): void {
    this.#paused = true;
    this.#res.pause();
  }

  #goOn(): void {
    if (this.#ended || !this.#paused) return;
    this.#paused = false;
    this.#res.resume();
  }
}
