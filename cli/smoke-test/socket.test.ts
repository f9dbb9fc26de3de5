/** What the client of the smoke test makes of frames and ends that come together, and how it names an end. */
import { type AddressInfo, createServer, type Socket } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import { ClientSocket } from './socket.ts';

const accepted = Buffer.from(
  'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
);
const frame = (opcode: number, payload: Buffer): Buffer =>
  Buffer.concat([Buffer.from([0x80 | opcode, payload.length]), payload]);
const hello = frame(1, Buffer.from('{"type":"HELLO"}'));
const restarting = frame(8, Buffer.from([0x03, 0xf4]));

/** A socket that opens 41 ms before it ends, and the other side of its connection. */
async function openTo(t: ExecutionContext, answer: Buffer): Promise<[ClientSocket, Socket]> {
  const server = createServer();
  t.teardown(() => server.close());
  const peer = new Promise<Socket>((fulfil) => {
    server.once('connection', (socket) => {
      t.teardown(() => socket.destroy());
      socket.once('data', () => socket.write(answer, () => fulfil(socket)));
    });
  });
  await new Promise<void>((fulfil) => server.listen(0, '127.0.0.1', fulfil));
  const { port } = server.address() as AddressInfo;
  const times = [1_000, 1_041];
  const socket = await ClientSocket.open(
    new URL(`http://127.0.0.1:${port}`),
    {},
    10_000,
    () => times.shift() ?? 0,
  );
  return [socket, await peer];
}

test('a frame that comes in one piece with the upgrade is heard, also if the connection ends', async (t) => {
  const [socket, peer] = await openTo(t, Buffer.concat([accepted, hello]));
  await t.notThrowsAsync(socket.received('HELLO', 10_000));
  peer.end();
  await t.throwsAsync(socket.received('ANOTHER', 10_000));
  await t.notThrowsAsync(socket.received('HELLO', 10_000));
});

const ends: readonly (readonly [how: string, end: (peer: Socket) => void, said: string])[] = [
  [
    'without a close frame',
    (peer) => peer.end(),
    'before any frame: the other side ended the connection (FIN) without a close frame',
  ],
  ['by a reset', (peer) => peer.resetAndDestroy(), 'before any frame: ECONNRESET without a close frame'],
  [
    'by a close frame',
    (peer) => peer.end(Buffer.concat([hello, restarting])),
    'after a frame of HELLO: close frame with 1012',
  ],
  [
    'because a proxy has sent a text of its own',
    (peer) => peer.write(frame(1, Buffer.from('<html>'))),
    'before any frame: it carried something that is no message of this server',
  ],
  [
    'because a frame has no end',
    (peer) => peer.write(Buffer.concat([Buffer.from([0x81, 127]), Buffer.alloc(100_000, 1)])),
    'before any frame: it carried something that is no message of this server',
  ],
];

for (const [how, end, said] of ends) {
  test(`a socket that was closed ${how} says so, and when`, async (t) => {
    const [socket, peer] = await openTo(t, accepted);
    end(peer);
    const message = `the socket was closed 41 ms after it opened, ${said}`;
    await t.throwsAsync(socket.received('ANOTHER', 10_000), { message });
  });
}
