/**
 * A loopback proxy for one link between two processes, in place of the network between two machines. It can be cut,
 * which both ends learn at once, slowed, and healed. It can be silenced both ways or one way: the connection stays, and its
 * bytes wait as if retransmitted.
 *
 * Bytes that wait behind silence keep their order, and so does the end of the connection. After healing, a statement
 * arrives although its sender has hung up since. A silent proxy accepts a new connection, which hears nothing.
 */
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { reset } from './reset.ts';

export type Way = 'to-server' | 'to-client';
/** The target of the proxy: a port of the loopback or a unix socket. */
export type Target = { readonly port: number } | { readonly path: string };

/** Beyond this its sender has to wait, as with a full window. */
const waitingBytesMax = 4 * 1_024 * 1_024;

export class TcpProxy {
  readonly #server: Server;
  readonly #target: Target;
  readonly #streams = new Set<Stream>();
  readonly #sockets = new Set<Socket>();
  readonly #silent = new Set<Way>();
  #cut = false;
  #delayMs = 0;

  private constructor(target: Target) {
    this.#target = target;
    this.#server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => this.#take(client));
  }

  static async start(target: Target): Promise<TcpProxy> {
    const proxy = new TcpProxy(target);
    await new Promise<void>((resolve, reject) => {
      proxy.#server.once('error', reject);
      proxy.#server.listen(0, '127.0.0.1', resolve);
    });
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Resets every connection, and every new one. */
  cut(): void {
    this.#cut = true;
    for (const socket of this.#sockets) reset(socket);
  }

  silence(...ways: readonly Way[]): void {
    for (const way of ways) this.#silent.add(way);
  }

  /** From now on every byte takes this long. */
  slow(delayMs: number): void {
    this.#delayMs = delayMs;
  }

  heal(): void {
    this.#cut = false;
    this.#delayMs = 0;
    this.#silent.clear();
    for (const stream of this.#streams) stream.flow();
  }

  async stop(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  #take(client: Socket): void {
    if (this.#cut) {
      client.on('error', () => undefined);
      reset(client);
      return;
    }
    const server = connect({ ...this.#target, allowHalfOpen: true, noDelay: true });
    this.#join(client, server, 'to-server');
    this.#join(server, client, 'to-client');
  }

  #join(from: Socket, to: Socket, way: Way): void {
    const stream = new Stream(from, to, {
      isSilent: () => this.#silent.has(way),
      delayMs: () => this.#delayMs,
    });
    this.#streams.add(stream);
    this.#sockets.add(from);
    from.once('close', () => this.#sockets.delete(from));
    to.once('close', () => this.#streams.delete(stream));
  }
}

type Part = { readonly dueMs: number } & (
  | { readonly bytes: Buffer }
  | { readonly end: 'finished' | 'broken' }
);

/** One direction of one connection. */
class Stream {
  readonly #from: Socket;
  readonly #to: Socket;
  readonly #link: { isSilent(): boolean; delayMs(): number };
  readonly #waiting: Part[] = [];
  #waitingBytes = 0;
  #alarm: NodeJS.Timeout | undefined;

  constructor(from: Socket, to: Socket, link: { isSilent(): boolean; delayMs(): number }) {
    this.#from = from;
    this.#to = to;
    this.#link = link;
    const now = () => performance.now() + link.delayMs();
    from.on('data', (bytes) => this.#add({ dueMs: now(), bytes }));
    from.once('end', () => this.#add({ dueMs: now(), end: 'finished' }));
    // The other end learns of the closed connection only after everything sent before.
    from.on('error', () => this.#add({ dueMs: now(), end: 'broken' }));
    to.on('drain', () => this.flow());
  }

  /** Forwards everything that is due. */
  flow(): void {
    for (;;) {
      const [part] = this.#waiting;
      if (part === undefined || this.#link.isSilent() || this.#to.writableNeedDrain) break;
      if (part.dueMs > performance.now()) {
        this.#flowAt(part.dueMs);
        break;
      }
      this.#waiting.shift();
      this.#handOn(part);
    }
    if (this.#waitingBytes < waitingBytesMax) this.#from.resume();
  }

  #add(part: Part): void {
    this.#waiting.push(part);
    if ('bytes' in part) this.#waitingBytes += part.bytes.length;
    if (this.#waitingBytes >= waitingBytesMax) this.#from.pause();
    this.flow();
  }

  #flowAt(dueMs: number): void {
    this.#alarm ??= setTimeout(
      () => {
        this.#alarm = undefined;
        this.flow();
      },
      Math.ceil(dueMs - performance.now()),
    ).unref();
  }

  #handOn(part: Part): void {
    if ('bytes' in part) {
      this.#waitingBytes -= part.bytes.length;
      this.#to.write(part.bytes);
    } else if (part.end === 'finished') this.#to.end();
    else reset(this.#to);
  }
}
