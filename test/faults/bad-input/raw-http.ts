/**
 * HTTP/1.1 by hand: bytes to a socket and the bytes that come back, with nothing in between that would make them
 * well-formed. Every exchange is bounded in time and ends with its connection.
 */
import { connect } from 'node:net';

export interface RawRequest {
  readonly method: string;
  /** The exact request target on the wire. */
  readonly target: string;
  /** Names and values on the wire, in latin1. `Host` and `Content-Length` are added if missing. */
  readonly headers?: readonly (readonly [name: string, value: string])[];
  readonly body?: Buffer | string | undefined;
}

export interface Answer {
  readonly status: number;
  /** By lower-case name; if there are several of one name, the last. */
  readonly headers: ReadonlyMap<string, string>;
  readonly head: string;
  readonly body: Buffer;
}

export interface ExchangeResult {
  /** All complete answers. */
  readonly answers: readonly Answer[];
  readonly bytes: Buffer;
  /** `silent`: within the limit neither the wanted answers came nor the connection closed. */
  readonly end: 'answered' | 'closed' | 'silent';
}

export interface ExchangeOptions {
  readonly port: number;
  readonly limitMs: number;
  /** The exchange is over with this many answers; 0: only with the connection or the time. */
  readonly answers?: number;
  /** Ends our side after the last byte, like a client that has sent everything. */
  readonly halfCloses?: boolean;
  /** Before each piece but the first. */
  readonly pauseMs?: number;
  /** Leaves this long after the last piece, whatever has come by then. */
  readonly leavesAfterMs?: number;
  /** Reads nothing until this long after the connection was made. */
  readonly readsAfterMs?: number;
  /** Answers have no bodies. */
  readonly isHead?: boolean;
}

export function requestBytes({ method, target, headers = [], body }: RawRequest): Buffer {
  const bytes = body === undefined ? undefined : Buffer.from(body);
  const named = new Set(headers.map(([name]) => name.toLowerCase()));
  const lines = [`${method} ${target} HTTP/1.1`];
  if (!named.has('host')) lines.push('Host: localhost');
  for (const [name, value] of headers) lines.push(`${name}: ${value}`);
  if (bytes !== undefined && !named.has('content-length') && !named.has('transfer-encoding')) {
    lines.push(`Content-Length: ${bytes.length}`);
  }
  const head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
  return bytes === undefined ? head : Buffer.concat([head, bytes]);
}

/** Sends the pieces one after the other. */
export function exchange(pieces: readonly Buffer[], options: ExchangeOptions): Promise<ExchangeResult> {
  const {
    port,
    limitMs,
    answers: expected = 1,
    halfCloses,
    pauseMs = 0,
    leavesAfterMs,
    readsAfterMs,
    isHead,
  } = options;
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, noDelay: true });
    const received: Buffer[] = [];
    let receivedBytes = 0;
    let worthReadingBytes = 0;
    const timers = [setTimeout(() => finish('silent'), limitMs)];
    const read = (closed: boolean) => {
      const { answers, needsBytes } = readAnswers(Buffer.concat(received), closed, isHead === true);
      worthReadingBytes = needsBytes;
      return answers;
    };

    function finish(end: ExchangeResult['end']): void {
      for (const timer of timers) clearTimeout(timer);
      socket.destroy();
      try {
        resolve({ answers: read(end === 'closed'), bytes: Buffer.concat(received), end });
      } catch (error) {
        reject(error);
      }
    }

    function isAnswered(): boolean {
      if (expected === 0 || receivedBytes < worthReadingBytes) return false;
      try {
        return read(false).length >= expected;
      } catch {
        // Bytes that are not HTTP are reported at the end.
        return true;
      }
    }

    function send(index: number): void {
      const piece = pieces[index];
      if (socket.destroyed) return;
      if (piece !== undefined) {
        socket.write(piece);
        if (pauseMs === 0) send(index + 1);
        else timers.push(setTimeout(() => send(index + 1), pauseMs));
        return;
      }
      if (halfCloses) socket.end();
      if (leavesAfterMs !== undefined) timers.push(setTimeout(() => finish('silent'), leavesAfterMs));
    }

    socket.on('connect', () => {
      if (readsAfterMs !== undefined) {
        socket.pause();
        timers.push(setTimeout(() => socket.resume(), readsAfterMs));
      }
      send(0);
    });
    socket.on('data', (chunk) => {
      received.push(chunk);
      receivedBytes += chunk.length;
      if (isAnswered()) finish('answered');
    });
    // Data sent to a closed connection resets it, which counts as a close.
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED') reject(error);
    });
    socket.on('close', () => finish('closed'));
  });
}

const headEnd = '\r\n\r\n';

/** The complete answers, and how many bytes there must be before it is worth parsing again. */
function readAnswers(bytes: Buffer, closed: boolean, isHead: boolean) {
  const answers: Answer[] = [];
  let position = 0;
  for (;;) {
    const end = bytes.indexOf(headEnd, position);
    if (end < 0) return { answers, needsBytes: bytes.length + 1 };
    const head = bytes.toString('latin1', position, end);
    const { status, headers } = readHead(head);
    const bodyStart = end + headEnd.length;
    const length = isHead || status === 204 || status < 200 ? 0 : declaredLength(headers);
    if (length === undefined && !closed) return { answers, needsBytes: bytes.length + 1 };
    const bodyEnd = length === undefined ? bytes.length : bodyStart + length;
    if (bodyEnd > bytes.length) return { answers, needsBytes: bodyEnd };
    if (status >= 200) answers.push({ status, headers, head, body: bytes.subarray(bodyStart, bodyEnd) });
    position = bodyEnd;
  }
}

function readHead(head: string): { status: number; headers: Map<string, string> } {
  const [statusLine = '', ...lines] = head.split('\r\n');
  const status = /^HTTP\/1\.1 (\d{3})( |$)/.exec(statusLine)?.[1];
  if (status === undefined) throw new Error(`no status line: ${JSON.stringify(statusLine.slice(0, 100))}`);
  const headers = lines.map((line): [string, string] => {
    const [, name, value] = /^([\w-]+): ?([^\n\r]*)$/.exec(line) ?? [];
    if (name === undefined || value === undefined) throw new Error(`no header: ${JSON.stringify(line)}`);
    return [name.toLowerCase(), value];
  });
  return { status: Number(status), headers: new Map(headers) };
}

function declaredLength(headers: ReadonlyMap<string, string>): number | undefined {
  const length = headers.get('content-length');
  return length === undefined ? undefined : Number(length);
}
