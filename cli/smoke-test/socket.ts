/** A minimal client socket for a test: it opens, and records the types of the frames. */
import { randomBytes } from 'node:crypto';
import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { Socket } from 'node:net';
import { parseFrame } from './server-frame.ts';

const opcodes = { text: 1, close: 8 };

export class ClientSocket {
  readonly #socket: Socket;
  #bytes: Buffer;
  /** Why the socket has closed, once it has. */
  #closed: Error | undefined;
  #closing = 'without a close frame';
  /** The types of the frames so far. */
  readonly #types = new Set<string>();
  #changed: () => void = () => {};

  private constructor(socket: Socket, first: Buffer) {
    this.#socket = socket;
    this.#bytes = first;
    socket.on('data', (chunk: Buffer) => {
      this.#bytes = Buffer.concat([this.#bytes, chunk]);
      this.#take();
    });
    socket.on('error', ({ message }) => {
      this.#closing = message;
    });
    socket.on('close', () => {
      this.#closed = new Error(`the socket was closed: ${this.#closing}`);
      this.#changed();
    });
    this.#take();
  }

  /** @throws Error with the answer instead of an upgrade */
  static open(url: URL, headers: Readonly<Record<string, string>>, withinMs: number): Promise<ClientSocket> {
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
        fulfil(new ClientSocket(socket, first));
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

  #end(payload: Buffer): void {
    this.#closing = reasonOf(payload);
    this.#socket.end();
  }

  #take(): void {
    for (let frame = parseFrame(this.#bytes); frame !== undefined; frame = parseFrame(this.#bytes)) {
      const payload = this.#bytes.subarray(frame.start, frame.end);
      this.#bytes = this.#bytes.subarray(frame.end);
      if (frame.opcode === opcodes.close) this.#end(payload);
      if (frame.opcode === opcodes.text) this.#types.add(JSON.parse(payload.toString()).type);
    }
    this.#changed();
  }
}

const reasonOf = (payload: Buffer): string =>
  payload.length < 2 ? 'no code' : `${payload.readUInt16BE()} ${payload.toString('utf8', 2)}`.trimEnd();
