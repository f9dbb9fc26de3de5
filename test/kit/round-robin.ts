/** A load balancer: each request goes to the next server, whatever its connection. */
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ExecutionContext } from 'ava';

export interface RoundRobin {
  readonly url: string;
  /** How many requests each server has got. */
  readonly counts: readonly number[];
}

export async function startRoundRobin(
  t: Pick<ExecutionContext, 'teardown'>,
  servers: readonly string[],
): Promise<RoundRobin> {
  const counts = servers.map(() => 0);
  let next = 0;
  const balancer = createServer((incoming, answer) => {
    const index = next % servers.length;
    next += 1;
    counts[index] = (counts[index] ?? 0) + 1;
    const target = new URL(incoming.url ?? '/', servers[index]);
    const passedOn = request(target, { method: incoming.method, headers: incoming.headers }, (reply) => {
      answer.writeHead(reply.statusCode ?? 502, reply.headers);
      reply.pipe(answer);
    });
    passedOn.on('error', () => answer.destroy());
    incoming.pipe(passedOn);
  });
  await new Promise<void>((listening) => balancer.listen(0, '127.0.0.1', listening));
  t.teardown(() => {
    balancer.closeAllConnections();
    balancer.close();
  });
  return { url: `http://127.0.0.1:${(balancer.address() as AddressInfo).port}`, counts };
}
