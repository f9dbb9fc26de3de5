/**
 * A proxy in front of PostgreSQL that sees every statement, and can simulate networks and failing servers.
 *
 * It knows as much of the wire protocol (3.0) as it needs. A message is a type, a length and a body. A client's
 * messages up to a Query or a Sync are one statement, and the server's ReadyForQuery ends its answer. The proxy
 * remembers texts of prepared statements per connection, so it also knows a statement that is only bound.
 *
 * A fault either keeps a statement from the server, or lets it run and removes the answer. For the client the two
 * look the same, which is what an unknown outcome means.
 */
import { connect, createServer, type Server, type Socket } from 'node:net';
import type { DatabaseConnection } from './postgres.ts';
import { reset } from './reset.ts';

export interface Fault {
  readonly effect: /** The server answers with an error and serves on. */
    | 'error'
    /** It answers with an error and closes the connection. */
    | 'fatal'
    /** The connection breaks. */
    | 'reset'
    /** Nothing comes back. */
    | 'silence';
  /** The SQLSTATE of an error. */
  readonly code?: string;
  /** How severe it is, in the server's language. ERROR, or FATAL of one that closes the connection. */
  readonly severity?: string;
  /** Whether the statement runs first. */
  readonly isApplied: boolean;
}

export interface ProxiedStatement {
  readonly text: string;
  /** Which of the proxy's connections it is on. */
  readonly connection: number;
}

/** Called for each statement before it goes to the server; the fault decides its fate. */
export type OnStatement = (statement: ProxiedStatement) => Fault | undefined;

export class PostgresProxy {
  readonly #server: Server;
  readonly #target: DatabaseConnection;
  readonly #open = new Set<Socket>();
  readonly #serving = new Map<number, ProxiedConnection>();
  #connections = 0;
  onStatement: OnStatement = () => undefined;

