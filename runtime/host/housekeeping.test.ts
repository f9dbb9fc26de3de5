import test from 'ava';
import { drainPromises, FakeClock } from '../../test/kit/clock.ts';
import { silentLogger } from '../ports.ts';
import { Housekeeping } from './housekeeping.ts';
import { defaultLimits } from './limits.ts';

interface Rows {
  calls: number;
  actors: number;
}

function keep(rows: Rows) {
  const clock = new FakeClock();
  const requests: string[] = [];
  const take = (table: keyof Rows, before: number, limit: number) => {
    requests.push(`${table} ${clock.nowMs() - before}`);
    const deleted = Math.min(rows[table], limit);
    rows[table] -= deleted;
    return Promise.resolve(deleted);
  };
  const store = {
    timeMs: async () => clock.nowMs(),
    pruneCalls: (_: readonly number[], before: number, limit: number) => take('calls', before, limit),
    removeEnded: (_: readonly number[], before: number, limit: number) => take('actors', before, limit),
    removeNodes: async (before: number) => void requests.push(`nodes ${clock.nowMs() - before}`),
  };
  const housekeeping = new Housekeeping({
    store,
    clock,
    logger: silentLogger,
    limits: defaultLimits,
    shards: () => [1],
  });
  housekeeping.start();
  return { clock, requests, housekeeping };
}

test('each kind of row is kept for its time', async (t) => {
  const { clock, requests } = keep({ calls: 0, actors: 0 });
  await clock.advance(0);
  t.deepEqual(requests, ['calls 600000', 'actors 86400000', 'nodes 604800000']);
  await clock.advance(defaultLimits.housekeepingMs);
  t.is(requests.length, 6);
});

for (const table of ['calls', 'actors'] as const) {
  test(`old ${table} go as fast as they come, however many there are`, async (t) => {
    const rows = { calls: 0, actors: 0, [table]: 50_500 };
    const { clock } = keep(rows);
    await clock.advance(2_000);
    await drainPromises();
    t.is(rows[table], 0);
  });
}

test('nothing is removed once it has stopped', async (t) => {
  const { clock, requests, housekeeping } = keep({ calls: 0, actors: 0 });
  housekeeping.stop();
  await clock.advance(2 * defaultLimits.housekeepingMs);
  t.deepEqual(requests, []);
});
