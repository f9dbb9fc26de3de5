/** Sockets that open, or do not, while something else happens. */
import test from 'ava';
import type { Counter } from 'prom-client';
import { systemClock } from '../../runtime/clock.ts';
import type { Actors } from '../../runtime/handles.ts';
import { latch, openRaw, startGateway, testSocketTokens, turn } from '../../test/kit/gateway.ts';
import { dial, isRefused } from '../../test/kit/socket-client.ts';
import { until } from '../../test/kit/until.ts';
import { CopiedHeaders } from '../http/headers.ts';
import type { HttpRequest, HttpResponse } from '../http/uws.ts';
import { createSocketBehavior, type SocketEndpointOptions } from './endpoint.ts';
import type { UpgradeContext } from './upgrades.ts';

const claims = {
  userUuid: '8d0b6a4e-0f3c-4a53-9c4b-0d8b7a9c1e2f',
  sessionUuid: '1c9e4b6a-5d0e-4f3b-8a6d-2f1b0c9d8e7f',
};
const alive = { living: [claims.sessionUuid] };
const actorsThat = (openSocket: () => Promise<object>) =>
  ({ get: () => ({ ask: { openSocket } }) }) as unknown as Actors;
/** Like an answer of another process: the request is over when it comes. */
const actors = actorsThat(async () => {
  await turn();
  return alive;
});
const path = () => `/sockets?authToken=${testSocketTokens(systemClock).mint(claims)}`;

test('a socket stays open whatever is allocated as it opens', async (t) => {
  const { url, registry } = await startGateway(t, [], { actors });
  const upgrades = registry.getSingleMetric('scriptorium_socket_upgrades_total') as Counter;
  const allocated: Buffer[] = [];
  // The size of the block that an upgrade frees. In whatever lies there next, the library would find the order to close.
  upgrades.inc = () => {
    for (let count = 0; count < 32; count += 1) allocated.push(Buffer.allocUnsafeSlow(72).fill(0x10));
  };
  for (let count = 0; count < 10; count += 1) {
    const socket = await dial(t, `${url}${path()}`);
    if (isRefused(socket)) return t.fail(`${socket.status}`);
    socket.send('ping');
    await t.notThrowsAsync(socket.received(1));
  }
  t.true(allocated.length > 0);
});

test('a request that ends its connection opens no socket', async (t) => {
  const { port } = await startGateway(t, [], { actors });
  const answerTo = async (connectionLine: string) => {
    const connection = await openRaw(t, port);
    connection.send(
      `GET ${path()} HTTP/1.1\r\nHost: a\r\n${connectionLine}Upgrade: websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`,
    );
    return (await connection.received('\r\n\r\n')).slice(0, 12);
  };
  t.is(await answerTo('Connection: close\r\n'), 'HTTP/1.1 400');
  t.is(await answerTo('Connection: keep-alive\r\nConnection: Upgrade\r\n'), 'HTTP/1.1 101');
  t.is(await answerTo('Connection: keep-alive, Upgrade\r\n'), 'HTTP/1.1 101');
});

test('a socket whose handshake waits for too long is told that too many clients are connecting', async (t) => {
  const nothing = () => undefined;
  const written: string[] = [];
  const res = {
    onAborted: nothing,
    cork: (work: () => void) => work(),
    writeStatus: (status: string) => written.push(status),
    writeHeader: nothing,
    tryEnd(body: string) {
      written.push(body);
      return [true, true];
    },
  };
  const options = {
    hub: { add: () => 'added', remove: nothing },
    admit: () => claims,
    handshakes: { run: async (_handshake: unknown, refused: unknown) => refused },
    metrics: { upgrade: nothing },
    framing: { headersOf: () => new CopiedHeaders() },
    requestId: () => 'request',
    isDraining: () => false,
    replies: {},
  };
  const { upgrade } = createSocketBehavior(options as unknown as SocketEndpointOptions);
  upgrade?.(res as unknown as HttpResponse, {} as HttpRequest, {} as UpgradeContext);
  await turn();
  t.deepEqual(written, [
    '503 Service Unavailable',
    '{"error":{"message":"Too many clients are connecting at the moment. Please try again later."}}',
  ]);
});

test('a socket that is about to open when the process ends is asked to come back', async (t) => {
  const asked = latch();
  const answer = latch<object>();
  const { gateway, port, url } = await startGateway(t, [], {
    actors: actorsThat(() => {
      asked.open();
      return answer.promise;
    }),
  });
  const dialling = dial(t, `${url}${path()}`);
  await asked.promise;
  void gateway.drain();
  await until(() =>
    openRaw(t, port).then(
      () => false,
      () => true,
    ),
  );
  answer.open(alive);
  const refused = await dialling;
  if (!isRefused(refused)) return t.fail('it opened');
  t.is(refused.status, 503);
  t.is(refused.headers['retry-after'], '1');
});
