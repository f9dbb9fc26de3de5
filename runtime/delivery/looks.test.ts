import test from 'ava';
import { type Found, type Look, Looks } from './looks.ts';

const everyMs = 3_000;
const owned = Array.from({ length: 16 }, (_, shard) => shard);

/** A backlog by shard, of which each look takes what it may see. */
function drain(backlog: Map<number, number>) {
  const looks = new Looks(everyMs);
  const seen: Look[] = [];
  let monotonicMs = 0;
  return {
    seen,
    looks,
    look(afterMs = 5, nowMs = 1_000_000): readonly Found[] {
      monotonicMs += afterMs;
      const look = looks.next(owned, nowMs, monotonicMs, 128, 0);
      const rows = look.shards.flatMap((shard) =>
        Array.from({ length: Math.min(look.share, backlog.get(shard) ?? 0) }, () => ({
          shard,
          timeMs: 999_000,
        })),
      );
      const taken = rows.slice(0, look.limit);
      for (const { shard } of taken) backlog.set(shard, (backlog.get(shard) ?? 0) - 1);
      looks.found(look, taken);
      seen.push(look);
      return taken;
    },
  };
}

test('the backlog of one shard is read whole sweeps at a time, and only there', (t) => {
  const { look, looks, seen } = drain(new Map([[3, 1_000]]));
  look();
  let rows = 8;
  while (looks.hasMore) rows += look().length;
  t.is(rows, 1_000);
  t.true(seen.length <= 2 + 1_000 / 128 + 1, `${seen.length} looks`);
  t.deepEqual(seen[1]?.shards, [3]);
});

test('a shard with little waits for none with much', (t) => {
  const { look } = drain(new Map([...owned.map((shard) => [shard, 10_000] as const), [7, 1]]));
  t.true(look().some(({ shard }) => shard === 7));
});

test('however long a backlog lasts, all shards are looked at every few seconds', (t) => {
  const backlog = new Map([[3, 1_000_000]]);
  const { look, seen } = drain(backlog);
  look();
  backlog.set(5, 1);
  for (let passedMs = 0; passedMs <= everyMs; passedMs += 100) look(100);
  t.is(backlog.get(5), 0);
  t.true(seen.filter(({ isWhole }) => isWhole).length <= 3);
});

test('a look begins where nothing was left, well behind the time, and now and then at the beginning', (t) => {
  const { look, looks, seen } = drain(new Map());
  look();
  look();
  t.deepEqual(
    seen.map(({ fromMs }) => fromMs),
    [0, 1_000_000 - 120_000],
  );
  looks.from(950_000);
  look();
  t.is(seen.at(-1)?.fromMs, 880_000);
  looks.from(5_000);
  look();
  t.is(seen.at(-1)?.fromMs, 5_000);
  look(60_000);
  t.is(seen.at(-1)?.fromMs, 0);
});

test('what a look has left behind is where the next begins', (t) => {
  const looks = new Looks(everyMs);
  const look = looks.next(owned, 1_000_000, 0, 128, 0);
  t.true(looks.found(look, [{ shard: 1, timeMs: 700_000 }]));
  t.is(looks.next(owned, 1_000_001, 1, 128, 0).fromMs, 700_000);
});
