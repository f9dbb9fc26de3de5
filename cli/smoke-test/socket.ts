/** A minimal client socket for a test: it opens, and records the types of the frames, and how it ended. */
import { randomBytes } from 'node:crypto';
import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { Socket } from 'node:net';
import { parseFrame } from './server-frame.ts';

const opcodes = { text: 1, close: 8 };
/** More than the server sends in one frame to a client that asks for nothing. */
const frameBytesMax = 65_536;
const noMessage = 'it carried something that is no message of this server';

export class ClientSocket {
  readonly #socket: Socket;
  readonly #monotonicMs: () => number;
  readonly #openedMs: number;
  #bytes: Buffer;
  /** Why the socket has closed, once it has. */
  #closed: Error | undefined;
  /** The first sign of its end. */
  #end: string | undefined;
  #lastType: string | undefined;
  /** The types of the frames so far. */
  readonly #types = new Set<string>();
  #changed: () => void = () => {};

  private constructor(socket: Socket, first: Buffer, monotonicMs: () => number) {
    this.#socket = socket;
    this.#monotonicMs = monotonicMs;
    this.#openedMs = monotonicMs();
    this.#bytes = first;
    socket.on('data', (chunk: Buffer) => {
      this.#bytes = Buffer.concat([this.#bytes, chunk]);
      this.#take();
      if (this.#bytes.length > frameBytesMax) this.#breakOff(noMessage);
    });
    socket.on('end', () => {
      this.#end ??= 'the other side ended the connection (FIN) without a close frame';
    });
    socket.on('error', ({ code, message }: NodeJS.ErrnoException) => {
      this.#end ??= `${code ?? message} without a close frame`;
    });
    socket.on('close', () => {
      this.#closed = this.#closedError();
      this.#changed();
    });
    this.#take();
  }

  /** @throws Error with the answer instead of an upgrade */
  static open(
    url: URL,
    headers: Readonly<Record<string, string>>,
    withinMs: number,
    monotonicMs: () => number,
  ): Promise<ClientSocket> {
    const request = url.protocol === 'https:' ? requestHttps : requestHttp;
    return new Promise((fulfil, reject) => {
      const upgrade = request(url, {
        headers: {
          ...headers,
          connection: 'Upgrade',
          upgrade: 'websocket',
          'sec-websocket-version': '13',
          'sec-websocket-key': randomBytes(16).toString('base64'),
        },
        timeout: withinMs,
      });
      upgrade.once('timeout', () => upgrade.destroy(new Error(`no answer within ${withinMs} ms`)));
      upgrade.once('error', reject);
      upgrade.once('upgrade', (_answer: IncomingMessage, socket: Socket, first: Buffer) => {
        socket.setTimeout(0);
        fulfil(new ClientSocket(socket, first, monotonicMs));
      });
      upgrade.once('response', ({ statusCode }) => {
        upgrade.destroy();
        reject(
          new Error(`the server answered ${statusCode} and opened none; does a proxy let WebSockets pass?`),
        );
      });
      upgrade.end();
    });
  }

  /** Resolves once a frame of this type has come, also an earlier one. @throws Error */
  received(type: string, withinMs: number): Promise<void> {
    return new Promise((fulfil, reject) => {
      const timer = setTimeout(() => reject(new Error(`no frame came within ${withinMs} ms`)), withinMs);
      this.#changed = () => {
        if (!this.#types.has(type) && this.#closed === undefined) return;
        clearTimeout(timer);
        if (this.#types.has(type)) fulfil();
        else reject(this.#closed);
      };
      this.#changed();
    });
  }

  end(): void {
    this.#socket.destroy();
  }

  #closedError(): Error {
    const ms = Math.round(this.#monotonicMs() - this.#openedMs);
    const frames = this.#lastType === undefined ? 'before any frame' : `after a frame of ${this.#lastType}`;
    return new Error(
      `the socket was closed ${ms} ms after it opened, ${frames}: ${this.#end ?? 'by this side'}`,
    );
  }

  #take(): void {
    for (let frame = parseFrame(this.#bytes); frame !== undefined; frame = parseFrame(this.#bytes)) {
      const payload = this.#bytes.subarray(frame.start, frame.end);
      this.#bytes = this.#bytes.subarray(frame.end);
      if (frame.opcode === opcodes.close) this.#takeClose(payload);
      if (frame.opcode === opcodes.text) this.#takeText(payload);
    }
    this.#changed();
  }

  #takeClose(payload: Buffer): void {
    this.#end ??= `close frame with ${reasonOf(payload)}`;
    this.#socket.end();
  }

  #takeText(payload: Buffer): void {
    const type = typeOf(payload);
    if (type === undefined) {
      this.#breakOff(noMessage);
      return;
    }
    this.#types.add(type);
    this.#lastType = type;
  }

  #breakOff(why: string): void {
    this.#end ??= why;
    this.#socket.destroy();
  }
}

function typeOf(payload: Buffer): string | undefined {
  try {
    const type: unknown = JSON.parse(payload.toString())?.type;
    return typeof type === 'string' ? type : undefined;
  } catch {
    return undefined;
  }
}

const reasonOf = (payload: Buffer): string =>
  payload.length < 2 ? 'no code' : `${payload.readUInt16BE()} ${payload.toString('utf8', 2)}`.trimEnd();
