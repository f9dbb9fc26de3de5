/**
 * The reverse proxies of the guide keep connections to the server open. A request is lost if the server closes such a
 * connection just as the request comes, and no proxy repeats a POST. So the proxies close idle connections first, and a
 * server that stops waits for that.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import { freePorts } from '../../kit/free-ports.ts';
import { emptyRoute, startGateway } from '../../kit/gateway.ts';
import { reverseProxies, startReverseProxy } from '../../kit/reverse-proxies.ts';

/** The library of the server closes a connection that has been idle for so long, at the earliest. */
const libraryIdleMs = 10_000;
const limitMs = 60_000;
const clients = 16;

const ok = async () => ({ status: 200, body: {} }) as const;
const routes = [
  emptyRoute('GET', '/healthcheck', { handle: ok }),
  emptyRoute('POST', '/v1/saves', { handle: ok }),
];

for (const [name, proxy] of Object.entries(reverseProxies)) {
  test(`${name} closes an idle connection before the server does`, async (t) => {
    t.timeout(limitMs);
    const server = createServer({ keepAliveTimeout: 0 }, (_request, response) => response.end('{}'));
    const ended: Promise<number>[] = [];
    server.on('connection', (socket: Socket) => {
      // HAProxy resets it.
      socket.on('error', () => {});
      ended.push(new Promise((resolve) => socket.once('close', () => resolve(performance.now()))));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.teardown(() => {
      server.close();
      server.closeAllConnections();
    });
    const { url } = await startReverseProxy(t, proxy, (server.address() as AddressInfo).port);
    const answers = await Promise.all(Array.from({ length: clients }, () => fetch(`${url}/v1/saves`)));
    await Promise.all(answers.map((answer) => answer.text()));
    const idleSinceMs = performance.now();
    const lastMs = Math.max(...(await Promise.all(ended)));
    t.log(`after ${Math.round(lastMs - idleSinceMs)} ms`);
    t.true(lastMs - idleSinceMs < libraryIdleMs);
  });
}

test('behind nginx, a process stops beside another on its port, and no request is lost', async (t) => {
  t.timeout(limitMs);
  const shared = {
    sharesPort: true,
    drainIdleMs: 5_500,
    // A fast machine sends more than an address may.
    rateLimits: { publicPerMinute: 0, sessionPerMinute: 0 },
  };
  const [port = 0] = await freePorts(1);
  const leaving = await startGateway(t, routes, shared);
  const staying = await startGateway(t, routes, shared);
  for (const { gateway } of [leaving, staying]) await gateway.listen('127.0.0.1', port);
  const { url } = await startReverseProxy(t, nginxOfTheGuide(), port);
  await saveAtOnce(t, url);
  let isDrained = false;
  const drained = leaving.gateway.drain().then(() => {
    isDrained = true;
  });
  while (!isDrained) await saveAtOnce(t, url);
  await drained;
  const served =
    /http_request_duration_seconds_count\{method="POST",route="\/v1\/saves",status="2xx"\} (\d+)/;
  for (const { registry } of [leaving, staying]) t.regex(await registry.metrics(), served);
});

async function saveAtOnce(t: ExecutionContext, url: string): Promise<void> {
  const answers = await Promise.all(
    Array.from({ length: clients }, () => fetch(`${url}/v1/saves`, { method: 'POST' })),
  );
  for (const answer of answers) {
    await answer.text();
    t.is(answer.status, 200);
  }
}

function nginxOfTheGuide() {
  const { nginx } = reverseProxies;
  if (nginx === undefined) throw new Error('the guide has no nginx');
  return nginx;
}
