import test from 'ava';
import { replayCommand } from './replay.ts';
import { simulate } from './world.ts';

/** `SIMULATION_SEEDS` asks for more; CI takes what fits into less than a minute. */
const seeds = Number(process.env['SIMULATION_SEEDS'] ?? 200);

test.serial(`the runtime keeps its promises under faults of every kind, ${seeds} times`, async (t) => {
  t.timeout(20 * 60_000);
  let commits = 0;
  for (let seed = 1; seed <= seeds; seed += 1) {
    const { violation, commits: more } = await simulate(seed, { trace: false });
    commits += more;
    if (violation === undefined) continue;
    t.fail(`${violation.checker}: ${violation.message}\nreplay: ${replayCommand(seed)}`);
    return;
  }
  console.log(`simulated ${seeds} seeds, ${commits} commits`);
  t.true(commits > seeds);
});

test.serial('a seed gives the same run every time', async (t) => {
  const first = await simulate(12, { trace: true });
  const second = await simulate(12, { trace: true });
  t.true(first.trace.length > 100);
  t.deepEqual(second.trace, first.trace);
});
