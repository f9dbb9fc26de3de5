import test from 'ava';
import { startMove, startMoveFromMariadb } from './moving.ts';
import { checkPitfalls, leavePitfalls } from './pitfalls.ts';

/** MariaDB takes a while to make its tables. */
const limitMs = 120_000;

test('from SQLite: what a long life leaves comes as it can, or is left out and counted', async (t) => {
  t.timeout(limitMs);
  const move = await startMove(t);
  const left = await leavePitfalls(move);
  const report = await move.pass(undefined, 65);
  t.true((await move.verify()).same);
  await checkPitfalls(t, move, left, report);
});

test('from MariaDB: likewise, by a password in a file', async (t) => {
  t.timeout(limitMs);
  const move = await startMoveFromMariadb(t);
  const left = await leavePitfalls(move);
  const report = await move.pass(undefined, 65);
  t.true((await move.verify()).same);
  await checkPitfalls(t, move, left, report);
});
