/**
 * How a few users whose commits are blocked affect all others of a host (no HTTP), in one run.
 *
 *   node --import=tsx benchmarks/hindered-commits.ts [--seconds 5] [--callers 64] [--users 32] [--runs 3]
 *     [--locked 2] [--collisions 11]
 *
 * Saves go on as fast as they are answered while
 *   unhindered   nothing else happens
 *   locked       another connection locks the actor rows of `--locked` further users, who save too
 *   collisions   `--collisions` further users save once a second, each under the uuid of somebody else's item
 *
 * It prints the saves per second of the other users, their longest wait, and how many failed.
 */
import pg from 'pg';
import { item } from '../actors/collection/item.ts';
import type { EmbeddedConnection } from '../process/postgres/embedded.ts';
import { sleep, systemClock } from '../runtime/clock.ts';
import type { Actors } from '../runtime/handles.ts';
import { systemRandom } from '../runtime/random.ts';
import { collection } from './support/collection.ts';
import { withDatabase } from './support/database.ts';
import { startHost } from './support/host.ts';
import { numberOptions } from './support/options.ts';
import { saturate, textOf } from './support/saturation.ts';

const {
  users,
  runs,
  locked: lockedUsers,
  collisions: perSecond,
  ...load
} = numberOptions({
  seconds: 5,
  callers: 64,
  users: 32,
  runs: 3,
  locked: 2,
  collisions: 11,
});
const hinderedAfterMs = 500;

/** Begins to hinder; returns the function that stops it. */
type Hindrance = (actors: Actors, connection: EmbeddedConnection) => Promise<() => Promise<void>>;

const save = (actors: Actors, user: string, uuid: string) => actors.get(collection, user).ask.save(uuid);
const newUuid = () => systemRandom.uuid();
const uuids = (count: number) => Array.from({ length: count }, newUuid);

const locked: Hindrance = async (actors, connection) => {
  const ids = uuids(lockedUsers);
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

await withDatabase([item], async (connection) => {
  for (let run = 0; run < runs; run += 1) {
    for (const [name, hinder] of Object.entries(hindrances)) {
      const { actors, stop } = await startHost(connection, collection, {});
      const hindered = sleep(systemClock, hinderedAfterMs).then(() => hinder(actors, connection));
      const ids = uuids(users);
      const saves = await saturate(load, (caller) => save(actors, ids[caller % users] ?? '', newUuid()));
      console.log(`${name.padEnd(12)}${textOf(saves)}`);
      await (await hindered)();
      await stop();
    }
  }
});
