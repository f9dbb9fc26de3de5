/**
 * Ports for servers that stop and start again on the same port. They lie below the ports that the system gives to
 * outgoing connections. Otherwise a client that dials a stopped server again and again could get its port, and
 * connect to itself.
 */
import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

const lowest = 12_000;
const highest = 32_000;
const triesMax = 1_000;

export async function freePorts(count: number): Promise<readonly number[]> {
  const ports = new Set<number>();
  for (let tries = 0; tries < triesMax && ports.size < count; tries += 1) {
    const port = randomInt(lowest, highest);
    if (await isFree(port)) ports.add(port);
  }
  if (ports.size < count) throw new Error(`${count} free ports could not be found`);
  return [...ports];
}

function isFree(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => server.close(() => resolve(true)));
  });
}
