/** A WebSocket client that shows what others hide: the answer to a refused upgrade, pings, and close codes. */
import { request } from 'node:http';
import type { Socket } from 'node:net';
import type { ExecutionContext } from 'ava';
import { parseFrame } from '../../cli/smoke-test/server-frame.ts';

export interface RefusedUpgrade {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

export interface SocketClient {
  /** Texts of the frames so far. */
  readonly texts: readonly string[];
  readonly pings: number;
  /** Resolves once this many frames have come. */
  received(count: number): Promise<readonly string[]>;
  /** Resolves to the close code, 1006 if the connection just ended; rejects if it stays open. */
  readonly closed: Promise<number>;
  /** The reason in the close frame. */
  readonly closeReason: string;
  readonly isClosed: boolean;
  send(text: string): void;
  sendBinary(bytes: Buffer): void;
  /** A ping of the protocol, with the longest text that it may have. */
  ping(): void;
  /** Leaves incoming data in the system's buffers. */
  pause(): void;
  end(): void;
}

export interface SocketClientOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly answersPings?: boolean;
  /** False: incoming data stays in the system's buffers. */
  readonly reads?: boolean;
  /** As each comes. */
  readonly onText?: (text: string) => void;
}

const opcodes = { text: 1, binary: 2, close: 8, ping: 9, pong: 10 };
const abnormal = 1006;
const waitMs = 10_000;

/** Like `connect`, until the test ends. */
export async function dial(
  t: ExecutionContext,
  url: string,
  options: SocketClientOptions = {},
): Promise<SocketClient | RefusedUpgrade> {
  const dialled = await connect(url, options);
  if (!isRefused(dialled)) t.teardown(() => dialled.end());
  return dialled;
}

/** Rejects only if the server is unreachable: a refusal is an answer. */
export function connect(
  url: string,
  { headers = {}, answersPings = true, reads = true, onText = () => {} }: SocketClientOptions = {},
): Promise<SocketClient | RefusedUpgrade> {
  return new Promise((resolve, reject) => {
    const upgrade = request(url.replace(/^ws/, 'http'), {
      headers: {
        connection: 'Upgrade',
        upgrade: 'websocket',
        'sec-websocket-version': '13',
        'sec-websocket-key': Buffer.alloc(16, 7).toString('base64'),
        ...headers,
      },
    });
    upgrade.on('error', reject);
    upgrade.on('upgrade', (_reply, socket, first) => {
      if (!reads) socket.pause();
      resolve(new Connection(socket as Socket, first, { answersPings, onText }));
    });
    upgrade.on('response', (reply) => {
      let body = '';
      reply.setEncoding('utf8');
      reply.on('data', (chunk) => {
        body += chunk;
      });
      reply.on('end', () => resolve({ status: reply.statusCode ?? 0, headers: reply.headers, body }));
    });
    upgrade.end();
  });
}

export const isRefused = (dialled: SocketClient | RefusedUpgrade): dialled is RefusedUpgrade =>
  'status' in dialled;

// biome-ignore lint/suspicious/noExplicitAny: a frame is looked at as a client would
export const parsed = (texts: readonly string[]): any[] => texts.map((text) => JSON.parse(text));

class Connection implements SocketClient {
  readonly texts: string[] = [];
  pings = 0;
  isClosed = false;
  closeReason = '';
  readonly #closed: Promise<number>;
  readonly #socket: Socket;
  readonly #options: Required<Pick<SocketClientOptions, 'answersPings' | 'onText'>>;
  #bytes: Buffer;
  #code = abnormal;
  readonly #checks = new Set<() => void>();

  constructor(
    socket: Socket,
    first: Buffer,
    options: Required<Pick<SocketClientOptions, 'answersPings' | 'onText'>>,
  ) {
    this.#socket = socket;
    this.#options = options;
    this.#bytes = first;
    this.#closed = new Promise((resolve) => {
      socket.on('close', () => {
        this.isClosed = true;
        resolve(this.#code);
      });
    });
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      this.#bytes = Buffer.concat([this.#bytes, chunk]);
      this.#take();
    });
    this.#take();
  }

  get closed(): Promise<number> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error('the socket was not closed')), waitMs);
      void this.#closed.then((code) => {
        clearTimeout(timer);
        resolve(code);
      });
    });
  }

  received(count: number): Promise<readonly string[]> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`only ${this.texts.length} frames came`)), waitMs);
      const check = () => {
        if (this.texts.length < count) return;
        clearTimeout(timer);
        this.#checks.delete(check);
        resolve(this.texts);
      };
      this.#checks.add(check);
      check();
    });
  }

  send(text: string): void {
    this.#write(opcodes.text, Buffer.from(text));
  }

  sendBinary(bytes: Buffer): void {
    this.#write(opcodes.binary, bytes);
  }

  ping(): void {
    this.#write(opcodes.ping, Buffer.alloc(125));
  }

  pause(): void {
    this.#socket.pause();
  }

  end(): void {
    this.#socket.destroy();
  }

  #write(opcode: number, payload: Buffer): void {
    const length = lengthBytes(payload.length);
    // A mask of zeros is a valid mask.
    this.#socket.write(Buffer.concat([Buffer.from([0x80 | opcode, ...length, 0, 0, 0, 0]), payload]));
  }

  #take(): void {
    for (let frame = parseFrame(this.#bytes); frame !== undefined; frame = parseFrame(this.#bytes)) {
      const payload = this.#bytes.subarray(frame.start, frame.end);
      this.#bytes = this.#bytes.subarray(frame.end);
      this.#frame(frame.opcode, payload);
    }
  }

  #frame(opcode: number, payload: Buffer): void {
    if (opcode === opcodes.text) {
      this.texts.push(payload.toString());
      this.#options.onText(payload.toString());
      for (const check of this.#checks) check();
    } else if (opcode === opcodes.ping) {
      this.pings += 1;
      if (this.#options.answersPings) this.#write(opcodes.pong, payload);
    } else if (opcode === opcodes.close) {
      this.#code = payload.length >= 2 ? payload.readUInt16BE(0) : abnormal;
      this.closeReason = payload.subarray(2).toString();
      this.#socket.end();
    }
  }
}

/** The length of the payload, with the mask bit. */
function lengthBytes(length: number): readonly number[] {
  if (length < 126) return [0x80 | length];
  if (length < 65_536) return [0x80 | 126, length >> 8, length & 255];
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(length));
  return [0x80 | 127, ...bytes];
}
