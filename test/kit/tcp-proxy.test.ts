import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import { TcpProxy } from './tcp-proxy.ts';
import { until } from './until.ts';

/** A client and a server that hear each other through the proxy. */
async function link(t: ExecutionContext) {
  const heard = { server: '', client: '', serverEnded: false, clientBroken: false };
  const peers: Socket[] = [];
  const server = createServer((socket) => {
    peers.push(socket);
    socket.on('error', () => undefined);
    socket.on('data', (bytes) => {
      heard.server += bytes.toString();
    });
    socket.on('end', () => {
      heard.serverEnded = true;
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const proxy = await TcpProxy.start({ port: (server.address() as AddressInfo).port });
  const client = connect(proxy.port, '127.0.0.1');
  client.on('error', () => {
    heard.clientBroken = true;
  });
  client.on('data', (bytes) => {
    heard.client += bytes.toString();
  });
  await until(() => peers.length === 1);
  t.teardown(async () => {
    client.destroy();
    await proxy.stop();
    server.close();
  });
  const [peer] = peers;
  if (peer === undefined) throw new Error('nobody came');
  return { proxy, client, peer, heard };
}

test('bytes and ends pass both ways', async (t) => {
  const { client, peer, heard } = await link(t);
  client.write('hello');
  peer.write('well');
  await until(() => heard.server === 'hello' && heard.client === 'well');
  client.end();
  await until(() => heard.serverEnded);
  t.pass();
});

test('a cut breaks what is there and what comes, until it is healed', async (t) => {
  const { proxy, heard } = await link(t);
  proxy.cut();
  await until(() => heard.clientBroken);
  const refused = connect(proxy.port, '127.0.0.1');
  await t.throwsAsync(once(refused, 'data'));
  proxy.heal();
  const taken = connect(proxy.port, '127.0.0.1');
  t.teardown(() => taken.destroy());
  taken.write('again');
  await until(() => heard.server === 'again');
});

test('bytes sent into silence arrive after it, even when their sender has gone', async (t) => {
  const { proxy, client, peer, heard } = await link(t);
  proxy.silence('to-server', 'to-client');
  client.write('late');
  peer.write('lost');
  client.end();
  await until(() => client.writableFinished);
  t.is(heard.server, '');
  t.false(heard.serverEnded);
  proxy.heal();
  await until(() => heard.server === 'late' && heard.serverEnded);
});

test('one way may be silent while the other is heard', async (t) => {
  const { proxy, client, peer, heard } = await link(t);
  proxy.silence('to-client');
  client.write('question');
  await until(() => heard.server === 'question');
  peer.write('answer');
  client.write('!');
  await until(() => heard.server === 'question!');
  t.is(heard.client, '');
  proxy.heal();
  await until(() => heard.client === 'answer');
});

test('a slow link keeps the order', async (t) => {
  const { proxy, client, heard } = await link(t);
  proxy.slow(100);
  const sentMs = performance.now();
  for (const part of ['a', 'b', 'c']) client.write(part);
  await until(() => heard.server === 'abc');
  t.true(performance.now() - sentMs >= 99);
});

test('more than fits waits with its sender, and all of it arrives', async (t) => {
  const { proxy, client, heard } = await link(t);
  proxy.silence('to-server');
  const bytes = 40_000_000;
  client.write(Buffer.alloc(bytes, 'x'));
  await until(() => client.bytesWritten > 1_000_000);
  t.is(heard.server, '');
  proxy.heal();
  await until(() => heard.server.length === bytes);
});
