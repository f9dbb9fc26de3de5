/**
 * Memory of our own process for each idle socket: for users with two devices each, and for more devices of the same
 * users.
 */
import { type Account, register, signIn } from '../support/api-client.ts';
import { someAtOnce } from '../support/at-once.ts';
import { residentBytes } from '../support/machine.ts';
import type { LoadServer } from '../support/server.ts';
import { openSocket } from '../support/socket.ts';

const users = 2_500;
const atOnce = 16;

export async function sockets(server: LoadServer) {
  const accounts = await someAtOnce(users, atOnce, () => twoDevices(server.url));
  const devices = [...accounts.map(([phone]) => phone), ...accounts.map(([, laptop]) => laptop)];
  // Restarted, because signing in has grown the process by more than all of the sockets will.
  const fresh = await server.restart();
  try {
    await calmDown();
    const idle = residentBytes(fresh.pid);
    const warmUp = await someAtOnce(users / 5, atOnce, (index) =>
      openSocket(fresh.url, devices[index] as Account),
    );
    await calmDown();
    const warm = residentBytes(fresh.pid);
    const rest = devices.slice(users / 5);
    const more = await someAtOnce(rest.length, atOnce, (index) =>
      openSocket(fresh.url, rest[index] as Account),
    );
    await calmDown();
    const all = residentBytes(fresh.pid);
    for (const socket of [...warmUp, ...more]) socket.close();
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

const calmDown = () => new Promise((resolve) => setTimeout(resolve, 3_000));
