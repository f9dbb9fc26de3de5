/**
 * The one writer of replies: status, headers and body in one cork, so that a reply is one system call. Nobody else
 * writes to `res` after the head of the request was read.
 *
 * A reply is written once; after an abort (the client is gone, `res` must not be touched) it is dropped. A body is
 * handed over only as fast as its reader takes it (outflow.ts), so that a slow reader costs its own reply and no more:
 * uWebSockets.js closes the connection of one who sends more requests without reading the reply. `done` is
 * called exactly once, when the last byte was handed over, the client was found gone or the reply was cut.
 */
import { Outflow, type OutflowOptions } from './outflow.ts';
import { type HeaderValues, requireOneLine, type StandingHeaders, standardHeaders } from './reply-headers.ts';
import type { Reader, ReplyHolder } from './reply-memory.ts';
import { statusLine } from './status.ts';
import type { HttpResponse } from './uws.ts';

export interface OutgoingHead {
  readonly status: number;
  readonly contentType: string;
  readonly headers?: HeaderValues | undefined;
  readonly setCookies?: readonly string[] | undefined;
  /** Ends the connection behind the reply. */
  readonly closes?: boolean | undefined;
}

export interface Outgoing extends OutgoingHead {
  /** Undefined: no body at all. */
  readonly body: string | Uint8Array | undefined;
}

export interface OutgoingStream extends OutgoingHead {
  /** Exactly how many bytes will come; undefined when that is not known. */
  readonly lengthBytes: number | undefined;
}

export const jsonType = 'application/json; charset=utf-8';
export const htmlType = 'text/html; charset=utf-8';

/** Whose reply it is. */
export interface Replying {
  /** Whom it is for, who is asked for only when they are slower than we are. */
  readonly reader: Reader;
  /** Told the status, or 0 for a reply that did not go out whole. */
  done(status: number): void;
}

/** Those whose request was refused before it was known whose it is. */
export const somebody: Reader = { name: '', isStranger: true };

const requestIdLine = '\r\nX-Request-Id: ';

export class Responder {
  readonly #res: HttpResponse;
  readonly #requestId: string;
  readonly #options: OutflowOptions;
  readonly #replying: Replying;
  #sent = false;
  #finished = false;
  #wasCut = false;
  #outflow: Outflow | undefined;
  /** Set from the request's head before anything is sent. */
  headers: StandingHeaders = standardHeaders;
  corsLines = '';
  securityLines = '';
  /** Where it counts what they have not taken. */
  holder: ReplyHolder;
  headOnly = false;

  constructor(res: HttpResponse, requestId: string, options: OutflowOptions, replying: Replying) {
    this.#res = res;
    this.#requestId = requestId;
    this.#options = options;
    this.holder = options.replyMemory;
    this.#replying = replying;
  }

  /** Whether nothing can be sent any more. */
  get isFinished(): boolean {
    return this.#sent || this.#finished;
  }

  /** Whether the reply is out whole, or never will be. */
  get isOver(): boolean {
    return this.#finished;
  }

  /** Whether it was this side that broke the reply off. */
  get wasCut(): boolean {
    return this.#wasCut;
  }

  /** The client is gone. */
  abort(): void {
    this.#finish(0);
  }

