/** Clients that open connections and leave them idle. */
import test, { type ExecutionContext } from 'ava';
import { windowMs } from '../../gateway/http/connections.ts';
import { FakeClock } from '../kit/clock.ts';
import {
  emptyRoute,
  gauge,
  gaugeIs,
  openRaw,
  type RawConnection,
  startGateway,
  type TestGateway,
} from '../kit/gateway.ts';
import { startServer } from '../kit/server.ts';
import type { SocketClient } from '../kit/socket-client.ts';

const [attacker, neighbour] = ['127.0.0.2', '127.0.0.3'];
const request = 'GET /v1/x HTTP/1.1\r\nHost: a\r\n\r\n';

test('connections beyond the bound are closed at once, and those that are open go on', async (t) => {
  const server = await startGateway(t, [emptyRoute('GET', '/v1/x')], { connectionsMax: 5 });
  const open = [];
  for (let each = 0; each < 5; each++) open.push(await openRaw(t, server.port));
  await gaugeIs(server, 'scriptorium_http_connections', (connections) => connections === 5);
  for (let each = 0; each < 20; each++) t.is(await (await openRaw(t, server.port)).ended, '');
  t.is(await gauge(server, 'scriptorium_http_connections'), 5);
  t.is(await gauge(server, 'scriptorium_http_connections_refused'), 20);
  t.is(server.log.filter(({ msg }) => msg === 'too many connections: new ones are closed').length, 1);
  for (const connection of open) {
    connection.send(request);
    t.regex(await connection.received('\r\n\r\n'), /^HTTP\/1\.1 204 /);
  }
  open[0]?.socket.destroy();
  await gaugeIs(server, 'scriptorium_http_connections', (connections) => connections === 4);
  const next = await openRaw(t, server.port);
  next.send(request);
  t.regex(await next.received('\r\n\r\n'), /^HTTP\/1\.1 204 /);
});

test('a socket is counted as one connection until it is closed', async (t) => {
  const server = await startServer(t, { gateway: { connectionsMax: 10 } });
  const device = await server.device();
  const socket = await device.socket(t);
  const open = await gauge(server, 'scriptorium_http_connections');
  socket.end();
  await gaugeIs(server, 'scriptorium_sockets_open', (sockets) => sockets === 0);
  t.is(await gauge(server, 'scriptorium_http_connections'), open - 1);
});

test('a network that opens and reopens connections keeps out no other', async (t) => {
  const clock = new FakeClock();
  const server = await startGateway(t, [emptyRoute('GET', '/v1/x')], {
    connectionsMax: 40,
    trustProxy: 'false',
    clock,
  });
  const opened = await openMany(t, server, 100, attacker);
  // Half of all permitted connections, and its share while they are scarce.
  await gaugeIs(server, 'scriptorium_http_connections', (connections) => connections === 30);
  t.is(await gauge(server, 'scriptorium_http_connections_refused_by_share'), 70);
  const other = await openRaw(t, server.port, neighbour);
  t.regex(await answered(other), /^HTTP\/1\.1 204 /);
  other.socket.destroy();

  for (const connection of opened.slice(25, 30)) connection.socket.destroy();
  await gaugeIs(server, 'scriptorium_http_connections', (connections) => connections === 25);
  await openMany(t, server, 20, attacker);
  await gaugeIs(server, 'scriptorium_http_connections_refused_by_share', (refused) => refused === 90);
  t.is(await gauge(server, 'scriptorium_http_connections'), 25);
});

test('a network may open its share again once those that it opened before are over', async (t) => {
  const clock = new FakeClock();
  const server = await startGateway(t, [emptyRoute('GET', '/v1/x')], {
    connectionsMax: 40,
    trustProxy: 'false',
    clock,
  });
  const opened = await openMany(t, server, 31, attacker);
  await gaugeIs(server, 'scriptorium_http_connections_refused_by_share', (refused) => refused === 1);
  for (const connection of opened.slice(20, 30)) connection.socket.destroy();
  await gaugeIs(server, 'scriptorium_http_connections', (connections) => connections === 20);
  await clock.advance(2 * windowMs);
  await openMany(t, server, 11, attacker);
  await gaugeIs(server, 'scriptorium_http_connections_refused_by_share', (refused) => refused === 2);
  t.is(await gauge(server, 'scriptorium_http_connections'), 30);
});

