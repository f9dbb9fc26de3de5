/** Sockets of devices (docs/protocol/sockets.md): a token by HTTP, then the upgrade. */
import { Rate, Trend } from 'k6/metrics';
import { clearTimeout, setTimeout } from 'k6/timers';
import { WebSocket } from 'k6/websockets';
import { asyncCall, dataOf } from './call.ts';
import { slice } from './slice.ts';
import { baseUrl } from './users.ts';

/** From asking for a token to the open socket. */
const socketOpen = new Trend('socket_open', true);
const socketFailed = new Rate('socket_failed');
const openLimitMs = 30_000;

/** An open socket, or undefined if it was refused. */
export async function openSocket(
  accessToken: string,
  onText: (text: string) => void,
): Promise<WebSocket | undefined> {
  const beganMs = Date.now();
  const token = await asyncCall(
    { operation: 'socket-token', path: '/v1/sockets/tokens', token: accessToken, body: {} },
    (reply) => dataOf<{ token: string }>(reply)?.token,
  );
  const socket = token === undefined ? undefined : await upgraded(token, onText);
  socketFailed.add(socket === undefined, { slice: slice() });
  if (socket !== undefined) socketOpen.add(Date.now() - beganMs, { slice: slice() });
  return socket;
}

function upgraded(token: string, onText: (text: string) => void): Promise<WebSocket | undefined> {
  const url = `${baseUrl().replace(/^http/, 'ws')}/sockets?authToken=${token}`;
  const socket = new WebSocket(url, null, { tags: { name: 'socket' } });
  return new Promise((resolve) => {
    const alarm = setTimeout(() => socket.close(), openLimitMs);
    socket.onopen = () => {
      clearTimeout(alarm);
      resolve(socket);
    };
    socket.onmessage = (event) => onText(String(event?.data));
    socket.onerror = () => resolve(undefined);
    socket.onclose = () => resolve(undefined);
  });
}
