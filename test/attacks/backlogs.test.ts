/** Attacks on delivery: one user has more due than the server can deliver, beside users with one thing. */
import test, { type ExecutionContext } from 'ava';
import { shardOf } from '../../runtime/address.ts';
import { encode } from '../../runtime/store/encoding.ts';
import { type DatabaseHost, startDatabaseHost } from '../kit/database-host.ts';
import { startTestPostgres, type TestPostgres } from '../kit/postgres.ts';
import { counterKind } from '../simulation/counter.ts';

const shardCount = 16;
const backlogRows = 20_000;
const patienceMs = 5_000;
const trouble = { untilMs: 0 };

let postgres: TestPostgres;
test.before(async () => {
  postgres = await startTestPostgres();
});
test.after.always(() => postgres?.stop());

/** Timers that have been due for some time, all in one shard. */
async function fallBehind({ admin }: DatabaseHost, shard: number): Promise<void> {
  const payload = encode(1, { op: 'late', name: 'x', dueMs: 1, trouble, again: 0 });
  await admin.query(
    `INSERT INTO timer (kind, id, name, shard, due_at, payload, attempts, dead)
     SELECT $1, 'greedy-' || n, 'alarm:x', $2, $4::int8 + n, $3, 0, false FROM generate_series(1, ${backlogRows}) AS n`,
    [counterKind.name, shard, payload, Date.now() - 2 * backlogRows],
  );
}

/** Waits until the armed alarm has fired. @throws Error if it does not in time */
async function ringsAfterMs({ actors }: DatabaseHost, id: string): Promise<number> {
  const startedMs = performance.now();
  const counter = actors.get(counterKind, id);
  await counter.ask.arm({ op: 'ring', name: 'x', dueMs: Date.now(), trouble, again: 0 });
  while (performance.now() - startedMs < patienceMs) {
    const { journal } = await counter.ask.peek({ after: 0 });
    if (journal.some((entry) => entry.startsWith('fired:ring'))) return performance.now() - startedMs;
    await new Promise((resolve) => setImmediate(resolve));
  }
  throw new Error(`nothing rang within ${patienceMs} ms`);
}

const idIn = (isWanted: (shard: number) => boolean): string => {
  for (let n = 0; ; n += 1)
    if (isWanted(shardOf({ kind: counterKind.name, id: `n-${n}` }, shardCount))) return `n-${n}`;
};

test('the timer of a neighbour rings beside twenty thousand of another shard that are due', async (t: ExecutionContext) => {
  const host = await startDatabaseHost(t, postgres);
  const id = idIn((shard) => shard !== 3);
  await ringsAfterMs(host, id);
  await fallBehind(host, 3);
  const tookMs = await ringsAfterMs(
    host,
    idIn((shard) => shard === 5),
  );
  t.log(`rang after ${Math.round(tookMs)} ms`);
  t.true(tookMs < patienceMs);
});
