import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import test from 'ava';
import { SmokeTestClient } from './client.ts';

test('a server that answers without a token for the socket is found before a socket opens', async (t) => {
  let upgrades = 0;
  const server = createServer((_request, response) => response.end('{}'));
  server.on('upgrade', (_request, socket) => {
    upgrades += 1;
    socket.destroy();
  });
  await new Promise<void>((fulfil) => server.listen(0, '127.0.0.1', fulfil));
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  const client = new SmokeTestClient({
    url: new URL(`http://127.0.0.1:${port}`),
    accessKey: undefined,
    deadlineMs: 10_000,
  });
  const session = { userUuid: 'ann', accessToken: 'secret' };
  await t.throwsAsync(
    client.openSocket(session, () => 0),
    { message: 'the server answered without a token' },
  );
  t.is(upgrades, 0);
});