test('while connections are scarce, each ends with its answer', async (t) => {
  const server = await startGateway(t, [emptyRoute('GET', '/v1/x')], {
    connectionsMax: 40,
    trustProxy: 'false',
  });
  const [first, second] = await openMany(t, server, 20, attacker);
  if (first === undefined || second === undefined) throw new Error('no connections');
  t.notRegex(await answered(first), closes);
  await openRaw(t, server.port, neighbour);
  await gaugeIs(server, 'scriptorium_http_connections', (connections) => connections === 21);
  t.regex(await answered(second), closes);
  second.send(request);
  t.is((await second.ended).split('HTTP/1.1 204 ').length, 2, 'one answer');
});

test('a network that keeps connections busy with slow bodies opens no more, and keeps out no other', async (t) => {
  const clock = new FakeClock();
  const server = await startGateway(t, [emptyRoute('POST', '/v1/x'), emptyRoute('GET', '/v1/x')], {
    connectionsMax: 40,
    trustProxy: 'false',
    clock,
  });
  const slow = await openMany(t, server, 20, attacker);
  for (const connection of slow) {
    connection.send('POST /v1/x HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n{');
  }
  await gaugeIs(server, 'scriptorium_http_requests_in_flight', (requests) => requests === 20);
  // Its accepts are forgotten by then.
  for (let second = 0; second < 3; second += 1) await clock.advance(1_000);
  await openMany(t, server, 5, attacker);
  await gaugeIs(server, 'scriptorium_http_connections_refused_by_share', (refused) => refused === 5);
  t.regex(await answered(await openRaw(t, server.port, neighbour)), /^HTTP\/1\.1 204 /);
  for (const connection of slow.slice(5)) connection.socket.destroy();
  await gaugeIs(server, 'scriptorium_http_requests_in_flight', (requests) => requests === 5);
  await openMany(t, server, 16, neighbour);
  t.regex(await answered(await openRaw(t, server.port, attacker)), /^HTTP\/1\.1 204 /);
});

test('a network that holds its share of connections as sockets opens no more until they close', async (t) => {
  const server = await startServer(t, { gateway: { connectionsMax: 20, trustProxy: 'false' } });
  const device = await server.device();
  const sockets: SocketClient[] = [];
  for (let each = 0; each < 6; each += 1) sockets.push(await device.socket(t));
  await openMany(t, server, 20, '127.0.0.1');
  await gaugeIs(server, 'scriptorium_http_connections_refused_by_share', (refused) => refused >= 10);
  t.true((await gauge(server, 'scriptorium_http_connections')) <= 10, 'half of all, and none beyond');
  for (const socket of sockets) socket.end();
  await gaugeIs(server, 'scriptorium_sockets_open', (open) => open === 0);
  await openMany(t, server, 15, '127.0.0.1');
  await gaugeIs(server, 'scriptorium_http_connections', (connections) => connections > 10);
});

test('a proxy may open all connections, and they are kept', async (t) => {
  const server = await startGateway(t, [emptyRoute('GET', '/v1/x')], { connectionsMax: 40 });
  const [first] = await openMany(t, server, 40, attacker);
  if (first === undefined) throw new Error('no connections');
  await gaugeIs(server, 'scriptorium_http_connections', (connections) => connections === 40);
  t.is(await gauge(server, 'scriptorium_http_connections_refused'), 0);
  t.notRegex(await answered(first), closes);
});

const closes = /\r\nConnection: close\r\n/i;

async function openMany(
  t: ExecutionContext,
  { port }: Pick<TestGateway, 'port'>,
  number: number,
  localAddress: string,
): Promise<readonly RawConnection[]> {
  const connections = [];
  for (let each = 0; each < number; each++) connections.push(await openRaw(t, port, localAddress));
  return connections;
}

async function answered(connection: RawConnection): Promise<string> {
  connection.send(request);
  return connection.received('\r\n\r\n');
}
