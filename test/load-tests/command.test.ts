/** The command line of load tests, used as load-tests/README.md says, on an existing server. */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import test, { type ExecutionContext } from 'ava';
import { reportIn } from '../../load-tests/report/page.ts';
import { buildK6, k6Program } from '../../tools/programs.ts';
import { commandsOf, replaced } from '../documentation/commands.ts';
import { Sandbox } from '../documentation/sandbox.ts';
import { build, dataDirectoryOf, started } from '../kit/built-server.ts';
import { root } from '../kit/server-process.ts';
import { unbuilt } from './unbuilt.ts';

const limitMs = 180_000;

test.before(async (t) => {
  t.timeout(limitMs);
  buildK6();
  await build();
});

const short =
  '--set DURATION_SECONDS=5 --set PER_SECOND=8 --set P99_MS=20000 --set ERRORS=0.02 --set DROPPED=1';

const { install, firstRun } = commandsOf('load-tests/README.md', 'The first run', ['install', 'firstRun']);
const { seed, load, startHostsAnew } = commandsOf('load-tests/README.md', 'Against an installation', [
  'seed',
  'load',
  'startHostsAnew',
]);
const { keepBaselines } = commandsOf('load-tests/README.md', 'Baselines of your own', ['keepBaselines']);
const { soak } = commandsOf('load-tests/README.md', 'How to size', ['soak']);
const { archive, copy, runFirst, runSecond } = commandsOf('load-tests/README.md', 'From several machines', [
  'archive',
  'copy',
  'runFirst',
  'runSecond',
]);

const { readPages } = commandsOf('load-tests/README.md', 'In Kubernetes', [
  'letIn',
  'seed',
  'makeArchive',
  'makeSecret',
  'turnOn',
  'awaitEnd',
  'readPages',
  'listPods',
  'turnOff',
]);

/** The pods of the Job, whose logs are k6's output there. */
const podsWithLogs = `
case "$3 $4" in
  'get pods') echo pod/load-test-0; echo pod/load-test-1;;
  'logs pod/load-test-0') exec k6 run --quiet --execution-segment-sequence 0,1/2,2/2 --execution-segment 0/2:1/2 load-test.tar;;
  'logs pod/load-test-1') exec k6 run --quiet --execution-segment-sequence 0,1/2,2/2 --execution-segment 1/2:2/2 load-test.tar;;
esac`;

/** Folders here. */
const machines = ['one.example.org', 'two.example.org'];

/** Where the commands of the document run, with the installed k6. Other machines are folders. */
function sandboxOf(t: ExecutionContext): Sandbox {
  const sandbox = new Sandbox(t);
  const folder = join(sandbox.path, relative(root, dirname(k6Program)));
  mkdirSync(dirname(folder), { recursive: true });
  symlinkSync(dirname(k6Program), folder);
  sandbox.addProgram('k6', `K6_NO_USAGE_REPORT=true exec ${k6Program} "$@"`);
  sandbox.addProgram('scp', 'exec cp "$1" "$(basename "$2" :)"');
  sandbox.addProgram('ssh', 'cd "$1" && shift && exec sh -c "$*"');
  return sandbox;
}

const textIn = ({ path }: Sandbox, file: string): string => readFileSync(join(path, file), 'utf8');

test.serial(
  'runs without an installation start a server, load it and leave a page, and those that pass may be kept as baselines',
  async (t) => {
    t.timeout(limitMs);
    const sandbox = sandboxOf(t);
    t.regex(await sandbox.run(`${install}\n${firstRun} ${short}`), /steady-mix \(smoke, 5 s\): PASSED/);
    t.regex(textIn(sandbox, '.cache/load-tests/steady-mix-smoke.html'), /<strong>passed<\/strong>/);

    const keep = replaced(keepBaselines, {
      ...unbuilt,
      'steady-mix spike first-sync sign-in-wave reconnect-storm sync-lane hand-over files': 'spike',
      '--profile ci --keep': `--keep ${short}`,
    });
    await sandbox.run(keep);
    t.is(JSON.parse(textIn(sandbox, 'load-tests/baselines/spike-smoke.json')).run.scenario, 'spike');
    const again = sandbox.run(replaced(keep, { 'P99_MS=20000': 'P99_MS=0.001' }));
    await t.throwsAsync(again, { message: /FAILED[\s\S]*is not kept as a baseline/ });
    t.regex(textIn(sandbox, '.cache/load-tests/spike-smoke.html'), /Beside it: the baseline of/);

    const alone = replaced(firstRun, { ...unbuilt, 'steady-mix': 'hand-over --nodes 1' });
    const error = await t.throwsAsync(sandbox.run(`${alone} ${short}`));
    t.regex(error?.message ?? '', /: One process has nobody to hand over to: --nodes 3\.\n$/);
    t.notRegex(error?.message ?? '', /^ {4}at /m, 'it ends in a line, without a stack trace');
  },
);

