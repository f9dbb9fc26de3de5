/**
 * Clients of the sync lane that send requests and never read: how much memory they occupy in a process and the
 * kernel, all together. They are in this process, on loopback, beside one built server with PostgreSQL.
 *
 * npm run build && node --import=tsx benchmarks/lane-readers.ts [--readers 1000] [--users 50]
 */
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { digestOf, LaneFrames } from '../docs/protocol/sync-lane-client.ts';
import { parseExposition } from '../load-tests/report/exposition.ts';
import { Cluster } from '../test/cluster/cluster.ts';
import { Database } from '../test/cluster/database.ts';
import { startNatsServer } from '../test/kit/nats-server.ts';
import { kernelBytes } from './sockets/kernel.ts';
import { type Account, ask, newItem, post, register } from './support/api-client.ts';
import { someAtOnce } from './support/at-once.ts';
import { printFigures } from './support/figures.ts';
import { type OpenSocket, upgraded } from './support/socket.ts';

const { values } = parseArgs({
  options: {
    readers: { type: 'string', default: '1000' },
    users: { type: 'string', default: '50' },
  },
});
const readers = Number(values.readers);
const users = Number(values.users);

const dist = new URL('../dist', import.meta.url).pathname;
const deviceId = 'web-12fb6ed5';
const password = 'a'.repeat(64);
/** An answer that just fits a frame. */
const notes = 10;
const noteCharacters = 45_000;
const body = { api: '20240226', sync_token: null };
const pullsMax = 60;
/** The longest wait for one answer to each of them. */
const roundMs = 60_000;
const lookEveryMs = 100;
const settings = {
  RATE_LIMIT_PUBLIC: '0',
  RATE_LIMIT_SESSION: '0',
  RATE_LIMIT_REGISTRATION: '0',
  SYNC_LANE_SOCKETS_PER_USER: '1000',
};

const [database, nats] = await Promise.all([Database.start(), startNatsServer()]);
const cluster = await Cluster.start({
  builds: { current: dist, next: dist },
  nodes: 1,
  database,
  nats: [nats],
  leaseMs: 10_000,
  settings: { DATABASE_URL: database.url, NATS_URL: nats.url, LOG_LEVEL: 'error', ...settings },
});
const [node] = cluster.nodes;
const url = node?.url ?? '';

interface Reader {
  readonly socket: OpenSocket;
  readonly frames: LaneFrames;
  isOpen: boolean;
}

/** An accepted socket from which nothing is read any more. */
async function reader({ accessToken }: Account): Promise<Reader> {
  const answer = await fetch(`${url}/v1/sockets/sync/ticket`, {
    method: 'POST',
    headers: { authorization: `Bearer ${accessToken}`, 'content-type': 'application/json' },
    body: JSON.stringify({ deviceId }),
  });
  const { ticket } = (await answer.json()) as { ticket: string };
  const { hostname, port, host } = new URL(url);
  const connection = connect({ host: hostname, port: Number(port), noDelay: true });
  let heard = () => {};
  const isIn = new Promise<void>((resolve) => {
    heard = resolve;
  });
  const upgrade = { target: '/sockets/sync', host, origin: url };
  const socket = await upgraded(connection, upgrade, () => heard());
  const frames = new LaneFrames();
  socket.send(JSON.stringify(frames.make('AUTH', { ticket, deviceId })));
  await isIn;
  connection.pause();
  const entered = { socket, frames, isOpen: true };
  connection.once('close', () => {
    entered.isOpen = false;
  });
  return entered;
}

interface HeldBytes {
  readonly processBytes: number;
  readonly laneBytes: number;
  readonly kernelBytes: number;
  readonly ended: number;
  readonly answers: number;
}

async function heldNow(): Promise<HeldBytes> {
  const all = parseExposition(await (await fetch(node?.metricsUrl ?? '')).text());
  return {
    processBytes: all.get('process_resident_memory_bytes') ?? Number.NaN,
    laneBytes: all.get('scriptorium_sync_lane_held_bytes') ?? Number.NaN,
    // Both ends are on this machine.
    kernelBytes: kernelBytes(),
    ended: all.get('scriptorium_sync_lane_closed_total') ?? 0,
    answers: all.get('scriptorium_sync_lane_answers_total') ?? 0,
  };
}

/** Resolves after this many answers. A socket that ends meanwhile counts as answered. */
async function untilAnswered(count: number): Promise<void> {
  const untilMs = performance.now() + roundMs;
  const before = await heldNow();
  for (;;) {
    const { answers, ended } = await heldNow();
    if (answers + ended - before.ended >= count || performance.now() > untilMs) return;
    await pause(lookEveryMs);
  }
}

async function measure(): Promise<void> {
  const accounts = await someAtOnce(users, 8, () => register(url, undefined, password));
  await someAtOnce(users, 4, async (index) => {
    const items = Array.from({ length: notes }, () => ({
      ...newItem(),
      content: 'x'.repeat(noteCharacters),
    }));
    await ask(url, 'POST', '/v1/items', accounts[index] as Account, { api: body.api, items });
  });
  const all = await someAtOnce(readers, 16, (index) => reader(accounts[index % users] as Account));
  await pause(2_000);
  const before = await heldNow();
  const most = { processBytes: 0, laneBytes: 0, kernelBytes: 0 };
  let isOver = false;
  const looking = (async () => {
    while (!isOver) {
      const now = await heldNow();
      for (const what of ['processBytes', 'laneBytes', 'kernelBytes'] as const)
        most[what] = Math.max(most[what], now[what]);
      await pause(lookEveryMs);
    }
  })();
  const digest = await digestOf(body);
  const beganMs = performance.now();
  for (let pulls = 0; pulls < pullsMax; pulls += 1) {
    const { answers, ended } = await heldNow();
    if (ended >= readers) break;
    for (const [index, { socket, frames, isOpen }] of all.entries()) {
      if (!isOpen) continue;
      const frame = frames.make(
        'COMMAND',
        { command: 'SYNC_ITEMS', body },
        { digest, commandId: `pull-${index}-${pulls}` },
      );
      socket.send(JSON.stringify(frame));
    }
    await untilAnswered(answers + readers - ended);
  }
  const tookMs = performance.now() - beganMs;
  const { ended } = await heldNow();
  const began = performance.now();
  await post(url, '/v1/users', {}).catch(() => {});
  const answeredMs = performance.now() - began;
  isOver = true;
  await looking;
  printFigures(`${readers} readers that never read`, {
    'ended by the server': ended,
    's until then': tookMs / 1_000,
    'process before, MB': before.processBytes / 1e6,
    'process at the most, MB': most.processBytes / 1e6,
    'of that counted by the lane at the most, MB': most.laneBytes / 1e6,
    'kernel at the most, both ends, MB': (most.kernelBytes - before.kernelBytes) / 1e6,
    'a request right after, ms': answeredMs,
  });
}

try {
  await measure();
} finally {
  await cluster.stop();
}
process.exit(0);
