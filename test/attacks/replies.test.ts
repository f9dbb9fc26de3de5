/** Clients that request much and read nothing. */
import test from 'ava';
import { z } from 'zod';
import type { Credentials } from '../../actors/identity/session-tokens.ts';
import { route } from '../../gateway/http/route.ts';
import { FakeClock } from '../kit/clock.ts';
import { gauge, gaugeIs, goodCredentials, metricIs, openRaw, startGateway } from '../kit/gateway.ts';

const mebibyte = 1024 * 1024;
const unsentBytes = 'scriptorium_http_unsent_reply_bytes';
/** More than the system buffers of an unread reply. */
const replyBytes = 24 * mebibyte;

const other: Credentials = { ...goodCredentials, userUuid: '00000000-0000-4000-8000-000000000000' };
const verifyBearer = (authorization: string) => (authorization === 'Bearer other' ? other : goodCredentials);

/** Like a sync: an ordinary JSON reply. */
const sync = route({
  method: 'POST',
  path: '/v1/items',
  access: 'session',
  summary: '',
  tag: '',
  request: z.object({}),
  replies: {},
  handle: async () => ({ status: 200, json: JSON.stringify({ items: ['x'.repeat(replyBytes)] }) }),
});

const request = (bearer: string) =>
  `POST /v1/items HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${bearer}\r\n\r\n`;

test('replies that a user never reads are bounded, and cost nobody else theirs', async (t) => {
  const server = await startGateway(t, [sync], {
    verifyBearer,
    replyMemoryBytes: 200 * mebibyte,
    userReplyMemoryBytes: 50 * mebibyte,
  });
  const patient = await openRaw(t, server.port);
  patient.socket.pause();
  patient.send(request('other'));
  await gaugeIs(server, unsentBytes, (bytes) => bytes > 0);
  const before = await gauge(server, unsentBytes);
  for (let each = 1; each <= 15; each++) {
    const connection = await openRaw(t, server.port);
    connection.socket.pause();
    connection.send(request('good'));
    await gaugeIs(server, 'scriptorium_http_requests_in_flight', (requests) => requests > 1);
    t.true((await gauge(server, unsentBytes)) <= before + 50 * mebibyte);
  }
  await metricIs(server, /http_replies_cut (9|1[0-9])/);
  patient.socket.resume();
  const reply = await patient.received(']}}');
  t.true(reply.length > replyBytes);
});

test('a reader slower than the minimum throughput is given up on', async (t) => {
  const clock = new FakeClock();
  const minimumThroughput = { bytes: 1_000_000, windowMs: 10_000 };
  const server = await startGateway(t, [sync], { verifyBearer, clock, minimumThroughput });
  const connection = await openRaw(t, server.port);
  connection.socket.pause();
  connection.send(request('good'));
  await gaugeIs(server, unsentBytes, (bytes) => bytes > 0);
  await clock.advance(12_000);
  await metricIs(server, /http_replies_cut 1/);
  t.is(await gauge(server, unsentBytes), 0);
});
