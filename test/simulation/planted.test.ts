import test from 'ava';
import { simulatorOf } from './plant.ts';
import { plantedBugs } from './planted/mod.ts';

const seedsMax = 200;

for (const bug of await plantedBugs()) {
  test.serial(`the checkers catch the planted bug ${bug.name}`, async (t) => {
    t.timeout(5 * 60_000);
    const simulate = await simulatorOf(bug);
    for (let seed = 1; seed <= seedsMax; seed += 1) {
      const { violation } = await simulate(seed, { trace: false, flavour: bug.flavour });
      if (violation === undefined) continue;
      t.log(`caught by ${violation.checker} in seed ${seed}: ${violation.message}`);
      t.pass();
      return;
    }
    t.fail(`not caught in ${seedsMax} seeds. ${bug.why}`);
  });
}
