/** Sockets of the sync lane, as a device of a test opens them. */
import type { ExecutionContext } from 'ava';
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

export const askTicket = (device: Device, body: object = { deviceId }): Promise<Answer> =>
  device.call('POST', '/v1/sockets/sync/ticket', { body });

/** @throws Error when there is none */
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

/** An open socket that has not said who it is. @throws Error when it is refused */
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

/** A socket that is let in. */
export async function enterLane(
  t: ExecutionContext,
  device: Device,
  gateway: Gateway = device.server,
  options: LaneDial = {},
): Promise<LaneSocket> {
  const opened = await openLane(t, gateway, options);
  const asked = opened.lane.send('AUTH', { ticket: await ticketOf(device), deviceId });
  await opened.lane.answer(asked, 'AUTHENTICATED');
  return opened;
}

export async function run({ lane }: LaneSocket, commandId: string, body: object): Promise<LaneFrame> {
  return lane.answer(await lane.command(commandId, body), 'COMMITTED', 'STATUS', 'ERROR');
}

export async function ask({ lane }: LaneSocket, commandId: string, body: object): Promise<LaneFrame> {
  return lane.answer(await lane.status(commandId, body), 'STATUS', 'ERROR');
}

/** The code that the socket is ended with, and how. */
export async function ended({ lane, socket }: LaneSocket): Promise<readonly [code: string, close: number]> {
  const close = await socket.closed;
  const last = lane.frames.at(-1);
  return [last?.requestId === 'protocol' ? last.payload.code : socket.closeReason, close];
}