  static async start(target: DatabaseConnection): Promise<PostgresProxy> {
    const proxy = new PostgresProxy(target);
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  private constructor(target: DatabaseConnection) {
    this.#target = target;
    this.#server = createServer((client) => this.#serve(client));
  }

  get connection(): DatabaseConnection {
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('the proxy does not listen');
    return { ...this.#target, host: '127.0.0.1', port: address.port };
  }

  /** Connections whose client has left a transaction open. */
  get openTransactions(): number {
    return [...this.#serving.values()].filter((connection) => connection.isInTransaction).length;
  }

  /** Breaks a connection, whatever it is doing. */
  break(connection: number): void {
    this.#serving.get(connection)?.break();
  }

  async stop(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const socket of this.#open) socket.destroy();
    await closed;
  }

  #serve(client: Socket): void {
    this.#connections += 1;
    const number = this.#connections;
    const { host, port } = this.#target;
    const server = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host);
    for (const socket of [client, server]) {
      this.#open.add(socket);
      socket.on('error', () => undefined);
      socket.once('close', () => this.#open.delete(socket));
    }
    client.setNoDelay(true);
    client.once('close', () => server.destroy());
    server.once('close', () => client.destroy());
    const serving = new ProxiedConnection(client, server, (text) =>
      this.onStatement({ text, connection: number }),
    );
    this.#serving.set(number, serving);
    client.once('close', () => this.#serving.delete(number));
  }
}

/**
 * The server's messages before it executes, and so before an error of that: parsed, bound, and the columns of the
 * rows.
 */
const preparing = ['1', '2', 'T', 'n', 't'];

/** One client and its server, and the parts of the current statement in flight. */
class ProxiedConnection {
  readonly #client: Socket;
  readonly #server: Socket;
  readonly #faultOf: (text: string) => Fault | undefined;
  readonly #prepared = new Map<string, string>();
  readonly #fromClient = new Messages(true);
  readonly #fromServer = new Messages(false);
  /** The messages of an incomplete statement. */
  #pending: Buffer[] = [];
  #text = '';
  /** The fault whose statement the server is running. */
  #fault: Fault | undefined;
  isInTransaction = false;

  constructor(client: Socket, server: Socket, faultOf: (text: string) => Fault | undefined) {
    this.#client = client;
    this.#server = server;
    this.#faultOf = faultOf;
    client.on('data', (data) => {
      for (const message of this.#fromClient.add(data)) this.#clientMessage(message);
    });
    server.on('data', (data) => {
      for (const message of this.#fromServer.add(data)) this.#serverMessage(message);
    });
  }

  break(): void {
    reset(this.#client);
    this.#server.destroy();
  }

  #clientMessage(message: Buffer): void {
    this.#pending.push(message);
    const type = this.#fromClient.typeOf(message);
    if (type === 'P') this.#prepared.set(textAt(message, 5), textAt(message, 5 + byteLength(message, 5) + 1));
    if (type === 'B') this.#text = this.#prepared.get(textAt(message, 5 + byteLength(message, 5) + 1)) ?? '';
    if (type === 'Q') this.#text = textAt(message, 5);
    if (type === 'Q' || type === 'S') this.#statement();
    // The start of a connection, passwords and its end belong to no statement.
    else if (type === '' || type === 'p' || type === 'X') this.#forward();
  }

  #statement(): void {
    const fault = this.#faultOf(this.#text);
    if (fault === undefined || fault.isApplied) {
      this.#fault = fault;
      this.#forward();
      return;
    }
    this.#pending = [];
    this.#strike(fault);
  }

  #forward(): void {
    for (const message of this.#pending) this.#server.write(message);
    this.#pending = [];
  }

  #serverMessage(message: Buffer): void {
    const type = this.#fromServer.typeOf(message);
    const isReady = type === 'Z';
    if (isReady) this.isInTransaction = message.toString('latin1', 5, 6) !== 'I';
    const fault = this.#fault;
    if (fault === undefined || (fault.effect === 'error' && preparing.includes(type)))
      this.#client.write(message);
    else if (isReady) {
      this.#fault = undefined;
      this.#strike(fault);
    }
  }

  #strike({ effect, code = '58000', severity }: Fault): void {
    if (effect === 'silence') {
      // Everything else from the client is lost as well.
      this.#client.removeAllListeners('data');
      this.#client.resume();
    } else if (effect === 'reset') {
      this.break();
    } else if (effect === 'fatal') {
      this.#client.end(errorMessage(severity ?? 'FATAL', code), () => this.#server.destroy());
    } else {
      this.#client.write(Buffer.concat([errorMessage(severity ?? 'ERROR', code), this.#readyMessage()]));
    }
  }

  /** After a failed statement, an open transaction waits for its ROLLBACK. */
  #readyMessage(): Buffer {
    return messageOf('Z', Buffer.from(this.isInTransaction ? 'E' : 'I'));
  }
}

/** Cuts a stream into messages. The first of a client has no type. */
class Messages {
  #rest = Buffer.alloc(0);
  #untyped: Buffer | undefined;
  #isFirst: boolean;

  constructor(isFirstUntyped: boolean) {
    this.#isFirst = isFirstUntyped;
  }

  *add(data: Buffer): Iterable<Buffer> {
    this.#rest = Buffer.concat([this.#rest, data]);
    for (;;) {
      const lengthAt = this.#isFirst ? 0 : 1;
      if (this.#rest.length < lengthAt + 4) return;
      const end = lengthAt + this.#rest.readInt32BE(lengthAt);
      if (this.#rest.length < end) return;
      const message = this.#rest.subarray(0, end);
      this.#rest = this.#rest.subarray(end);
      if (this.#isFirst) this.#untyped = message;
      this.#isFirst = false;
      yield message;
    }
  }

  typeOf(message: Buffer): string {
    return message === this.#untyped ? '' : message.toString('latin1', 0, 1);
  }
}

function textAt(message: Buffer, start: number): string {
  return message.toString('utf8', start, start + byteLength(message, start));
}

function byteLength(message: Buffer, start: number): number {
  return message.indexOf(0, start) - start;
}

function messageOf(type: string, body: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.write(type);
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

function errorMessage(severity: string, code: string): Buffer {
  const fields = [`S${severity}`, `C${code}`, 'Minjected by the proxy'];
  return messageOf('E', Buffer.from(`${fields.map((field) => `${field}\0`).join('')}\0`));
}
