/**
 * The one command of load tests (load-tests/README.md):
 *
 *   npm run load-test -- <scenario> [--profile smoke] [--nodes 1|3 | --url <gateway>… --users <file>] [--metrics-url <url>…]
 *   npm run load-test -- seed --url <gateway>… --users <file> [--profile full]
 *   npm run load-test -- archive <scenario> --url <gateway>… --users <file> --out <file> [--profile full]
 */
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { buildK6 } from '../tools/programs.ts';
import { archiveK6, keptBaseline, type LoadTest, runK6 } from './k6.ts';
import { durationSecondsOf, profileOf } from './profiles.ts';
import { scenarioNames, scriptOf } from './scenarios.ts';
import { seed, writeSeeded } from './seed.ts';
import { type Servers, startOneProcess, startThreeNodes } from './servers.ts';

const usage = `npm run load-test -- <scenario> [options]
  scenarios: ${scenarioNames.join(', ')}
npm run load-test -- seed --url <gateway> --users <file> [--profile <name>]
npm run load-test -- archive <scenario> --url <gateway> --users <file> --out <file> [options]

  --profile smoke|ci|full  how much, and for how long (smoke)
  --url <address>          a gateway, several times for several; without it, a server is started here
  --nodes 1|3              how many are started here (1; 3 for hand-over)
  --database <url>         the empty database of the one that is started here; without it, one of its own
  --users <file>           who was seeded there
  --metrics-url <address>  of a node, such as http://127.0.0.1:9090/metrics; several times for several
  --set NAME=VALUE         a setting of the run, such as PER_SECOND=50
  --halfway <command>      what a shell runs at half of the time, such as one that drains a node
  --report <path>          where the report goes, with .html and .json behind it
  --baseline <file>        the report of an earlier run to stand beside this one
  --keep                   keeps this run as the baseline of the repository`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    profile: { type: 'string' },
    url: { type: 'string', multiple: true, default: [] },
    nodes: { type: 'string' },
    database: { type: 'string' },
    users: { type: 'string' },
    'metrics-url': { type: 'string', multiple: true, default: [] },
    set: { type: 'string', multiple: true, default: [] },
    halfway: { type: 'string' },
    report: { type: 'string' },
    baseline: { type: 'string' },
    keep: { type: 'boolean', default: false },
    out: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});

const say = (text: string) => console.log(text);
const root = fileURLToPath(new URL('..', import.meta.url));
/** The output of `npm run build`. */
const dist = join(root, 'dist');
const builds = { current: dist, next: dist };

/** @throws Error, one line */
function required(name: 'users' | 'out'): string {
  const value = values[name];
  if (value === undefined) throw new Error(`--${name} is missing.`);
  return value;
}

/** @throws Error, one line */
function gateways(): readonly string[] {
  if (values.url.length === 0) throw new Error('--url is missing.');
  return values.url;
}

const profile = values.profile ?? 'smoke';

function settingsGiven(): Readonly<Record<string, string>> {
  return Object.fromEntries(
    values.set.map((text) => {
      const [, name, value] = /^(\w+)=(.*)$/.exec(text) ?? [];
      if (name === undefined || value === undefined)
        throw new Error(`--set takes NAME=VALUE, and got ${text}.`);
      return [name, value];
    }),
  );
}

const durationOf = (scenario: string): number =>
  Number(settingsGiven()['DURATION_SECONDS'] ?? durationSecondsOf(scenario, profile));

async function seedThere(): Promise<number> {
  const { population } = profileOf(profile);
  writeSeeded(required('users'), await seed({ urls: gateways(), population, onProgress: say }));
  return 0;
}

async function archive(scenario: string): Promise<number> {
  const { code, output } = await archiveK6(
    { ...commonOf(scenario), urls: gateways(), usersFile: required('users') },
    required('out'),
  );
  if (code !== 0) say(output);
  return code ?? 1;
}

const commonOf = (scenario: string) => ({
  scenario,
  profile,
  metricsUrls: values['metrics-url'],
  settings: settingsGiven(),
  ...(values.baseline !== undefined && { baselineFile: values.baseline }),
});

async function runHere(scenario: string): Promise<number> {
  const isHandOver = scenario === 'hand-over';
  const isCluster = (values.nodes ?? (isHandOver ? '3' : '1')) === '3';
  const servers = await (isCluster ? startThreeNodes(builds) : startOneProcess(builds, values.database));
  const folder = mkdtempSync(join(tmpdir(), 'scriptorium-load-test-'));
  try {
    const usersFile = join(folder, 'users.json');
    const { population } = profileOf(profile);
    writeSeeded(usersFile, await seed({ urls: servers.urls, population, onProgress: say }));
    return await run(
      { ...commonOf(scenario), ...addressesOf(servers), usersFile },
      isHandOver ? servers : undefined,
    );
  } finally {
    await servers.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

const addressesOf = ({ urls, metricsUrls }: Servers) => ({ urls, metricsUrls });

async function run(of: LoadTest, servers?: Servers): Promise<number> {
  const reportPath = values.report ?? join(root, '.cache', 'load-tests', `${of.scenario}-${of.profile}`);
  mkdirSync(dirname(reportPath), { recursive: true });
  const halfway = new AbortController();
  const running = runK6({ ...of, reportPath }, (text) => process.stdout.write(text));
  const [{ code }] = await Promise.all([
    running.finally(() => halfway.abort()),
    atHalfTime(durationOf(of.scenario), servers, halfway.signal),
  ]);
  say(`The report: ${reportPath}.html`);
  if (values.keep) keep(`${reportPath}.json`, keptBaseline(of), code === 0);
  return code ?? 1;
}

function keep(report: string, baseline: string, hasPassed: boolean): void {
  if (!hasPassed) {
    say('It has not passed, and is not kept as a baseline.');
    return;
  }
  mkdirSync(dirname(baseline), { recursive: true });
  // k6 indents the lines after an empty list as if they belonged to it.
  const json = JSON.stringify(JSON.parse(readFileSync(report, 'utf8')), undefined, 2);
  writeFileSync(baseline, `${json}\n`);
  say(`The baseline: ${baseline}`);
}

async function atHalfTime(
  durationSeconds: number,
  servers: Servers | undefined,
  signal: AbortSignal,
): Promise<void> {
  try {
    await pause((durationSeconds * 1_000) / 2, undefined, { signal, ref: false });
  } catch {
    return;
  }
  if (values.halfway !== undefined) spawn(values.halfway, { shell: true, stdio: 'inherit' });
  await servers?.handOver();
}

async function main(): Promise<number> {
  const [first, second] = positionals;
  if (values.help || first === undefined) {
    say(usage);
    return values.help ? 0 : 2;
  }
  if (first === 'seed') return seedThere();
  const scenario = first === 'archive' ? (second ?? '') : first;
  scriptOf(scenario);
  buildK6();
  if (first === 'archive') return archive(scenario);
  if (values.url.length === 0) return runHere(scenario);
  return run({ ...commonOf(scenario), urls: values.url, usersFile: required('users') });
}

try {
  process.exit(await main());
} catch (error) {
  console.error((error as Error).message);
  process.exit(2);
}
