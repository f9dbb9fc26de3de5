/** A client's socket on bare TCP: ten thousand of them must fit into one process beside the load. */
import { connect, type Socket } from 'node:net';
import { parseFrame } from '../../cli/smoke-test/server-frame.ts';
import { parseReply } from '../http-load.ts';
import { type Account, post } from './api-client.ts';
import { opcodes, pong, textFrame } from './frames.ts';

export interface OpenSocket {
  send(text: string): void;
  close(): void;
}

export interface Upgrade {
  /** Path and query. */
  readonly target: string;
  readonly host: string;
  readonly origin?: string;
}

/** The upgrade of `/sockets` by a token. */
export const byToken = (token: string, url: string): Upgrade => ({
  target: `/sockets?authToken=${token}`,
  host: new URL(url).host,
});

export type OnText = (text: string) => void;

/** @throws Error if it is refused or ends before it is open */
export async function openSocket(
  url: string,
  account: Account,
  onText?: OnText,
  onClose: () => void = () => {},
): Promise<OpenSocket> {
  const { token } = (await post(url, '/v1/sockets/tokens', {}, account.accessToken)) as { token: string };
  const { hostname, port } = new URL(url);
  const connection = connect({ host: hostname, port: Number(port), noDelay: true });
  connection.once('close', onClose);
  return upgraded(connection, byToken(token, url), onText);
}

/** Upgrades a connection that may have carried requests before. */
export function upgraded(
  socket: Socket,
  { target, host, origin }: Upgrade,
  onText: OnText = () => {},
): Promise<OpenSocket> {
  socket.write(
    `GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\n` +
      `${origin === undefined ? '' : `Origin: ${origin}\r\n`}` +
      'Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n',
  );
  return new Promise((resolve, reject) => {
    let pending: Buffer = Buffer.alloc(0);
    const frames = (chunk: Buffer) => {
      pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
      for (let frame = parseFrame(pending); frame !== undefined; frame = parseFrame(pending)) {
        if (frame.opcode === opcodes.text) onText(pending.toString('utf8', frame.start, frame.end));
        if (frame.opcode === opcodes.ping) socket.write(pong);
        pending = pending.subarray(frame.end);
      }
    };
    const answer = (chunk: Buffer) => {
      pending = Buffer.concat([pending, chunk]);
      const reply = parseReply(pending);
      if (reply === undefined) return;
      if (reply.status !== 101) {
        socket.destroy();
        reject(new Error(`a socket was refused: ${reply.status}`));
        return;
      }
      socket.off('data', answer);
      socket.on('data', frames);
      const rest = pending.subarray(reply.end);
      pending = Buffer.alloc(0);
      frames(rest);
      resolve({ send: (text) => socket.write(textFrame(text)), close: () => socket.destroy() });
    };
    socket.on('error', reject);
    socket.on('close', () => reject(new Error('a socket was closed')));
    socket.on('data', answer);
  });
}
