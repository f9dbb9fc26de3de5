/**
 * The one writer of replies: status, headers and body in one cork, so that a reply is one system call. Nobody else
 * touches `res` after the head of the request was read.
 *
 * A reply is written once; after an abort (the client is gone, `res` must not be touched) it is dropped. A body is
 * handed over only as fast as its reader takes it, so that a slow reader costs its own reply and no more: one who
 * sends further requests behind a reply that he does not read is closed upon by uWebSockets.js.
 * `onDone` is called exactly once, when the last byte was handed over or the client was found gone.
 */
import type { HttpResponse } from './uws.ts';

export interface Outgoing {
  readonly status: number;
  readonly contentType: string;
  /** Undefined: no body at all. */
  readonly body: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly setCookies?: readonly string[] | undefined;
  readonly closes?: boolean | undefined;
}

export const jsonType = 'application/json; charset=utf-8';

const fixedLines =
  '\r\nCache-Control: no-store' +
  '\r\nVary: Origin' +
  '\r\nX-Content-Type-Options: nosniff' +
  '\r\nReferrer-Policy: no-referrer' +
  "\r\nContent-Security-Policy: default-src 'none'; frame-ancestors 'none'" +
  '\r\nX-Request-Id: ';

export class Responder {
  readonly #res: HttpResponse;
  readonly #requestId: string;
  readonly #onDone: (status: number) => void;
  #sent = false;
  #finished = false;
  /** Set from the request's head before anything is sent. */
  corsLines = '';
  headOnly = false;

  constructor(res: HttpResponse, requestId: string, onDone: (status: number) => void) {
    this.#res = res;
    this.#requestId = requestId;
    this.#onDone = onDone;
  }

  /** Whether nothing can be sent any more. */
  get isFinished(): boolean {
    return this.#sent || this.#finished;
  }

  /** The client is gone. */
  abort(): void {
    this.#finish(0);
  }

  send(outgoing: Outgoing): void {
    if (this.isFinished) return;
    const { headers, setCookies } = outgoing;
    const lines = headers === undefined ? '' : headerLines(headers);
    if (setCookies !== undefined) setCookies.forEach(requireOneLine);
    this.#sent = true;
    this.#res.cork(() => {
      this.#writeHead(outgoing, lines);
      this.#writeBody(outgoing);
    });
  }

  #writeHead({ status, contentType, setCookies }: Outgoing, lines: string): void {
    const res = this.#res;
    if (status !== 200) res.writeStatus(statusLine(status));
    // One call with line breaks in it: each call into the library costs more than the bytes of ten headers.
    res.writeHeader('Content-Type', contentType + fixedLines + this.#requestId + this.corsLines + lines);
    if (setCookies !== undefined) for (const cookie of setCookies) res.writeHeader('Set-Cookie', cookie);
  }

  #writeBody({ status, body, closes }: Outgoing): void {
    const res = this.#res;
    if (body === undefined) {
      // Called with anything, it writes a length, which a 204 must not have and every other reply must.
      if (status === 204 && !closes) res.endWithoutBody();
      else res.endWithoutBody(0, closes);
    } else if (this.headOnly) {
      res.endWithoutBody(Buffer.byteLength(body), closes);
    } else if (closes) {
      res.end(body, closes);
    } else {
      this.#stream(body, status);
      return;
    }
    this.#finish(status);
  }

  #stream(body: string, status: number): void {
    const res = this.#res;
    const bodyOffset = res.getWriteOffset();
    const [, allWritten] = res.tryEnd(body, Buffer.byteLength(body));
    if (allWritten) {
      this.#finish(status);
      return;
    }
    const bytes = Buffer.from(body);
    res.onWritable((offset) => {
      const [taken, done] = res.tryEnd(bytes.subarray(offset - bodyOffset), bytes.length);
      if (done) this.#finish(status);
      return taken;
    });
  }

  #finish(status: number): void {
    if (this.#finished) return;
    this.#finished = true;
    this.#onDone(status);
  }
}

function headerLines(headers: Readonly<Record<string, string>>): string {
  let lines = '';
  for (const name in headers) {
    const line = `${name}: ${headers[name]}`;
    requireOneLine(line);
    lines += `\r\n${line}`;
  }
  return lines;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it refuses
const severalLines = /[\u0000-\u0008\u000a-\u001f\u007f]/;

function requireOneLine(text: string): void {
  if (severalLines.test(text)) throw new TypeError('a header value of a reply holds a control character');
}

const reasons: Readonly<Record<number, string>> = {
  200: 'OK',
  201: 'Created',
  202: 'Accepted',
  204: 'No Content',
  304: 'Not Modified',
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  409: 'Conflict',
  410: 'Gone',
  413: 'Payload Too Large',
  423: 'Locked',
  429: 'Too Many Requests',
  498: 'Invalid Token',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
};

const statusLine = (status: number) => `${status} ${reasons[status] ?? 'Unknown'}`;
