/**
 * How a few users whose commits are blocked affect all others of a host (no HTTP), in one run.
 *
 *   node --import=tsx benchmarks/hindered-commits.ts [--seconds 5] [--callers 64] [--users 32] [--runs 3]
 *     [--locked 2] [--collisions 11]
 *
 * Saves go on as fast as they are answered while
 *   unhindered   nothing else happens
 *   locked       somebody holds the actor rows of so many other users locked, who save too
 *   collisions   so many saves a second, of as many other users, name the uuid of an item that is another's
 *
 * It prints the saves per second of the other users, their longest wait, and how many failed.
 */
import { parseArgs } from 'node:util';
import pg from 'pg';
import { item } from '../actors/collection/item.ts';
import type { EmbeddedConnection } from '../process/postgres/embedded.ts';
import { sleep, systemClock } from '../runtime/clock.ts';
import type { Actors } from '../runtime/handles.ts';
import { systemRandom } from '../runtime/random.ts';
import { collection } from './support/collection.ts';
import { withDatabase } from './support/database.ts';
import { startHost } from './support/host.ts';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '5' },
    callers: { type: 'string', default: '64' },
    users: { type: 'string', default: '32' },
    runs: { type: 'string', default: '3' },
    locked: { type: 'string', default: '2' },
    collisions: { type: 'string', default: '11' },
  },
});
const seconds = Number(values.seconds);
const callers = Number(values.callers);
const users = Number(values.users);
const hinderedAfterMs = 500;

/** Begins to hinder; returns the function that stops it. */
type Hindrance = (actors: Actors, connection: EmbeddedConnection) => Promise<() => Promise<void>>;

const save = (actors: Actors, user: string, uuid: string) => actors.get(collection, user).ask.save(uuid);
const newUuid = () => systemRandom.uuid();
const uuids = (count: number) => Array.from({ length: count }, newUuid);

const locked: Hindrance = async (actors, connection) => {
  const ids = uuids(Number(values.locked));
  await Promise.all(ids.map((id) => save(actors, id, newUuid())));
  const client = new pg.Client(connection);
  await client.connect();
  await client.query('BEGIN');
  await client.query('SELECT id FROM actor WHERE kind = $1 AND id = ANY($2) FOR UPDATE', [
    collection.name,
    ids,
  ]);
  let isOver = false;
  for (const [index, id] of ids.entries()) {
    void (async () => {
      // One after another, each while others save.
      await sleep(systemClock, index * 100);
      while (!isOver) {
        await save(actors, id, newUuid()).catch(() => undefined);
        await sleep(systemClock, 10);
      }
    })();
  }
  return async () => {
    isOver = true;
    await client.query('ROLLBACK');
    await client.end();
  };
};

const collisions: Hindrance = async (actors) => {
  const perSecond = Number(values.collisions);
  const ids = uuids(perSecond);
  const conflicting = newUuid();
  await save(actors, newUuid(), conflicting);
  let turn = 0;
  const timer = setInterval(() => {
    turn += 1;
    save(actors, ids[turn % perSecond] ?? '', conflicting).catch(() => undefined);
  }, 1_000 / perSecond);
  return async () => clearInterval(timer);
};

const hindrances: Readonly<Record<string, Hindrance>> = {
  unhindered: async () => async () => undefined,
  locked,
  collisions,
};

interface Figures {
  readonly rate: number;
  readonly slowestMs: number;
  readonly failed: number;
}

async function measure(actors: Actors): Promise<Figures> {
  const ids = uuids(users);
  let done = 0;
  let failed = 0;
  let slowestMs = 0;
  const endMs = performance.now() + seconds * 1_000;
  const caller = async (number: number) => {
    while (performance.now() < endMs) {
      const sentMs = performance.now();
      await save(actors, ids[number % users] ?? '', newUuid()).then(
        () => (done += 1),
        () => (failed += 1),
      );
      slowestMs = Math.max(slowestMs, performance.now() - sentMs);
    }
  };
  const beganMs = performance.now();
  await Promise.all(Array.from({ length: callers }, (_, number) => caller(number)));
  return { rate: (done * 1_000) / (performance.now() - beganMs), slowestMs, failed };
}

await withDatabase([item], async (connection) => {
  for (let run = 0; run < Number(values.runs); run += 1) {
    for (const [name, hinder] of Object.entries(hindrances)) {
      const { actors, stop } = await startHost(connection, collection, {});
      const hindered = sleep(systemClock, hinderedAfterMs).then(() => hinder(actors, connection));
      const { rate, slowestMs, failed } = await measure(actors);
      console.log(
        `${name.padEnd(12)}${rate.toFixed(0)} saves/s, the slowest ${slowestMs.toFixed(0)} ms, ${failed} failed`,
      );
      await (await hindered)();
      await stop();
    }
  }
});
