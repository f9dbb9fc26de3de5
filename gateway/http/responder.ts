/**
 * The only writer of replies: status, headers and body in one cork, so that a reply is one system call. No other code writes to
 * `res` after the head of the request was read.
 *
 * A reply is written once. After an abort (the client is gone, `res` must not be touched) it is dropped. A body goes out only
 * as fast as its reader takes it (body-writer.ts), so that a slow reader costs its own reply and no more.
 *
 * uWebSockets.js closes the connection of a client that sends more requests without reading the reply. `done` is called exactly
 * once: when the last byte was handed over, the client was found gone, or the reply was cut.
 */
import { STATUS_CODES } from 'node:http';
import { BodyWriter, type BodyWriterOptions } from './body-writer.ts';
import { type BaseHeaders, type HeaderValues, requireOneLine, standardHeaders } from './reply-headers.ts';
import type { ReplyHolder, ReplyReader } from './reply-memory.ts';
import type { HttpResponse } from './uws.ts';

export interface OutgoingHead {
  readonly status: number;
  readonly contentType: string;
  readonly headers?: HeaderValues | undefined;
  readonly setCookies?: readonly string[] | undefined;
  /** Ends the connection after the reply. */
  readonly closes?: boolean | undefined;
}

export interface Outgoing extends OutgoingHead {
  /** Undefined: no body at all. */
  readonly body: string | Uint8Array | undefined;
}

export interface OutgoingStream extends OutgoingHead {
  /** The exact number of bytes to come; undefined if unknown. */
  readonly lengthBytes: number | undefined;
}

export const jsonType = 'application/json; charset=utf-8';
export const htmlType = 'text/html; charset=utf-8';

/** The caller of the request. */
export interface Replying {
  /** The reader, looked up only if they are slower than the server. */
  readonly reader: ReplyReader;
  /** Called with the status, or 0 for a reply that did not go out whole. */
  done(status: number): void;
}

/** Callers whose request was refused before the server knew them. */
export const anonymousReader: ReplyReader = { name: '', isAnonymous: true };

const requestIdLine = '\r\nX-Request-Id: ';

export class Responder {
  readonly #res: HttpResponse;
  readonly #requestId: string;
  readonly #options: BodyWriterOptions;
  readonly #replying: Replying;
  #sent = false;
  #finished = false;
  #wasCut = false;
  /** A finished reply whose connection waits for the rest of the request. */
  #lingering: { readonly status: number; readonly untilMs: number } | undefined;
  #bodyWriter: BodyWriter | undefined;
  /** Set from the request's head before anything is sent. */
  headers: BaseHeaders = standardHeaders;
  corsLines = '';
  securityLines = '';
  /** The account for the bytes that the reader has not taken. */
  holder: ReplyHolder;
  headOnly = false;
  /** The client must send nothing more on this connection (`headers.ts`), so the reply closes it. */
  isLast = false;

  constructor(res: HttpResponse, requestId: string, options: BodyWriterOptions, replying: Replying) {
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

  /** Whether this side broke the reply off. */
  get wasCut(): boolean {
    return this.#wasCut;
  }

  /** The client is gone. */
  abort(): void {
    this.#finish(this.#lingering?.status ?? 0);
  }

  /** Breaks off a reply that has begun and cannot be completed, so that its reader does not take it for whole. */
  cut(): void {
    if (!this.#sent || this.#finished) return;
    this.#wasCut = true;
    this.#res.close();
    this.#finish(0);
  }

  /** Call about every second. */
  overdue(nowMs: number): void {
    this.#bodyWriter?.overdue(nowMs);
    if (this.#lingering !== undefined && nowMs >= this.#lingering.untilMs) this.endLingering();
  }

  send(outgoing: Outgoing): void {
    if (this.isFinished) return;
    // The library announces an end that it makes itself.
    const lines = this.#linesOf(outgoing) + (outgoing.closes ? '' : this.#ending);
    this.#sent = true;
    this.#res.cork(() => {
      this.#writeHead(outgoing, lines);
      this.#writeBody(outgoing);
    });
  }

  get #ending(): string {
    return this.isLast ? connectionClose : '';
  }

