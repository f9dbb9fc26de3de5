/** Clients of the sync lane that ask and never read: how much memory each of them, and all together, can occupy. */
import test from 'ava';
import { note } from '../kit/items.ts';
import { enterLane, type LaneSocket, run } from '../kit/lane.ts';
import { startServer, type TestServer } from '../kit/server.ts';

const api = '20240226';
const pull = { api, sync_token: null };
const mebibyte = 1_024 * 1_024;
/** For one socket (docs/protocol/sockets.md, "How a socket ends"). */
const unreadMax = 4 * mebibyte;
/** An answer that just fits a frame. */
const answerBytes = 450_000;
/** More than a socket, and the buffers of the system at both ends, hold. */
const pullsMax = 60;
const syncLane = {
  isEnabled: true,
  origins: [],
  sameOrigin: true,
  socketsPerUserMax: 16,
  idleSeconds: 120,
};

async function metric({ registry }: TestServer, name: string): Promise<number> {
  const lines = (await registry.metrics()).matchAll(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, 'gm'));
  return [...lines].reduce((sum, [, value]) => sum + Number(value), 0);
}

const held = (server: TestServer): Promise<number> => metric(server, 'scriptorium_sync_lane_held_bytes');

const ended = async (server: TestServer): Promise<number> =>
  metric(server, 'scriptorium_sync_lane_closed_total');

/**
 * Asks again and again, as fast as it may, until the server has ended this many sockets. Resolves to the peak memory.
 */
async function askUntilEnded(
  server: TestServer,
  sockets: readonly LaneSocket[],
  ends: number,
): Promise<number> {
  let most = 0;
  for (let pulls = 0; pulls < pullsMax && (await ended(server)) < ends; pulls += 1) {
    const answered = await metric(server, 'scriptorium_sync_lane_answers_total');
    const living = sockets.length - (await ended(server));
    for (const { lane } of sockets) await lane.command(`pull-${pulls}`, pull);
    for (let waits = 0; waits < 200; waits += 1) {
      await server.advance(20);
      most = Math.max(most, await held(server));
      const isAnswered = (await metric(server, 'scriptorium_sync_lane_answers_total')) >= answered + living;
      if (isAnswered || (await ended(server)) >= ends) break;
    }
  }
  return most;
}

async function withLibrary(server: TestServer, email?: string) {
  const phone = await server.device(email);
  for (let count = 0; count < 10; count += 1) {
    await phone.save(note({ uuid: crypto.randomUUID(), content: 'x'.repeat(answerBytes / 10) }));
  }
  return phone;
}

test('a reader that stops makes the server hold four megabytes at most, and is ended', async (t) => {
  const server = await startServer(t);
  const phone = await withLibrary(server);
  const slow = await enterLane(t, phone);
  slow.socket.pause();
  const most = await askUntilEnded(server, [slow], 1);
  t.is(await metric(server, 'scriptorium_sync_lane_closed_total\\{reason="BACKPRESSURE"\\}'), 1);
  t.true(most > answerBytes, `${most}`);
  t.true(most <= unreadMax + 1_024, `${most}`);
  const reading = await enterLane(t, phone);
  t.is((await run(reading, 'command-1', pull)).payload.status, 'COMMITTED');
});

test('all readers that stop share one budget, and those who read are served again once they are gone', async (t) => {
  const memoryBytes = 6 * mebibyte;
  const server = await startServer(t, { gateway: { syncLane: { ...syncLane, memoryBytes } } });
  const phone = await withLibrary(server);
  const slow: LaneSocket[] = [];
  for (let count = 0; count < 6; count += 1) {
    slow.push(await enterLane(t, await withLibrary(server, `reader-${count}@example.org`)));
  }
  for (const { socket } of slow) socket.pause();
  const most = await askUntilEnded(server, slow, slow.length);
  t.is(await ended(server), slow.length);
  t.true(most > 2 * mebibyte, `${most}`);
  t.true(most <= memoryBytes + slow.length * (answerBytes + 100_000), `${most}`);
  // Untaken data is released with the connections, at the latest after the library's own wait.
  await server.advance(90_000);
  t.is(await held(server), 0);
  const reading = await enterLane(t, phone);
  t.is((await run(reading, 'command-1', pull)).payload.status, 'COMMITTED');
});

test('one account whose readers all stop holds its share, and keeps nobody else off the lane', async (t) => {
  const memoryBytes = 8 * mebibyte;
  const server = await startServer(t, { gateway: { syncLane: { ...syncLane, memoryBytes } } });
  const greedy = await withLibrary(server);
  const other = await enterLane(t, await withLibrary(server, 'other@example.org'));
  const slow: LaneSocket[] = [];
  for (let count = 0; count < 16; count += 1) slow.push(await enterLane(t, greedy));
  for (const { socket } of slow) socket.pause();
  const most = await askUntilEnded(server, slow, slow.length);
  t.true(most < memoryBytes / 2, `${most}`);
  t.is((await run(other, 'command-1', pull)).payload.status, 'COMMITTED');
});
