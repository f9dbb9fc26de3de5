import test, { type ExecutionContext } from 'ava';
import type { Flavour } from './plan.ts';
import { replayCommand } from './replay.ts';
import { simulate } from './world.ts';

/** `SIMULATION_SEEDS` runs more; CI runs what fits into less than a minute. */
const seedsText = process.env['SIMULATION_SEEDS'];
const seeds = Number(seedsText ?? 200);
/** Half a second each: mails that the queue puts off keep them going for a simulated hour. */
const deliverySeeds = Number(seedsText ?? 20);
/** A fifth of a second each. */
const vaultSeeds = Number(seedsText ?? 50);
/** The same here. */
const laneSeeds = Number(seedsText ?? 20);
/** More than a second each. */
const troubledSeeds = Number(seedsText ?? 10);

async function simulateAll(t: ExecutionContext, seeds: number, flavour?: Flavour): Promise<void> {
  t.timeout(20 * 60_000);
  let commits = 0;
  for (let seed = 1; seed <= seeds; seed += 1) {
    const { violation, commits: more } = await simulate(seed, { trace: false, flavour });
    commits += more;
    if (violation === undefined) continue;
    t.fail(`${violation.checker}: ${violation.message}\nreplay: ${replayCommand(seed, flavour)}`);
    return;
  }
  console.log(`simulated ${seeds} seeds, ${commits} commits`);
  t.true(commits > seeds);
}

test.serial(`the runtime keeps its promises under faults of every kind, ${seeds} times`, (t) =>
  simulateAll(t, seeds),
);

test.serial(`mails and shares arrive as promised under the same faults, ${deliverySeeds} times`, (t) =>
  simulateAll(t, deliverySeeds, 'delivery'),
);

test.serial(
  `items of vaults are neither lost nor doubled nor shown to others under them, ${vaultSeeds} times`,
  (t) => simulateAll(t, vaultSeeds, 'vaults'),
);

test.serial(
  `a named command has one effect, over the lane and over HTTP, and is told as it is, ${laneSeeds} times`,
  (t) => simulateAll(t, laneSeeds, 'lane'),
);

test.serial(`nobody notices the trouble of a part that is not theirs, ${troubledSeeds} times`, (t) =>
  simulateAll(t, troubledSeeds, 'troubled'),
);

for (const flavour of [undefined, 'lane'] as const) {
  test.serial(
    `a seed gives the same run every time${flavour === undefined ? '' : `, also of ${flavour}`}`,
    async (t) => {
      const first = await simulate(12, { trace: true, flavour });
      const second = await simulate(12, { trace: true, flavour });
      t.true(first.trace.length > 100);
      t.deepEqual(second.trace, first.trace);
    },
  );
}
