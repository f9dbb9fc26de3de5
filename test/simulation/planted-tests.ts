import test from 'ava';
import { type PlantedBug, simulatorOf } from './plant.ts';

const seedsMax = 400;

/** One test for each planted bug: the checkers catch it within this many seeds. */
export function declarePlantedTests(bugs: readonly PlantedBug[]): void {
  for (const bug of bugs) {
    test.serial(`the checkers catch the planted bug ${bug.name}`, async (t) => {
      t.timeout(5 * 60_000);
      const simulate = await simulatorOf(bug);
      const from = bug.from ?? 1;
      for (let seed = from; seed < from + seedsMax; seed += 1) {
        const { violation } = await simulate(seed, { trace: false, flavour: bug.flavour });
        if (violation === undefined) continue;
        t.log(`caught by ${violation.checker} in seed ${seed}: ${violation.message}`);
        t.pass();
        return;
      }
      t.fail(`not caught in ${seedsMax} seeds. ${bug.why}`);
    });
  }
}