  /** Breaks off a reply that has begun and cannot be completed: its reader must not take it for whole. */
  cut(): void {
    if (!this.#sent || this.#finished) return;
    this.#wasCut = true;
    this.#res.close();
    this.#finish(0);
  }

  /** Call about every second. */
  overdue(nowMs: number): void {
    this.#outflow?.overdue(nowMs);
  }

  send(outgoing: Outgoing): void {
    if (this.isFinished) return;
    const lines = this.#linesOf(outgoing);
    this.#sent = true;
    this.#res.cork(() => {
      this.#writeHead(outgoing, lines);
      this.#writeBody(outgoing);
    });
  }

  /**
   * Sends the chunks as they come. Until the first is there nothing is sent, so that another reply can be. Rejects when
   * the chunks do.
   */
  async stream(outgoing: OutgoingStream, chunks: AsyncIterable<Uint8Array>): Promise<void> {
    if (this.headOnly) {
      this.#sendHeadOf(outgoing);
      return;
    }
    for await (const chunk of chunks) {
      if (!this.#offer(outgoing, chunk)) return;
      await this.#outflow?.taken;
      if (this.#finished) return;
    }
    if (!this.#sent) this.send({ ...outgoing, body: '' });
    else if (this.#outflow !== undefined && !this.#finished) this.#endChunks(outgoing.status);
  }

  /** False if it can no longer be sent. */
  #offer(outgoing: OutgoingStream, chunk: Uint8Array): boolean {
    const outflow = this.#outflow;
    if (this.#finished || (this.#sent && outflow === undefined)) return false;
    if (outflow !== undefined) {
      this.#res.cork(() => outflow.offer(chunk));
      return true;
    }
    // The library can end a connection only behind a body that it is given at once.
    const closing = outgoing.closes ? '\r\nConnection: close' : '';
    this.#beginStream(outgoing, closing, () =>
      this.#workflow(outgoing.lengthBytes, outgoing.status).offer(chunk),
    );
    return true;
  }

  #endChunks(status: number): void {
    this.#res.cork(() => this.#res.end());
    this.#finish(status);
  }

  #sendHeadOf(outgoing: OutgoingStream): void {
    const { status, lengthBytes, closes } = outgoing;
    if (this.isFinished) return;
    this.#beginStream(outgoing, '', () => {
      if (lengthBytes === undefined) this.#res.endWithoutBody();
      else this.#res.endWithoutBody(lengthBytes, closes);
    });
    this.#finish(status);
  }

  #beginStream(outgoing: OutgoingStream, more: string, writeBody: () => void): void {
    const lines = this.#linesOf(outgoing) + more;
    this.#sent = true;
    this.#res.cork(() => {
      this.#writeHead(outgoing, lines);
      writeBody();
    });
  }

  /** @throws TypeError for what must not stand in a head, before anything of it is written. */
  #linesOf({ headers, setCookies }: OutgoingHead): string {
    if (setCookies !== undefined) setCookies.forEach(requireOneLine);
    return headers === undefined ? this.headers.text : this.headers.textWith(headers);
  }

  #writeHead({ status, contentType, setCookies }: OutgoingHead, lines: string): void {
    const res = this.#res;
    if (status !== 200) res.writeStatus(statusLine(status));
    // One call with line breaks in it: each call into the library costs more than the bytes of ten headers.
    res.writeHeader(
      'Content-Type',
      contentType + lines + requestIdLine + this.#requestId + this.securityLines + this.corsLines,
    );
    if (setCookies !== undefined) for (const cookie of setCookies) res.writeHeader('Set-Cookie', cookie);
  }

  #writeBody({ status, body, closes }: Outgoing): void {
    const res = this.#res;
    if (body === undefined) {
      // Called with anything, it writes a length, which a 204 must not have, nor a 304 another than what it stands for.
      if ((status === 204 || status === 304) && !closes) res.endWithoutBody();
      else res.endWithoutBody(0, closes);
    } else if (this.headOnly) {
      res.endWithoutBody(Buffer.byteLength(body), closes);
    } else if (closes) {
      res.end(body, closes);
    } else {
      this.#writeWhole(body, status);
      return;
    }
    this.#finish(status);
  }

  #writeWhole(body: string | Uint8Array, status: number): void {
    const lengthBytes = Buffer.byteLength(body);
    const [, isComplete] = this.#res.tryEnd(body, lengthBytes);
    if (isComplete) {
      this.#finish(status);
      return;
    }
    const takenBytes = this.#res.getWriteOffset();
    const bytes = typeof body === 'string' ? Buffer.from(body) : body;
    this.#workflow(lengthBytes, status).offer(bytes.subarray(takenBytes));
  }

  #workflow(lengthBytes: number | undefined, status: number): Outflow {
    const events = { complete: () => this.#finish(status), giveUp: () => this.cut() };
    const options = { ...this.#options, replyMemory: this.holder };
    this.#outflow = new Outflow(this.#res, lengthBytes, options, events, this.#replying.reader);
    return this.#outflow;
  }

  #finish(status: number): void {
    if (this.#finished) return;
    this.#finished = true;
    this.#outflow?.end();
    this.#replying.done(status);
  }
}
