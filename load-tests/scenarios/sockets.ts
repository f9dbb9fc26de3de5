/** Memory of our own process for each idle socket: of users with two devices each, and of more devices of the same. */
import { connect } from 'node:net';
import { type Account, post, register, signIn } from '../support/api-client.ts';
import { residentBytes } from '../support/machine.ts';
import type { LoadServer } from '../support/server.ts';

const users = 2_500;
const atOnce = 16;

export async function sockets(server: LoadServer) {
  const accounts = await inTurn(users, () => twoDevices(server.url));
  const devices = [...accounts.map(([phone]) => phone), ...accounts.map(([, laptop]) => laptop)];
  // Begun again: signing in has grown the process by more than all of the sockets will.
  const fresh = await server.restart();
  try {
    await calmDown();
    const idle = residentBytes(fresh.pid);
    const warmUp = await inTurn(users / 5, (index) => open(fresh.url, devices[index] as Account));
    await calmDown();
    const warm = residentBytes(fresh.pid);
    const rest = devices.slice(users / 5);
    const more = await inTurn(rest.length, (index) => open(fresh.url, rest[index] as Account));
    await calmDown();
    const all = residentBytes(fresh.pid);
    for (const close of [...warmUp, ...more]) close();
    return {
      'sockets open': devices.length,
      'at idle, MB': idle / 1e6,
      'with them, MB': all / 1e6,
      'each socket, its start counted, bytes': (all - idle) / devices.length,
      'each further socket, bytes': (all - warm) / rest.length,
    };
  } finally {
    await fresh.stop();
  }
}

async function twoDevices(url: string): Promise<readonly [Account, Account]> {
  const phone = await register(url);
  return [phone, await signIn(url, phone)];
}

async function open(url: string, { accessToken }: Account): Promise<() => void> {
  const { token } = (await post(url, '/v1/sockets/tokens', {}, accessToken)) as { token: string };
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.write(
    `GET /sockets?authToken=${token} HTTP/1.1\r\nHost: ${hostname}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
      'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n',
  );
  await new Promise<void>((resolve, reject) => {
    socket.on('error', reject);
    socket.once('data', (chunk) => {
      if (chunk.toString('latin1').startsWith('HTTP/1.1 101')) resolve();
      else reject(new Error(`a socket was refused: ${chunk.toString('latin1').slice(0, 200)}`));
    });
  });
  const pong = Buffer.from([0x8a, 0x80, 0, 0, 0, 0]);
  socket.on('data', (chunk) => {
    if ((chunk.readUInt8(0) & 15) === 9) socket.write(pong);
  });
  return () => socket.destroy();
}

async function inTurn<T>(count: number, make: (index: number) => Promise<T>): Promise<readonly T[]> {
  const made: T[] = [];
  for (let from = 0; from < count; from += atOnce) {
    const batch = Array.from({ length: Math.min(atOnce, count - from) }, (_, index) => make(from + index));
    made.push(...(await Promise.all(batch)));
  }
  return made;
}

const calmDown = () => new Promise((resolve) => setTimeout(resolve, 3_000));
