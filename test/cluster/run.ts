/**
 * `npm run nemesis -- --minutes 60 --seed 7`: rounds of all disturbances for that time, and their figures. A run that
 * finds something wrong ends with 1 and names its seed, its history and the logs of its nodes.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import { root } from '../kit/server-process.ts';
import { buildAfter, buildTwice, plantedBugs } from './build.ts';
import { lineOf, summary, table } from './report.ts';
import { runTrial } from './trial.ts';

function whole(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new InvalidArgumentError('is not a whole number above 0');
  return value;
}

type Numbers = Record<'minutes' | 'seed' | 'leaseMs' | 'users' | 'devices' | 'circles' | 'pauseMs', number>;

const { minutes, seed, leaseMs, users, devices, circles, pauseMs, planted, former } = new Command('nemesis')
  .description('Disturbs a cluster of three nodes under load, and judges what its clients were told.')
  .option('--minutes <number>', 'how long', whole, 10)
  .option('--seed <number>', 'of the plan of disturbances and of the workload', whole, 1)
  .option('--lease-ms <number>', 'the length of a lease', whole, 4_000)
  .option('--users <number>', 'how many users', whole, 12)
  .option('--devices <number>', 'how many devices each of them has', whole, 2)
  .option('--circles <number>', 'how many circles of people who share vaults and keep files', whole, 2)
  .option('--pause-ms <number>', 'between two actions of a device, on average', whole, 200)
  .addOption(new Option('--planted <bug>', 'must be found').choices(Object.keys(plantedBugs)))
  .option(
    '--former <commit>',
    'upgrades nodes from the server of this commit and back, instead of from their own',
  )
  .parse()
  .opts<Numbers & { planted?: keyof typeof plantedBugs; former?: string }>();

const directory = join(root, '.cache', `nemesis-${seed}-${Date.now()}`);
mkdirSync(directory, { recursive: true });
console.log(`Seed ${seed}, ${minutes} minutes; history and logs are kept in ${directory}`);
const builds = await (former === undefined ? buildTwice('nemesis') : buildAfter(former, 'nemesis'));
if (planted !== undefined) await plantedBugs[planted](builds);
const overMs = performance.now() + minutes * 60_000;
const isOver = (): boolean => performance.now() > overMs;
const verdict = await runTrial({
  builds,
  seed,
  leaseMs,
  users,
  devicesOfEach: devices,
  circles,
  pauseMs,
  directory,
  disturb: async (nemesis) => {
    while (!isOver()) await nemesis.round(isOver);
  },
  onDone: (disturbed, tally) => console.log(lineOf(disturbed, tally)),
});
console.log(`\n${table(verdict.disturbed, verdict.tally)}\n\n${summary(verdict)}`);
const isWrong = verdict.violations.length + verdict.complaints.length > 0;
if (isWrong) console.log(`Seed ${seed}; the history is ${verdict.historyFile}`);
process.exit(isWrong ? 1 : 0);
