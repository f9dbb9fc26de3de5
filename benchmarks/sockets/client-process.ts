/**
 * A process that holds client sockets, because one process may have only so many open files. `clients.ts` starts it.
 */
import { connect, type Socket } from 'node:net';
import { setPriority } from 'node:os';
import { LaneFrames } from '../../docs/protocol/sync-lane-client.ts';
import { requestBytes } from '../http-load.ts';
import { someAtOnce } from '../support/at-once.ts';
import { answerOn } from '../support/raw-client.ts';
import { type OpenSocket, upgraded } from '../support/socket.ts';

export interface ClientDevice {
  readonly url: string;
  /** The address to dial when nobody answers at the other, as a load balancer would do. */
  readonly elsewhere: string;
  readonly accessToken: string;
}

export interface OpenOrder {
  readonly devices: readonly ClientDevice[];
  readonly lane: boolean;
  /** Addresses of this machine: each has ephemeral ports of its own. */
  readonly localAddress: string;
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

// Clients are other machines: they take what CPU is left.
setPriority(10);
const deviceId = 'web-12fb6ed5';
/** The pauses of existing clients, each between a half and the whole of it. */
const retryMinMs = 1_000;
const retryMaxMs = 5_000;
const answerMs = 30_000;
const pingMs = 30_000;

let open = 0;
const failures: Record<string, number> = {};
const redialsMs: number[] = [];
/** For each open socket of the lane, what sends a `PING` over it. */
const pings = new Set<() => void>();

/**
 * Opens a socket, and tries again until there is one. It reopens a socket that ends later. Before that, and after each failure, it
 * waits as existing clients do.
 */
async function hold(order: OpenOrder, device: ClientDevice, endedMs?: number): Promise<void> {
  const urls = [device.url, device.elsewhere];
  let pauses = 0;
  if (endedMs !== undefined) await retryPause(pauses++);
  for (let attempt = 0; ; attempt += 1) {
    try {
      await dial(order, { ...device, url: urls[attempt % 2] ?? device.url }, () => {
        open -= 1;
        void hold(order, device, performance.now());
      });
      open += 1;
      if (endedMs !== undefined) redialsMs.push(performance.now() - endedMs);
      return;
    } catch (error) {
      const what = (error as Error).message;
      failures[what] = (failures[what] ?? 0) + 1;
      // The other address answers at once.
      if (attempt % 2 === 1 || device.url === device.elsewhere) await retryPause(pauses++);
    }
  }
}

function retryPause(pausesBefore: number): Promise<void> {
  const pauseMs = Math.min(retryMaxMs, retryMinMs * 2 ** pausesBefore) * (0.5 + 0.5 * Math.random());
  return new Promise((resolve) => setTimeout(resolve, pauseMs));
}

async function dial(
  { lane, localAddress }: OpenOrder,
  { url, accessToken }: ClientDevice,
  ended: () => void,
): Promise<void> {
  const { hostname, port, host } = new URL(url);
  const connected = () => connect({ host: hostname, port: Number(port), localAddress, noDelay: true });
  const path = lane ? '/v1/sockets/sync/ticket' : '/v1/sockets/tokens';
  const headers = { authorization: `Bearer ${accessToken}` };
  const body = lane ? JSON.stringify({ deviceId }) : '{}';
  const token = await tokenOn(connected(), requestBytes('POST', new URL(path, url), headers, body));
  // A WebSocket always has a connection of its own.
  const socket = connected();
  const frames = new LaneFrames();
  let heard = (_text: string): void => {};
  const target = lane ? '/sockets/sync' : `/sockets?authToken=${token}`;
  const upgrade = await upgraded(socket, { target, host, origin: url }, (frame) => heard(frame));
  if (lane) {
    const closed = new Promise<never>((_, reject) => {
      socket.once('close', () => reject(new Error('a socket was closed before AUTHENTICATED')));
    });
    const open = authenticated({ socket: upgrade, frames }, token, (listener) => {
      heard = listener;
    });
    await Promise.race([open, closed]);
    heard = () => {};
    const ping = () => upgrade.send(JSON.stringify(frames.make('PING', {})));
    pings.add(ping);
    socket.once('close', () => pings.delete(ping));
  }
  socket.once('close', ended);
}

/** Ends the connection, because an idle one beside each socket would take the last open files of the server. */
async function tokenOn(socket: Socket, request: Buffer): Promise<string> {
  try {
    const { status, body } = await answerOn(socket, request);
    const token = /"(?:token|ticket)":"([^"]+)"/.exec(body)?.[1];
    if (status !== 200 || token === undefined) throw new Error(`a token was refused: ${status}`);
    return token;
  } finally {
    socket.destroy();
  }
}

function authenticated(
  { socket, frames }: { readonly socket: OpenSocket; readonly frames: LaneFrames },
  ticket: string,
  listen: (listener: (text: string) => void) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (what: string) => {
      socket.close();
      reject(new Error(what));
    };
    const alarm = setTimeout(() => fail('AUTH was not answered'), answerMs);
    listen((text) => {
      clearTimeout(alarm);
      const { type, payload } = frames.read(text);
      if (type === 'AUTHENTICATED') resolve();
      else fail(`AUTH: ${payload.code}`);
    });
    socket.send(JSON.stringify(frames.make('AUTH', { ticket, deviceId })));
  });
}

/** From now on each socket sends `PING` every half a minute, as clients do. */
function sendPings(): void {
  for (const ping of pings) {
    const again = () => {
      if (!pings.has(ping)) return;
      ping();
      setTimeout(again, pingMs);
    };
    setTimeout(again, Math.random() * pingMs);
  }
}

process.on('message', (order: OpenOrder | 'report' | 'ping') => {
  if (order === 'ping') {
    sendPings();
    return;
  }
  if (order !== 'report') {
    void someAtOnce(order.devices.length, order.atOnce, (index) =>
      hold(order, order.devices[index] as ClientDevice),
    );
    return;
  }
  const { user, system } = process.cpuUsage();
  const cpuMs = (user + system) / 1_000;
  process.send?.({ open, failures, redialsMs, cpuMs } satisfies ClientReport);
});
