/**
 * `npm run kubernetes`: makes a Kubernetes on this machine, installs the chart on it, and performs operators' actions
 * while people use it (docs/kubernetes.md). It takes root, half an hour, and the internet the first time. It ends
 * with 1 if anything was wrong.
 */
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { buildK6 } from '../../tools/programs.ts';
import { root } from '../kit/server-process.ts';
import { archivesOf, makeImages, serverImageMegabytes } from './machine/images.ts';
import { inside, makeNetworks, networks } from './machine/networks.ts';
import { findOrMakePrograms } from './machine/programs.ts';
import { type Circumstances, complaintsAbout, page, type TrialOptions, type TrialResult } from './report.ts';

const trialFile = fileURLToPath(new URL('./trial.ts', import.meta.url));
const reportFile = join(root, 'docs', 'kubernetes-run.md');

interface Options {
  readonly seed: string;
  readonly keep: boolean;
  readonly sameImages: boolean;
  readonly soak: string;
  readonly former?: string;
}

const { seed, keep, sameImages, soak, former } = new Command('kubernetes')
  .description('Installs the chart on a Kubernetes of this machine and disturbs it under load.')
  .option('--seed <number>', 'of the workload', '1')
  .option('--keep', 'keeps the history and the logs, and says where', false)
  .option('--soak <minutes>', 'goes on that long afterwards with what operators do every day', '0')
  .option('--former <commit>', 'begins with the server of that commit, and upgrades it to this one')
  .option('--same-images', 'takes those of the run before, whatever has changed since', false)
  .parse()
  .opts<Options>();

/** In the network of the first node. */
function trial(options: TrialOptions): Promise<TrialResult | undefined> {
  const [program = '', ...args] = [...inside(networks[0]), process.execPath, '--import=tsx', trialFile];
  const child = spawn(program, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  // The child ends its work, which takes a moment.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal));
  let outcome: TrialResult | undefined;
  child.once('message', (message: TrialResult) => {
    outcome = message;
  });
  child.send(options);
  return new Promise((resolve) => child.once('close', () => resolve(outcome)));
}

// At the beginning, as the images are of this one.
const commit = execFileSync('git', ['describe', '--always', '--dirty'], {
  cwd: root,
  encoding: 'utf8',
}).trim();
findOrMakePrograms();
buildK6();
console.log('Making the images ...');
const imageFolder = join(root, '.cache', 'kubernetes-images');
const archives = sameImages ? archivesOf(imageFolder) : makeImages(imageFolder, former);
const folder = mkdtempSync(join(tmpdir(), 'sk-'));
const removeNetworks = makeNetworks();
try {
  const outcome = await trial({ folder, archives, seed: Number(seed), soakMinutes: Number(soak) });
  if (outcome === undefined) throw new Error('the run came to no end');
  const date = new Date().toISOString().slice(0, 10);
  const imageMegabytes = serverImageMegabytes();
  const circumstances: Circumstances = { date, commit, former, seed: Number(seed), imageMegabytes };
  const text = page(outcome, circumstances);
  writeFileSync(reportFile, text);
  console.log(text);
  process.exitCode = complaintsAbout(outcome, circumstances).length === 0 ? 0 : 1;
} finally {
  removeNetworks();
  if (keep) console.log(`The history and the logs are in ${folder}`);
  else rmSync(folder, { recursive: true, force: true });
}
