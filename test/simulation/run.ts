/**
 * Runs the simulator:
 *
 *     node --import=tsx test/simulation/run.ts --seeds 1000 [--seed N] [--from N] [--plant NAME] [--trace LINES]
 *         [--flavour sleepy|crashy|cluster|partitioned|planned|sticky|troubled|delivery|vaults|lane]
 */
import { parseArgs } from 'node:util';
import { isFlavour } from './plan.ts';
import { simulatorOf } from './plant.ts';
import { plantedBugs } from './planted/mod.ts';
import { replayCommand } from './replay.ts';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '100' },
    from: { type: 'string', default: '1' },
    seed: { type: 'string' },
    plant: { type: 'string' },
    flavour: { type: 'string' },
    trace: { type: 'string', default: '300' },
  },
});

if (values.flavour !== undefined && !isFlavour(values.flavour)) throw new Error('no such flavour');
const flavour = values.flavour;
const first = Number(values.seed ?? values.from);
const count = values.seed === undefined ? Number(values.seeds) : 1;
const bug = Object.values(plantedBugs)
  .flat()
  .find(({ name }) => name === values.plant);
if (values.plant !== undefined && bug === undefined)
  throw new Error(`there is no planted bug ${values.plant}`);
const simulate = await simulatorOf(bug);
const startedMs = performance.now();
let commits = 0;
for (let seed = first; seed < first + count; seed += 1) {
  const { violation, commits: more } = await simulate(seed, { trace: false, flavour });
  commits += more;
  if (violation === undefined) continue;
  const { trace } = await simulate(seed, { trace: true, flavour });
  console.log(trace.slice(-Number(values.trace)).join('\n'));
  console.log(`\nseed ${seed} violates ${violation.checker}: ${violation.message}`);
  console.log(`replay: ${replayCommand(seed, flavour, values.plant)}`);
  process.exitCode = 1;
  break;
}
const seconds = (performance.now() - startedMs) / 1_000;
if (process.exitCode === undefined) {
  console.log(`simulated ${count} seeds, ${commits} commits in ${seconds.toFixed(1)} s, nothing violated`);
}
