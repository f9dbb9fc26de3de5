/**
 * A process that holds client sockets, because one process may have only so many open files. `clients.ts` starts it.
 *
 *     resting --> asking --ticket--> upgrading --101--> authenticating --AUTHENTICATED--> open
 *        ^           |                   |                     |                            |
 *        '-----------'-- refused, or the connection is gone ---'----------------------------'
 *
 * Clients and server share a machine here, so a client that dials must cost little. It uses bare TCP, one buffer for all reads,
 * no promises, and a port that it names. The kernel looks for a free port among thousands, which gets slow when most are in
 * use.
 *
 * The ticket and the socket have a connection each, as in browsers. The first one ends with the ticket: idle connections would take
 * the last open files of the server.
 */
import { connect, type Socket } from 'node:net';
import { setPriority } from 'node:os';
import { parseFrame } from '../../cli/smoke-test/server-frame.ts';
import { parseReply } from '../http-load.ts';
import { laneFrame, opcodes, pong, textFrame } from '../support/frames.ts';

export interface ClientDevice {
  readonly url: string;
  /** The address to dial when nobody answers at the other, as a load balancer would do. */
  readonly elsewhere: string;
  readonly accessToken: string;
}

export interface OpenOrder {
  readonly devices: readonly ClientDevice[];
  readonly lane: boolean;
  /** An address of this machine that no other process uses, because each address has ports of its own. */
  readonly localAddress: string;
  /** Clients that dial at the same time, until all have been open once. */
  readonly atOnce: number;
}

export interface ClientReport {
  /** Open and, on the lane, authenticated. */
  readonly open: number;
  /** Why sockets did not open, and how often. */
  readonly failures: Readonly<Record<string, number>>;
  /** From the end of a socket to the next one, for each reopened socket. */
  readonly redialsMs: readonly number[];
  /** CPU time of the process so far. */
  readonly cpuMs: number;
}

// Real clients are other machines, so these take only the CPU that is left.
setPriority(19);
const deviceId = 'web-12fb6ed5';
/** The pauses of existing clients, each between a half and the whole of it. */
const retryMinMs = 1_000;
const retryMaxMs = 5_000;
/** Existing clients wait so long for AUTHENTICATED. */
const authMs = 7_000;
const pingMs = 30_000;

/** An answer is read from it before the next one is written to it. */
const readBuffer = Buffer.allocUnsafe(64 * 1_024);
const nothing = Buffer.alloc(0);

let open = 0;
const failures: Record<string, number> = {};
const redialsMs: number[] = [];
const clients: Client[] = [];

/** Ports in the order in which they became free, so that each rests as long as possible. */
class Ports {
  readonly #ring = Array.from({ length: 60_000 }, (_, index) => 2_000 + index);
  #taken = 0;
  #given = 0;

  take(): number {
    return this.#ring[this.#taken++ % this.#ring.length] as number;
  }

  give(port: number): void {
    this.#ring[this.#given++ % this.#ring.length] = port;
  }
}

const ports = new Ports();

/** The requests of all clients of one address. */
interface Address {
  readonly host: string;
  readonly port: number;
  readonly tokenHead: string;
  readonly tokenBody: string;
  upgrade(token: string): string;
}

const addresses = new Map<string, Address>();

function addressOf(url: string, isLane: boolean): Address {
  const known = addresses.get(url);
  if (known !== undefined) return known;
  const { hostname, port, host } = new URL(url);
  const path = isLane ? '/v1/sockets/sync/ticket' : '/v1/sockets/tokens';
  const body = isLane ? JSON.stringify({ deviceId }) : '{}';
  const address: Address = {
    host: hostname,
    port: Number(port),
    tokenHead:
      `POST ${path} HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\n` +
      `Content-Length: ${body.length}\r\nAuthorization: Bearer `,
    tokenBody: `\r\n\r\n${body}`,
    upgrade: (token) =>
      `GET ${isLane ? '/sockets/sync' : `/sockets?authToken=${token}`} HTTP/1.1\r\nHost: ${host}\r\nOrigin: ${url}\r\n` +
      'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n',
  };
  addresses.set(url, address);
  return address;
}

type Step = 'resting' | 'asking' | 'upgrading' | 'authenticating' | 'open';

const endedWhile: Readonly<Record<Step, string>> = {
  resting: '',
  asking: 'a connection ended before its ticket',
  upgrading: 'a socket ended before it was one',
  authenticating: 'a socket ended before AUTHENTICATED',
  open: '',
};

const tokenPattern = /"(?:token|ticket)":"([^"]+)"/;
const codePattern = /"code":"(\w+)"/;
const ignoreError = (): void => {};

/** One device. It dials until its socket is open, and again once that has ended. It pauses as existing clients do. */
class Client {
  readonly #order: OpenOrder;
  readonly #device: ClientDevice;
  readonly #opened: () => void;
  #step: Step = 'resting';
  #socket: Socket | undefined;
  #token = '';
  /** What has come of an answer or frame that is not complete. */
  #pending = nothing;
  #alarm: NodeJS.Timeout | undefined;
  #attempts = 0;
  #pauses = 0;
  #sent = 0;
  #endedMs: number | undefined;

  /** Calls `opened` when it is open for the first time. */
  constructor(order: OpenOrder, device: ClientDevice, opened: () => void) {
    this.#order = order;
    this.#device = device;
    this.#opened = opened;
  }

  dial(): void {
    this.#step = 'asking';
    const { tokenHead, tokenBody } = this.#address;
    this.#connect(`${tokenHead}${this.#device.accessToken}${tokenBody}`);
  }

