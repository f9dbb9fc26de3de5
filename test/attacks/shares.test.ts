/** Crowds and anonymous clients at public shares, whose lost content is lost for good. */
import test, { type ExecutionContext } from 'ava';
import type { Device } from '../kit/device.ts';
import { gauge, gaugeIs, openRaw } from '../kit/gateway.ts';
import { startServer, type TestServer } from '../kit/server.ts';

const mebibyte = 1_048_576;
const roomBytes = 'scriptorium_http_reply_room_bytes';
/** The largest possible; sent both ways it is more than the system buffers of unread data. */
const large = 'x'.repeat(5 * mebibyte);

async function made(device: Device, encryptedPayload = large): Promise<string> {
  const body = { type: 'note', encryptedPayload, oneTimeView: true };
  const { status, text, body: answer } = await device.call('POST', '/v1/shares', { body });
  if (status !== 200) throw new Error(text);
  return answer.shareId;
}

const open = (server: TestServer, id: string, address: string) =>
  server.call('GET', `/v1/shares/${id}`, { headers: { 'x-forwarded-for': address } });

/** Requests a share and reads nothing of it. */
async function idle(t: ExecutionContext, { port }: TestServer, id: string, address: string) {
  const connection = await openRaw(t, port);
  connection.socket.pause();
  connection.send(`GET /v1/shares/${id} HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: ${address}\r\n\r\n`);
  return connection;
}

test('readers of large one-time shares behind one address all get theirs, in bounded memory', async (t) => {
  const few = { userReplyMemoryBytes: mebibyte / 16, shareMemoryBytes: 64 * mebibyte };
  const server = await startServer(t, { gateway: few });
  const owner = await server.device();
  const ids: string[] = [];
  for (let count = 0; count < 6; count += 1) ids.push(await made(owner));
  let mostBytes = 0;
  const answers = await Promise.all(
    ids.map(async (id) => {
      const { status, text } = await open(server, id, '203.0.113.9');
      mostBytes = Math.max(mostBytes, await gauge(server, roomBytes));
      return { status, ...JSON.parse(text) };
    }),
  );
  for (const { status, encryptedPayload, data } of answers) {
    t.is(status, 200);
    t.true(encryptedPayload === large && data.encryptedPayload === large);
  }
  t.true(mostBytes <= (64 / 5) * mebibyte);
  await gaugeIs(server, roomBytes, (bytes) => bytes === 0);
});

test('a client that reads nothing keeps nobody else from shares, and uses up none for others at its address', async (t) => {
  const server = await startServer(t, { gateway: { shareMemoryBytes: 64 * mebibyte } });
  const owner = await server.device();
  const attacker = '2001:db8:1';
  const held: Awaited<ReturnType<typeof idle>>[] = [];
  for (let count = 0; count < 4; count += 1) {
    // Each one from another network of the same site.
    held.push(await idle(t, server, await made(owner), `${attacker}:${count}::1`));
  }
  await gaugeIs(server, roomBytes, (bytes) => bytes >= 2 * large.length);

  const [theirs, others, small] = [await made(owner), await made(owner), await made(owner, 'x')];
  const refused = await server.answered(open(server, theirs, `${attacker}:9::1`), 20_000);
  t.is(refused.status, 503);
  t.is(refused.headers.get('retry-after'), '2');
  t.is((await open(server, others, '203.0.113.9')).status, 200);
  t.is((await open(server, small, `${attacker}:9::1`)).status, 200);

  for (const { socket } of held) socket.destroy();
  await gaugeIs(server, roomBytes, (bytes) => bytes === 0);
  t.is((await open(server, theirs, `${attacker}:9::1`)).status, 200);
});

test('a client that has left while it waited has used nothing up', async (t) => {
  const server = await startServer(t, { gateway: { shareMemoryBytes: 32 * mebibyte } });
  const owner = await server.device();
  const holder = await idle(t, server, await made(owner), '203.0.113.9');
  await gaugeIs(server, roomBytes, (bytes) => bytes >= large.length);
  const id = await made(owner);
  const left = await idle(t, server, id, '203.0.113.9');
  await gaugeIs(server, 'scriptorium_http_requests_in_flight', (requests) => requests === 2);
  left.socket.destroy();
  await gaugeIs(server, 'scriptorium_http_requests_in_flight', (requests) => requests === 1);
  holder.socket.destroy();
  await gaugeIs(server, roomBytes, (bytes) => bytes === 0);
  t.is((await open(server, id, '203.0.113.9')).status, 200);
});