  /**
   * Sends a reply whose request is still arriving. It ends the connection when `endLingering` reports the end of the
   * request, or after `lingerMs`. Closed at once, the connection would be reset, and the client would hardly see the
   * reply. Ended as usual, the reply would leave the connection open for ever: the library stops its clock with the
   * last byte of a request.
   */
  sendEarly(outgoing: Outgoing, lingerMs: number): void {
    if (this.isFinished) return;
    if (typeof outgoing.body !== 'string') {
      this.send({ ...outgoing, closes: true });
      return;
    }
    const { status, body } = outgoing;
    // The library would forget the connection at the end of the reply. So the body goes out as part of the head, which needs no
    // end. The line break that the library adds forms its last two bytes.
    const lengthBytes = Buffer.byteLength(body) + 2;
    const lines = this.#linesOf(outgoing);
    this.#sent = true;
    this.#lingering = { status, untilMs: this.#options.clock.monotonicMs() + lingerMs };
    this.#res.cork(() => {
      this.#writeHead(outgoing, lines);
      this.#res.writeHeader('Connection', `close\r\nContent-Length: ${lengthBytes}\r\n\r\n${body}`);
    });
  }

  /** The library sends what it holds when the loop turns, so the connection is closed after that. */
  endLingering(): void {
    if (this.#lingering !== undefined) setImmediate(() => this.#endNow());
  }

  #endNow(): void {
    if (this.#lingering === undefined || this.#finished) return;
    this.#res.close();
    this.#finish(this.#lingering.status);
  }

  /**
   * Sends the chunks as they come. It sends nothing before the first chunk, so that another reply remains possible.
   * Rejects when the chunks do.
   */
  async stream(outgoing: OutgoingStream, chunks: AsyncIterable<Uint8Array>): Promise<void> {
    if (this.headOnly) {
      this.#sendHeadOf(outgoing);
      return;
    }
    for await (const chunk of chunks) {
      if (!this.#offer(outgoing, chunk)) return;
      await this.#bodyWriter?.written;
      if (this.#finished) return;
    }
    if (!this.#sent) this.send({ ...outgoing, body: '' });
    else if (this.#bodyWriter !== undefined && !this.#finished) this.#endChunks(outgoing.status);
  }

  /** False if it can no longer be sent. */
  #offer(outgoing: OutgoingStream, chunk: Uint8Array): boolean {
    const bodyWriter = this.#bodyWriter;
    if (this.#finished || (this.#sent && bodyWriter === undefined)) return false;
    if (bodyWriter !== undefined) {
      this.#res.cork(() => bodyWriter.offer(chunk));
      return true;
    }
    // The library can end a connection only after a body that it gets in one piece.
    const closing = outgoing.closes ? connectionClose : this.#ending;
    this.#beginStream(outgoing, closing, () =>
      this.#startBody(outgoing.lengthBytes, outgoing.status).offer(chunk),
    );
    return true;
  }

  #endChunks(status: number): void {
    this.#res.cork(() => this.#res.end());
    this.#finish(status);
  }

  #sendHeadOf(outgoing: OutgoingStream): void {
    if (this.isFinished) return;
    this.#beginStream(outgoing, outgoing.closes ? '' : this.#ending, () =>
      this.#endHead(outgoing, outgoing.lengthBytes),
    );
    if (this.#lingering === undefined) this.#finish(outgoing.status);
  }

  #beginStream(outgoing: OutgoingStream, more: string, writeBody: () => void): void {
    const lines = this.#linesOf(outgoing) + more;
    this.#sent = true;
    this.#res.cork(() => {
      this.#writeHead(outgoing, lines);
      writeBody();
    });
  }

  /** @throws TypeError for a value that must not be in a head, before anything is written. */
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

  #writeBody(outgoing: Outgoing): void {
    const { status, body, closes } = outgoing;
    if (body === undefined) {
      // RFC 9110, 8.6: a 204 has no length, and that of a 304 would be the length of the body that it replaces.
      this.#endHead(outgoing, status === 204 || status === 304 ? undefined : 0);
    } else if (this.headOnly) {
      this.#endHead(outgoing, Buffer.byteLength(body));
    } else if (closes) {
      this.#res.end(body, closes);
    } else {
      this.#writeWhole(body, status);
      return;
    }
    if (this.#lingering === undefined) this.#finish(status);
  }

  /**
   * Ends a reply without a body. The length is a header of our own. Given a length, the library expects bytes to
   * come, so it would answer nothing more on the connection, and never end it.
   */
  #endHead({ status, closes }: OutgoingHead, lengthBytes: number | undefined): void {
    if (lengthBytes === 0) {
      this.#res.endWithoutBody(0, closes);
      return;
    }
    if (lengthBytes !== undefined) this.#res.writeHeader('Content-Length', String(lengthBytes));
    if (closes) this.#closeBehindHead(status);
    else this.#res.endWithoutBody();
  }

  /**
   * The library can end a connection only after a body or a length. A client may continue although the server asked it to end
   * the connection. The line break that the library adds is the empty line after the head.
   */
  #closeBehindHead(status: number): void {
    this.#lingering = { status, untilMs: this.#options.clock.monotonicMs() };
    this.#res.writeHeader('Connection', 'close\r\n');
    this.endLingering();
  }

  #writeWhole(body: string | Uint8Array, status: number): void {
    const lengthBytes = Buffer.byteLength(body);
    const [, isComplete] = this.#res.tryEnd(body, lengthBytes);
    if (isComplete) {
      this.#finish(status);
      return;
    }
    const writtenBytes = this.#res.getWriteOffset();
    const bytes = typeof body === 'string' ? Buffer.from(body) : body;
    this.#startBody(lengthBytes, status).offer(bytes.subarray(writtenBytes));
  }

  #startBody(lengthBytes: number | undefined, status: number): BodyWriter {
    const events = { complete: () => this.#finish(status), giveUp: () => this.cut() };
    const options = { ...this.#options, replyMemory: this.holder };
    this.#bodyWriter = new BodyWriter({
      res: this.#res,
      lengthBytes,
      options,
      events,
      reader: this.#replying.reader,
    });
    return this.#bodyWriter;
  }

  #finish(status: number): void {
    if (this.#finished) return;
    this.#finished = true;
    this.#bodyWriter?.end();
    this.#replying.done(status);
  }
}

const connectionClose = '\r\nConnection: close';

/** No standard has the status by which clients learn that their token has expired. */
const reasons: Readonly<Record<number, string | undefined>> = { ...STATUS_CODES, 498: 'Invalid Token' };

/** The text after the version in a reply's first line. */
const statusLine = (status: number) => `${status} ${reasons[status] ?? 'Unknown'}`;
