/** Gathers a body that has to be whole, and parses it when it is JSON. */
import { BodyBuffer, type ParsedBody, parseBody, parseLargeBody, slicedAboveBytes } from './body.ts';
import type { Receiving, ReceivingOptions, Recipient } from './receiving.ts';
import { type Refusal, refusals } from './refusal.ts';
import type { HttpResponse } from './uws.ts';

export class WholeBody implements Receiving {
  readonly #res: HttpResponse;
  readonly #asBytes: boolean;
  readonly #bytesMax: number;
  readonly #declared: number;
  readonly #options: ReceivingOptions;
  readonly #recipient: Recipient;
  #buffer: BodyBuffer | undefined;
  /** Whether nothing more is expected. */
  #over = false;

  constructor(
    res: HttpResponse,
    asBytes: boolean,
    bytesMax: number,
    declared: number,
    options: ReceivingOptions,
    recipient: Recipient,
  ) {
    this.#res = res;
    this.#asBytes = asBytes;
    this.#bytesMax = bytesMax;
    this.#declared = declared;
    this.#options = options;
    this.#recipient = recipient;
  }

  start(): void {
    this.#res.onData((chunk, isLast) => {
      try {
        if (!this.#over) this.#add(chunk, isLast);
      } catch (error) {
        this.#recipient.failed(error);
      }
    });
  }

  overdue(nowMs: number): Refusal | undefined {
    const isLate = nowMs - this.#recipient.startedMs >= this.#options.limits.bodyTimeoutMs;
    return isLate && !this.#over ? refusals.bodyTooSlow : undefined;
  }

  letGo(): void {
    this.#over = true;
  }

  end(): void {
    this.#over = true;
    this.#buffer?.release();
  }

  #add(chunk: ArrayBuffer, isLast: boolean): void {
    if (isLast && this.#buffer === undefined && !this.#asBytes && chunk.byteLength <= slicedAboveBytes) {
      // The usual case, a body that came in one piece, is parsed where it lies.
      this.#over = true;
      if (chunk.byteLength > this.#bytesMax) this.#recipient.refused(refusals.bodyTooLarge);
      else this.#parsed(parseBody(Buffer.from(chunk)));
      return;
    }
    this.#buffer ??= new BodyBuffer(this.#options.bodyMemory, this.#bytesMax, this.#declared);
    const refusal = this.#buffer.append(new Uint8Array(chunk));
    if (refusal !== undefined) {
      this.#over = true;
      this.#recipient.refused(refusal);
      return;
    }
    if (!isLast) return;
    this.#over = true;
    this.#received(this.#buffer.bytes);
  }

  #received(bytes: Buffer): void {
    if (this.#asBytes) {
      this.#recipient.received({}, bytes);
    } else if (bytes.length <= slicedAboveBytes) {
      this.#parsed(parseBody(bytes));
    } else {
      parseLargeBody(bytes).then(
        (parsed) => this.#parsed(parsed),
        (error) => this.#recipient.failed(error),
      );
    }
  }

  #parsed(parsed: ParsedBody): void {
    this.#buffer?.release();
    if ('status' in parsed) this.#recipient.refused(parsed);
    else this.#recipient.received(parsed.body, undefined);
  }
}