test.serial('an installation is loaded by seeded users, from here and from other machines', async (t) => {
  const server = await started(t, { directory: dataDirectoryOf(t), settings: { E2E_TESTING: 'true' } });
  const sandbox = sandboxOf(t);
  const own = { ...unbuilt, 'https://notes.example.org': server.url };
  const smoke = '--profile smoke';
  const full = { ...own, '--profile full': smoke };
  const ofNodes = {
    'http://10.0.0.11:9090/metrics': server.metricsUrl,
    'http://10.0.0.12:9090/metrics': server.metricsUrl,
  };

  await sandbox.run(replaced(seed, full));
  t.is(statSync(join(sandbox.path, 'users.json')).mode & 0o777, 0o600, 'it holds sessions');

  const halfway = {
    'kubectl --namespace notes rollout restart statefulset/notes-scriptorium-hosts': 'touch happened',
  };
  const ran = await Promise.all([
    sandbox.run(`${replaced(load, { ...full, ...ofNodes })} ${short}`),
    sandbox.run(`${replaced(startHostsAnew, { ...own, '--profile ci': smoke, ...halfway })} ${short}`),
    sandbox.run(`${replaced(soak, full)} ${short}`),
  ]);
  for (const said of ran) t.regex(said, /^(?:steady-mix|hand-over|soak) \(smoke, 5 s\): PASSED$/m);
  t.true(existsSync(join(sandbox.path, 'happened')), 'at half of the time');
  t.is(JSON.parse(textIn(sandbox, '.cache/load-tests/soak-smoke.json')).run.durationSeconds, 5);

  await sandbox.run(`${replaced(archive, full)} ${short}`);
  rmSync(join(sandbox.path, 'users.json'));
  for (const machine of machines) mkdirSync(join(sandbox.path, machine));
  await sandbox.run([copy, runFirst, runSecond, 'wait'].join('\n'));
  const pages = machines.map((machine) => textIn(sandbox, `${machine}/report.html`));
  // Half of the rate each, of which half may be dropped.
  for (const report of pages.map(reportIn)) {
    t.is(report?.run.perSecond, 4);
    t.is(report?.objectives.find(({ metric }) => metric === 'dropped_iterations')?.threshold, 'rate<=4');
  }
  sandbox.addProgram('kubectl', podsWithLogs);
  await sandbox.run(readPages);
  for (const pod of [0, 1]) pages.push(textIn(sandbox, `load-test-${pod}.html`));
  for (const html of pages)
    t.regex(html, /^<!doctype html>[\s\S]*<strong>passed<\/strong>[\s\S]*<\/html>\n?$/);

  await t.throwsAsync(sandbox.run('k6 run --quiet load-test.tar'), {
    message: /made for 2 machines, and runs here as the whole/,
  });
});

interface Ran {
  readonly code: number;
  readonly out: string;
}

async function loadTest(...args: readonly string[]): Promise<Ran> {
  const all = ['--import=tsx', 'load-tests/run.ts', ...args];
  try {
    return { code: 0, out: (await promisify(execFile)(process.execPath, all, { cwd: root })).stdout };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, out: `${stdout}${stderr}` };
  }
}

test('a missing or invalid option is reported in a line', async (t) => {
  t.timeout(limitMs);
  const [nothing, scenario, profile, users] = await Promise.all([
    loadTest(),
    loadTest('stampede', '--url', 'http://127.0.0.1:9'),
    loadTest('seed', '--profile', 'huge', '--url', 'http://127.0.0.1:9', '--users', 'none.json'),
    loadTest('spike', '--url', 'http://127.0.0.1:9'),
  ]);
  t.is(nothing.code, 2);
  t.regex(nothing.out, /^npm run load-test -- <scenario>/);
  t.deepEqual(scenario, {
    code: 2,
    out: `There is no scenario stampede: files, first-sync, hand-over, reconnect-storm, sign-in-wave, soak, spike, steady-mix, sync-lane.\n`,
  });
  t.deepEqual(profile, { code: 2, out: 'There is no profile huge: smoke, ci, full.\n' });
  t.deepEqual(users, { code: 2, out: '--users is missing.\n' });
});
