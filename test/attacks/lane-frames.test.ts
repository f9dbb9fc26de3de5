/** Frames of the sync lane that would take long to read, from anonymous clients and from accounts. */
import test from 'ava';
import { laneFrameBytesMax } from '../../gateway/sockets/sync-lane/envelope.ts';
import { ended, enterLane, openLane } from '../kit/lane.ts';
import { startServer } from '../kit/server.ts';

const half = (text: string): string => text.repeat(Math.floor(laneFrameBytesMax / text.length / 2));

/** Payloads of an otherwise valid frame. */
const costly: readonly (readonly [what: string, payload: string])[] = [
  ['lists in lists', `{"a":[${half(`${'['.repeat(50)}${']'.repeat(50)},`)}0]}`],
  ['values', `{"a":[${half('0,')}0]}`],
  ['members', `{${Array.from({ length: 20_000 }, (_, at) => `"k${at}":0`).join()}}`],
  ['levels', `{"a":${'['.repeat(30_000)}${']'.repeat(30_000)}}`],
];

const frameOf = (payload: string, sequence: number): string =>
  `{"version":1,"channel":"sync","type":"PING","requestId":"a","commandId":"b","sequence":${sequence},` +
  `"payloadLength":${Buffer.byteLength(payload)},"payload":${payload}}`;

test('a stranger has no frame read that is larger than an AUTH, whatever it says', async (t) => {
  const server = await startServer(t);
  for (const [what, payload] of [...costly, ['text', `{"a":"${'x'.repeat(5_000)}"}`]]) {
    const stranger = await openLane(t, server);
    stranger.socket.send(frameOf(payload ?? '', 0));
    t.deepEqual(await ended(stranger), ['AUTH_REQUIRED', 1008], what);
  }
  const malformed = await openLane(t, server);
  malformed.socket.send('{'.repeat(5_000));
  t.deepEqual(await ended(malformed), ['AUTH_REQUIRED', 1008]);
});

test('nobody has pings answered without end, as those who do not read the answers would fill the memory', async (t) => {
  const server = await startServer(t);
  const stranger = await openLane(t, server);
  const account = await enterLane(t, await server.device());
  for (const { socket } of [stranger, account]) {
    for (let ping = 0; ping < 100; ping += 1) socket.ping();
    t.is(await socket.closed, 1013);
    t.is(socket.closeReason, 'sync rate limit exceeded');
  }
});

for (const [what, payload] of costly) {
  test(`an account’s frame of too many ${what} ends its socket`, async (t) => {
    const server = await startServer(t);
    const socket = await enterLane(t, await server.device());
    socket.socket.send(frameOf(payload, 1));
    t.deepEqual(await ended(socket), ['INVALID_ENVELOPE', 1008]);
  });
}
