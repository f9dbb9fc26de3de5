/** Clients that open connections and do nothing with them. */
import test from 'ava';
import { emptyRoute, gauge, gaugeIs, openRaw, startGateway } from '../kit/gateway.ts';
import { startServer } from '../kit/server.ts';

const request = 'GET /v1/x HTTP/1.1\r\nHost: a\r\n\r\n';

test('connections beyond the bound are closed at once, and those that are open go on', async (t) => {
  const server = await startGateway(t, [emptyRoute('GET', '/v1/x')], { connectionsMax: 5 });
  const open = [];
  for (let each = 0; each < 5; each++) open.push(await openRaw(t, server.port));
  await gaugeIs(server, 'http_connections', (connections) => connections === 5);
  for (let each = 0; each < 20; each++) t.is(await (await openRaw(t, server.port)).ended, '');
  t.is(await gauge(server, 'http_connections'), 5);
  t.is(await gauge(server, 'http_connections_refused'), 20);
  t.is(server.log.filter(({ msg }) => msg === 'too many connections: new ones are closed').length, 1);
  for (const connection of open) {
    connection.send(request);
    t.regex(await connection.received('\r\n\r\n'), /^HTTP\/1\.1 204 /);
  }
  open[0]?.socket.destroy();
  await gaugeIs(server, 'http_connections', (connections) => connections === 4);
  const next = await openRaw(t, server.port);
  next.send(request);
  t.regex(await next.received('\r\n\r\n'), /^HTTP\/1\.1 204 /);
});

test('a socket is counted as one connection until it is closed', async (t) => {
  const server = await startServer(t, { gateway: { connectionsMax: 10 } });
  const device = await server.device();
  const socket = await device.socket(t);
  const open = await gauge(server, 'http_connections');
  socket.end();
  await gaugeIs(server, 'sockets_open', (sockets) => sockets === 0);
  t.is(await gauge(server, 'http_connections'), open - 1);
});
