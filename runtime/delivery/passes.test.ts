import test from 'ava';
import { type DueShard, type Pass, Passes } from './passes.ts';

const everyMs = 3_000;
const owned = Array.from({ length: 16 }, (_, shard) => shard);

/** A backlog by shard, of which each pass takes what it may see. */
function drain(backlog: Map<number, number>) {
  const passes = new Passes(everyMs);
  const seen: Pass[] = [];
  let monotonicMs = 0;
  return {
    seen,
    passes,
    pass(afterMs = 5, nowMs = 1_000_000): readonly DueShard[] {
      monotonicMs += afterMs;
      const pass = passes.next({ owned, nowMs, monotonicMs, capacity: 128, extra: 0 });
      const rows = pass.shards.flatMap((shard) =>
        Array.from({ length: Math.min(pass.share, backlog.get(shard) ?? 0) }, () => ({
          shard,
          timeMs: 999_000,
        })),
      );
      const foundRows = rows.slice(0, pass.limit);
      for (const { shard } of foundRows) backlog.set(shard, (backlog.get(shard) ?? 0) - 1);
      passes.found(pass, foundRows);
      seen.push(pass);
      return foundRows;
    },
  };
}

test('the backlog of one shard is read whole sweeps at a time, and only there', (t) => {
  const { pass, passes, seen } = drain(new Map([[3, 1_000]]));
  pass();
  let rows = 8;
  while (passes.hasMore) rows += pass().length;
  t.is(rows, 1_000);
  t.true(seen.length <= 2 + 1_000 / 128 + 1, `${seen.length} passes`);
  t.deepEqual(seen[1]?.shards, [3]);
});

test('a shard with little waits for none with much', (t) => {
  const { pass } = drain(new Map([...owned.map((shard) => [shard, 10_000] as const), [7, 1]]));
  t.true(pass().some(({ shard }) => shard === 7));
});

test('however long a backlog lasts, all shards are covered at every few seconds', (t) => {
  const backlog = new Map([[3, 1_000_000]]);
  const { pass, seen } = drain(backlog);
  pass();
  backlog.set(5, 1);
  for (let passedMs = 0; passedMs <= everyMs; passedMs += 100) pass(100);
  t.is(backlog.get(5), 0);
  t.true(seen.filter(({ isWhole }) => isWhole).length <= 3);
});

test('a pass begins where nothing was left, well behind the time, and now and then at the beginning', (t) => {
  const { pass, passes, seen } = drain(new Map());
  pass();
  pass();
  t.deepEqual(
    seen.map(({ fromMs }) => fromMs),
    [0, 1_000_000 - 120_000],
  );
  passes.from(950_000);
  pass();
  t.is(seen.at(-1)?.fromMs, 880_000);
  passes.from(5_000);
  pass();
  t.is(seen.at(-1)?.fromMs, 5_000);
  pass(60_000);
  t.is(seen.at(-1)?.fromMs, 0);
});

test('the next pass begins with what the last one has left behind', (t) => {
  const passes = new Passes(everyMs);
  const pass = passes.next({ owned, nowMs: 1_000_000, monotonicMs: 0, capacity: 128, extra: 0 });
  t.true(passes.found(pass, [{ shard: 1, timeMs: 700_000 }]));
  t.is(passes.next({ owned, nowMs: 1_000_001, monotonicMs: 1, capacity: 128, extra: 0 }).fromMs, 700_000);
});

test('a timer that comes while a pass is read is not left behind', (t) => {
  const passes = new Passes(everyMs);
  const next = (monotonicMs: number) =>
    passes.next({ owned, nowMs: 1_000_000, monotonicMs, capacity: 128, extra: 0 });
  passes.found(next(0), []);
  const before = next(1);
  t.is(before.fromMs, 880_000);
  passes.from(0);
  passes.found(before, []);
  const after = next(2);
  t.is(after.fromMs, 0);
  t.true(after.isWhole);
});
