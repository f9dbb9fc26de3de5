/**
 * The cost of reads, and how those of one user affect all others of a host (no HTTP), in one run.
 *
 *   node --import=tsx benchmarks/reads.ts [--seconds 5] [--callers 64] [--users 32] [--runs 3] [--flood 1400]
 *
 *   blind     saves of new items, which read nothing
 *   informed  saves of items that exist but are not in memory, so that each reads a row first
 *   flooded   the same, while `--flood` readers ask for the items of one user without pause
 *
 * It prints the saves per second, the longest wait, and how many failed; for the flood, the answers and refusals.
 */
import { z } from 'zod';
import { head } from '../actors/collection/head.ts';
import { item } from '../actors/collection/item.ts';
import { sleep, systemClock } from '../runtime/clock.ts';
import { command, keys, range, sharedRead } from '../runtime/command.ts';
import { OverloadedError } from '../runtime/errors.ts';
import type { Actors } from '../runtime/handles.ts';
import { kind } from '../runtime/kind.ts';
import { systemRandom } from '../runtime/random.ts';
import { newItem } from './support/collection.ts';
import { withDatabase } from './support/database.ts';
import { startHost } from './support/host.ts';
import { numberOptions } from './support/options.ts';
import { saturate, textOf } from './support/saturation.ts';

const { flood, users, runs, ...load } = numberOptions({
  seconds: 5,
  callers: 64,
  users: 32,
  runs: 3,
  flood: 1_400,
});
/** More than an actor keeps in memory. */
const itemsOfUser = 300;
const refusedPauseMs = 100;

const library = kind({
  name: 'library',
  slices: [head],
  tables: [item],
  commands: {
    stock: command(
      { request: z.array(z.string()), reply: z.null() },
      {
        creates: true,
        turn: (turn, uuids) => {
          uuids.forEach((uuid, index) => {
            turn.insert(item, newItem(turn.self.id, uuid, index + 1));
          });
          turn.set(head, { ...turn.get(head), position: uuids.length });
          return null;
        },
      },
    ),
    add: command(
      { request: z.string(), reply: z.null() },
      {
        creates: true,
        turn: (turn, uuid) => {
          const position = turn.get(head).position + 1;
          turn.insert(item, newItem(turn.self.id, uuid, position));
          turn.set(head, { ...turn.get(head), position });
          return null;
        },
      },
    ),
    edit: command(
      { request: z.string(), reply: z.boolean() },
      {
        reads: (view, uuid) => ({ found: keys(item, [{ collection: view.self.id, uuid }]) }),
        turn: (turn, uuid, { found }) => {
          const row = found.get({ collection: turn.self.id, uuid });
          if (row === undefined) return false;
          const position = turn.get(head).position + 1;
          turn.put(item, { ...row, position });
          turn.set(head, { ...turn.get(head), position });
          return true;
        },
      },
    ),
    page: sharedRead(
      { request: z.null(), reply: z.number() },
      {
        reads: (view) => ({
          page: range(item, {
            after: 0,
            through: view.get(head).position,
            limit: 150,
            budgetBytes: 1_000_000,
          }),
        }),
        answer: (_view, _request, { page }) => page.rows.length,
      },
    ),
  },
});

interface Stock {
  readonly user: string;
  readonly uuids: readonly string[];
}

const uuids = (count: number) => Array.from({ length: count }, () => systemRandom.uuid());

async function stocked(actors: Actors, count: number): Promise<readonly Stock[]> {
  const stocks = uuids(count).map((user) => ({ user, uuids: uuids(itemsOfUser) }));
  for (const { user, uuids } of stocks) await actors.get(library, user).ask.stock(uuids);
  return stocks;
}

type Save = (actors: Actors, stock: Stock, turn: number) => Promise<unknown>;

const blind: Save = (actors, { user }) => actors.get(library, user).ask.add(systemRandom.uuid());
const informed: Save = (actors, { user, uuids }, turn) =>
  actors.get(library, user).ask.edit(uuids[(turn * 7) % uuids.length] ?? '');

async function measure(actors: Actors, stocks: readonly Stock[], save: Save): Promise<string> {
  const saturation = await saturate(load, async (caller, turn) => {
    const stock = stocks[caller % stocks.length];
    if (stock !== undefined) await save(actors, stock, turn);
  });
  return textOf(saturation);
}

/** A refused reader comes back, like a client that asks too much. */
function floodOf(actors: Actors, { user }: Stock) {
  let isOver = false;
  const counts = { answered: 0, refused: 0, failed: 0 };
  const reader = async () => {
    while (!isOver) {
      try {
        await actors.get(library, user).ask.page(null);
        counts.answered += 1;
      } catch (error) {
        counts[error instanceof OverloadedError ? 'refused' : 'failed'] += 1;
        await sleep(systemClock, refusedPauseMs);
      }
    }
  };
  const all = Promise.all(Array.from({ length: flood }, reader));
  return {
    async end() {
      isOver = true;
      await all;
      return `${counts.answered} answered, ${counts.refused} refused, ${counts.failed} failed`;
    },
  };
}

await withDatabase([item], async (connection) => {
  for (let run = 0; run < runs; run += 1) {
    const { actors, stop } = await startHost(connection, library, {});
    const stocks = await stocked(actors, users);
    const [target] = await stocked(actors, 1);
    console.log(`blind     ${await measure(actors, stocks, blind)}`);
    console.log(`informed  ${await measure(actors, stocks, informed)}`);
    if (target === undefined) throw new Error('nobody to be flooded');
    const flooding = floodOf(actors, target);
    const flooded = await measure(actors, stocks, informed);
    console.log(`flooded   ${flooded}; the flood: ${await flooding.end()}`);
    await stop();
  }
});
