/** Sockets of the sync lane, as opened by a device of a test. */
import type { ExecutionContext } from 'ava';
import type {
  LaneConnection,
  LaneEnvironment,
  LaneEvents,
  LaneRequest,
  LaneResponse,
} from '../../docs/protocol/sync-lane-client.ts';
import type { FakeClock } from './clock.ts';
import type { Device } from './device.ts';
import type { TestGateway } from './gateway.ts';
import type { Answer } from './http.ts';
import { LaneClient, type LaneFrame } from './lane-client.ts';
import {
  dial,
  isRefused,
  type RefusedUpgrade,
  type SocketClient,
  type SocketClientOptions,
} from './socket-client.ts';

type Gateway = Pick<TestGateway, 'url'>;

export const deviceId = 'web-12fb6ed5';

/** The settings of a lane that the operator has switched off. */
export const laneThatIsOff = {
  isEnabled: false,
  origins: [],
  sameOrigin: true,
  socketsPerUserMax: 16,
  memoryBytes: 1e8,
  idleSeconds: 120,
};

export const askTicket = (device: Device, body: object = { deviceId }): Promise<Answer> =>
  device.call('POST', '/v1/sockets/sync/ticket', { body });

/** @throws Error if there is none */
export async function ticketOf(device: Device, id = deviceId): Promise<string> {
  const answer = await askTicket(device, { deviceId: id });
  if (answer.status !== 200) throw new Error(`no ticket: ${answer.status} ${answer.text}`);
  return answer.body.ticket;
}

export interface LaneSocket {
  readonly lane: LaneClient;
  readonly socket: SocketClient;
}

export interface LaneDial extends SocketClientOptions {
  readonly path?: string;
}

export function dialLane(
  t: ExecutionContext,
  { url }: Gateway,
  { path = '/sockets/sync', headers, onText, ...options }: LaneDial = {},
): Promise<SocketClient | RefusedUpgrade> {
  return dial(t, `${url}${path}`, {
    ...options,
    headers: headers ?? { origin: url },
    ...(onText !== undefined && { onText }),
  });
}

/** An open socket before authentication. @throws Error if it is refused */
export async function openLane(
  t: ExecutionContext,
  gateway: Gateway,
  options: LaneDial = {},
): Promise<LaneSocket> {
  let received = (_text: string) => {};
  const dialled = await dialLane(t, gateway, { ...options, onText: (text) => received(text) });
  if (isRefused(dialled)) throw new Error(`no socket: ${dialled.status} ${dialled.body}`);
  const lane = new LaneClient(dialled);
  received = (text) => lane.received(text);
  return { lane, socket: dialled };
}

/** An authenticated socket. */
export async function enterLane(
  t: ExecutionContext,
  device: Device,
  gateway: Gateway = device.server,
  options: LaneDial = {},
): Promise<LaneSocket> {
  const opened = await openLane(t, gateway, options);
  const pending = opened.lane.send('AUTH', { ticket: await ticketOf(device), deviceId });
  await opened.lane.answer(pending, 'AUTHENTICATED');
  return opened;
}

export async function run({ lane }: LaneSocket, commandId: string, body: object): Promise<LaneFrame> {
  return lane.answer(await lane.command(commandId, body), 'COMMITTED', 'STATUS', 'ERROR');
}

export async function ask({ lane }: LaneSocket, commandId: string, body: object): Promise<LaneFrame> {
  return lane.answer(await lane.status(commandId, body), 'STATUS', 'ERROR');
}

/** The close code of the socket, and how it closed. */
export async function ended({ lane, socket }: LaneSocket): Promise<readonly [code: string, close: number]> {
  const close = await socket.closed;
  const last = lane.frames.at(-1);
  return [last?.requestId === 'protocol' ? last.payload.code : socket.closeReason, close];
}

/**
 * The environment of the published client: a device of a test, whose socket can be cut and whose frames can be lost.
 */
export class LaneSurroundings implements LaneEnvironment {
  device: Device;
  /** All sent frames, including lost ones. */
  readonly sent: string[] = [];
  /** Frames of these types never reach the server. */
  readonly lost = new Set<string>();
  dials = 0;
  /** Refreshes of the session, if it has the tokens for that. */
  refreshed: () => Promise<Device | undefined> = async () => undefined;
  readonly #t: ExecutionContext;
  readonly #clock: Pick<FakeClock, 'schedule'>;
  #socket: SocketClient | undefined;

  constructor(t: ExecutionContext, device: Device, clock: Pick<FakeClock, 'schedule'>) {
    this.#t = t;
    this.device = device;
    this.#clock = clock;
  }

  async request({ method, path, headers, body }: LaneRequest): Promise<LaneResponse> {
    const answer = await this.device.call(method, path, { body, headers });
    const retryAfter = answer.headers.get('retry-after');
    return {
      status: answer.status,
      body: answer.body,
      ...(retryAfter !== null && { retryAfterSeconds: Number(retryAfter) }),
    };
  }

  async refresh(): Promise<boolean> {
    const device = await this.refreshed();
    this.device = device ?? this.device;
    return device !== undefined;
  }

  dial(path: string, { opened, received, closed }: LaneEvents): LaneConnection {
    this.dials += 1;
    const socket = dialLane(this.#t, this.device.server, { path, onText: received });
    socket.then((dialled) => {
      if (isRefused(dialled)) return closed();
      this.#socket = dialled;
      opened();
      return dialled.closed.then(closed, closed);
    }, closed);
    return {
      send: (text) => {
        const { type } = JSON.parse(text);
        this.sent.push(type);
        if (!this.lost.has(type)) this.#socket?.send(text);
      },
      close: () => void socket.then((dialled) => isRefused(dialled) || dialled.end(), closed),
    };
  }

  schedule(delayMs: number, callback: () => void): () => void {
    return this.#clock.schedule(delayMs, callback);
  }

  /** Like a network failure. */
  cut(): void {
    this.#socket?.end();
  }
}