  /** Sends a `PING` every half a minute as long as it is open. */
  pingEvery(delayMs: number): void {
    setTimeout(() => {
      if (this.#step === 'open') this.#socket?.write(this.#frame('PING', '{}'));
      this.pingEvery(pingMs);
    }, delayMs);
  }

  get #address(): Address {
    const { url, elsewhere } = this.#device;
    return addressOf(this.#attempts % 2 === 0 ? url : elsewhere, this.#order.lane);
  }

  #connect(request: string): void {
    const { host, port } = this.#address;
    const localPort = ports.take();
    const callback = (length: number): boolean => {
      if (this.#socket === socket) this.#received(readBuffer.subarray(0, length));
      return true;
    };
    const { localAddress } = this.#order;
    const socket = connect({ host, port, localAddress, localPort, onread: { buffer: readBuffer, callback } });
    socket.on('error', ignoreError);
    socket.on('close', () => {
      ports.give(localPort);
      if (this.#socket === socket) this.#ended();
    });
    socket.write(request, 'latin1');
    this.#socket = socket;
  }

  #received(chunk: Buffer): void {
    const bytes = this.#pending.length === 0 ? chunk : Buffer.concat([this.#pending, chunk]);
    this.#pending = nothing;
    const socket = this.#socket;
    const rest = this.#read(bytes);
    if (rest.length > 0 && this.#socket === socket) this.#pending = Buffer.from(rest);
  }

  /** Returns the bytes of what is not complete yet. */
  #read(bytes: Buffer): Buffer {
    if (this.#step === 'authenticating' || this.#step === 'open') return this.#readFrames(bytes);
    const reply = parseReply(bytes);
    if (reply === undefined) return bytes;
    if (this.#step === 'asking') {
      this.#readTicket(reply.status, bytes.toString('latin1', reply.bodyStart, reply.end));
      return nothing;
    }
    if (reply.status !== 101) {
      this.#failed(`a socket was refused: ${reply.status}`);
      return nothing;
    }
    this.#upgraded();
    return this.#readFrames(bytes.subarray(reply.end));
  }

  #readTicket(status: number, body: string): void {
    const token = tokenPattern.exec(body)?.[1];
    if (status !== 200 || token === undefined) {
      this.#failed(`a token was refused: ${status}`);
      return;
    }
    this.#hangUp();
    this.#token = token;
    this.#step = 'upgrading';
    this.#connect(this.#address.upgrade(token));
  }

  #upgraded(): void {
    if (!this.#order.lane) {
      this.#becomeOpen();
      return;
    }
    this.#step = 'authenticating';
    this.#sent = 0;
    this.#socket?.write(this.#frame('AUTH', JSON.stringify({ ticket: this.#token, deviceId })));
    this.#token = '';
    this.#alarm = setTimeout(() => this.#failed('AUTH was not answered'), authMs);
  }

  #frame(type: string, payload: string): Buffer {
    return textFrame(laneFrame(type, this.#sent++, payload));
  }

  #readFrames(bytes: Buffer): Buffer {
    let rest = bytes;
    for (let frame = parseFrame(rest); frame !== undefined; frame = parseFrame(rest)) {
      if (frame.opcode === opcodes.ping) this.#socket?.write(pong);
      if (frame.opcode === opcodes.text && this.#step === 'authenticating')
        this.#readAnswer(rest.toString('latin1', frame.start, frame.end));
      rest = rest.subarray(frame.end);
    }
    return rest;
  }

  #readAnswer(text: string): void {
    if (text.includes('"type":"AUTHENTICATED"')) this.#becomeOpen();
    else this.#failed(`AUTH: ${codePattern.exec(text)?.[1]}`);
  }

  #becomeOpen(): void {
    clearTimeout(this.#alarm);
    this.#alarm = undefined;
    this.#step = 'open';
    open += 1;
    if (this.#endedMs === undefined) this.#opened();
    else redialsMs.push(performance.now() - this.#endedMs);
  }

  #ended(): void {
    if (this.#step !== 'open') {
      this.#failed(endedWhile[this.#step]);
      return;
    }
    open -= 1;
    this.#endedMs = performance.now();
    this.#attempts = 0;
    this.#pauses = 0;
    this.#hangUp();
    this.#rest();
  }

  #failed(what: string): void {
    failures[what] = (failures[what] ?? 0) + 1;
    this.#hangUp();
    const { url, elsewhere } = this.#device;
    this.#attempts += url === elsewhere ? 2 : 1;
    // The other address is dialled at once.
    if (this.#attempts % 2 === 1) this.dial();
    else this.#rest();
  }

  #rest(): void {
    this.#step = 'resting';
    const pauseMs = Math.min(retryMaxMs, retryMinMs * 2 ** this.#pauses) * (0.5 + 0.5 * Math.random());
    this.#pauses += 1;
    setTimeout(() => this.dial(), pauseMs);
  }

  #hangUp(): void {
    clearTimeout(this.#alarm);
    this.#alarm = undefined;
    this.#pending = nothing;
    const socket = this.#socket;
    this.#socket = undefined;
    socket?.destroy();
  }
}

function openAll(order: OpenOrder): void {
  let next = 0;
  const openNext = () => {
    const device = order.devices[next++];
    if (device === undefined) return;
    const client = new Client(order, device, openNext);
    clients.push(client);
    client.dial();
  };
  for (let count = 0; count < order.atOnce; count += 1) openNext();
}

function report(): ClientReport {
  const { user, system } = process.cpuUsage();
  return { open, failures, redialsMs, cpuMs: (user + system) / 1_000 };
}

process.on('message', (order: OpenOrder | 'count' | 'report' | 'ping') => {
  if (order === 'count') process.send?.(open);
  else if (order === 'report') process.send?.(report());
  else if (order === 'ping') for (const client of clients) client.pingEvery(Math.random() * pingMs);
  else openAll(order);
});
