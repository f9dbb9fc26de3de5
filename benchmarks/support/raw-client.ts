/**
 * Requests on keep-alive connections of bare TCP, one in flight on each. A client based on `fetch` would compete with
 * the server for the machine, which would show in every latency.
 */
import { connect, type Socket } from 'node:net';
import { parseReply } from '../http-load.ts';

export interface RawReply {
  readonly status: number;
  readonly body: string;
}

export class RawClient {
  readonly #host: string;
  readonly #port: number;
  readonly #idle: Socket[] = [];

  constructor(url: string) {
    const { hostname, port } = new URL(url);
    this.#host = hostname;
    this.#port = Number(port);
  }

  /** Rejects when the connection breaks. */
  async send(bytes: Buffer): Promise<RawReply> {
    const socket = this.#takeIdle() ?? this.#connect();
    const reply = await answerOn(socket, bytes);
    this.#idle.push(socket);
    return reply;
  }

  #takeIdle(): Socket | undefined {
    const socket = this.#idle.pop();
    // The server closes connections that were idle for long.
    return socket === undefined || socket.writable ? socket : this.#takeIdle();
  }

  #connect(): Socket {
    const socket = connect({ host: this.#host, port: this.#port, noDelay: true });
    socket.on('error', () => {});
    return socket;
  }

  /** When everything is answered. */
  close(): void {
    for (const socket of this.#idle.splice(0)) socket.destroy();
  }
}

/** One request and its answer. Rejects when the connection breaks. */
export function answerOn(socket: Socket, bytes: Buffer): Promise<RawReply> {
  return new Promise((resolve, reject) => {
    let pending: Buffer = Buffer.alloc(0);
    const release = () => {
      socket.off('data', read);
      socket.off('close', fail);
      socket.off('error', fail);
    };
    const fail = () => {
      release();
      socket.destroy();
      reject(new Error('the connection broke'));
    };
    const read = (chunk: Buffer) => {
      pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
      const reply = parseReply(pending);
      if (reply === undefined) return;
      release();
      resolve({ status: reply.status, body: pending.toString('utf8', reply.bodyStart, reply.end) });
    };
    socket.on('data', read);
    socket.on('close', fail);
    socket.on('error', fail);
    socket.write(bytes);
  });
}
