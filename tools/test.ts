/**
 * `npm test`: type check, lint, every test and a part of the mutants, each counted, with `N passed, N failed` as the
 * last line. Nothing stops at the first failure. A test that is skipped has failed, unless it is one of
 * `expectedSkips`.
 *
 * Many tests start real processes, and a machine that stalls can fail one of them. So when only a few have failed,
 * their files run once more, alone. A test that passes then counts as passed. The last lines still name it and say
 * why it failed before, because somebody should find out.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { allMutants } from '../test/mutants/mutant.ts';
import { currentCommit, partOf } from '../test/mutants/rotation.ts';
import { tryMutants } from '../test/mutants/trial.ts';
import { builds, findOrMakePrograms } from './programs.ts';
import { Reasons } from './reasons.ts';
import { fileOfTest, tapReader } from './tap.ts';
import { seconds, slowestFiles } from './test-times.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const counts = { passed: 0, failed: 0 };
const skipped: string[] = [];
const failed: string[] = [];
const passedWhenRepeated: string[] = [];
const reasons = new Reasons();
const phases: string[] = [];
const testTimes = join(root, '.cache/test-times.jsonl');
const shownSlowestFiles = 15;
/** Tests of processes get copies of it. */
const builtServer = join(root, '.cache/server');

/** Failures in more files than these are not an accident of the machine. */
const maxRepeatedFiles = 3;

/** By title, with the reason why they cannot run on most machines. */
const expectedSkips = [
  {
    title: /cockroach: (the contract of the store|backups),/,
    because: 'no package brings CockroachDB along',
  },
];

function count(ok: boolean, title: string): void {
  counts[ok ? 'passed' : 'failed'] += 1;
  if (!ok) failed.push(title);
  console.log(`  ${ok ? '✔' : '✘'} ${title}`);
}

async function timed(phase: string, work: () => Promise<unknown>): Promise<void> {
  const startedMs = performance.now();
  await work();
  phases.push(`${phase} ${seconds(performance.now() - startedMs)} s`);
}

function explain(title: string, line: string): void {
  reasons.add(title, line);
  console.log(line);
}

/** Runs a program of node_modules and reads its output line by line. Resolves to its exit code. */
function run(
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  onLine: (line: string) => void,
  onErrorLine: (line: string) => void = (line) => console.error(line),
): Promise<number | null> {
  const child = spawn(`node_modules/.bin/${program}`, [...args], {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  createInterface({ input: child.stdout }).on('line', onLine);
  createInterface({ input: child.stderr }).on('line', onErrorLine);
  return new Promise((resolve) => {
    child.once('error', (error) => {
      console.error(`${program} could not be run: ${error.message}`);
      resolve(127);
    });
    child.once('close', (code) => resolve(code));
  });
}

async function check(title: string, program: string, args: readonly string[]): Promise<void> {
  const hear = (line: string) => explain(title, line);
  count((await run(program, args, {}, hear, hear)) === 0, title);
}

function checkBuild(title: string, build: () => void): void {
  try {
    build();
    count(true, title);
  } catch (error) {
    explain(title, (error as Error).message);
    count(false, title);
  }
}

async function runTests(env: Readonly<Record<string, string>>): Promise<void> {
  const failedTests: string[] = [];
  const reader = tapReader({
    passed: (title) => count(true, title),
    skipped: skip,
    failed: (title) => {
      failedTests.push(title);
      console.log(`  ✘ ${title}`);
    },
    reason: explain,
    other: (line) => console.log(line),
  });
  const code = await run('ava', ['--tap'], env, reader);
  await countRepeated(failedTests, env);
  if (code !== 0 && failedTests.length === 0) count(false, `the test runner ended with ${code}`);
}

async function countRepeated(
  titles: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<void> {
  const files = titles.map((title) => fileOfTest(title));
  const failing = new Set(files);
  const passing = new Set<string | undefined>();
  for (const file of failing.size > maxRepeatedFiles ? [] : failing) {
    if (file === undefined) continue;
    if ((await run('ava', [file], env, (line) => console.log(line))) === 0) passing.add(file);
  }
  titles.forEach((title, index) => {
    const passes = passing.has(files[index]);
    if (passes) passedWhenRepeated.push(title);
    count(passes, title);
  });
}

function tell(what: string, titles: readonly string[]): void {
  if (titles.length > 0) console.log(`${titles.length} ${what}: ${titles.join('; ')}`);
}

function skip(title: string): void {
  const expected = expectedSkips.find((skips) => skips.title.test(title));
  if (expected === undefined) {
    count(false, `${title} (skipped, which nobody expects)`);
    return;
  }
  skipped.push(`${title} (${expected.because})`);
  console.log(`  - ${title}`);
}

async function runMutants(): Promise<void> {
  const part = partOf(await allMutants(), currentCommit());
  await tryMutants(part, availableParallelism(), ({ name, harm }, verdict) => {
    const title = `the mutant ${name} is caught`;
    if (verdict.verdict === 'survived') explain(title, `No test notices: ${harm}`);
    if (verdict.verdict === 'void') explain(title, verdict.why);
    count(verdict.verdict === 'caught', title);
  });
}

/** Failures here are reported below, after the second try. */
function prepare(part: string): Promise<unknown> {
  return run('tsx', ['tools/prepare.ts', part], {}, (line) => console.log(line));
}

async function runChecks(): Promise<void> {
  // Several checkers at once each compute the same types anew. A single one takes less than half of the CPU.
  await check('type check', 'tsc', ['-p', 'tsconfig.json', '--singleThreaded']);
  await check('type check of what runs in browsers', 'tsc', ['-p', 'gateway/pages']);
  await check('type check of what runs in k6', 'tsc', ['-p', 'load-tests']);
  rmSync(builtServer, { recursive: true, force: true });
  await check('build of the server', 'tsc', ['-p', 'tsconfig.build.json', '--outDir', builtServer]);
  await check('build of the pages', 'tsx', ['tools/bundle-pages.ts', builtServer]);
  // One line for each that is found.
  await check('lint', 'biome', ['check', '--reporter=github', '.']);
  await check('no dead code', 'knip', ['--no-progress']);
  await check('lint of the gRPC contracts', 'buf', ['lint', 'proto']);
  await check('the gRPC contracts break nothing released', 'buf', [
    'breaking',
    'proto',
    '--against',
    'proto/released.binpb',
  ]);
}

function tellTimes(): void {
  const notes = existsSync(testTimes) ? readFileSync(testTimes, 'utf8') : '';
  console.log('The slowest test files:');
  for (const line of slowestFiles(notes, shownSlowestFiles)) console.log(`  ${line}`);
  console.log(`Phases: ${phases.join(', ')}`);
}

mkdirSync(dirname(testTimes), { recursive: true });
rmSync(testTimes, { force: true });
await check('code from the gRPC contracts', 'buf', ['generate', '--template', 'proto/buf.gen.yaml']);
const prepared = Promise.all([prepare('builds'), prepare('programs')]);
await timed('checks', runChecks);
await timed('the rest of the builds and downloads', () => prepared);
for (const [name, build] of Object.entries(builds)) checkBuild(`build of ${name}`, build);
const { found, problems } = findOrMakePrograms(process.env);
for (const problem of problems) console.error(problem);
await timed('tests', () => runTests({ ...found, TEST_TIMES: testTimes, BUILT_SERVER: builtServer }));
await timed('mutants', runMutants);

tellTimes();

for (const line of reasons.of([...passedWhenRepeated, ...failed])) console.log(line);
tell('skipped', skipped);
tell('passed only when repeated', passedWhenRepeated);
tell('failed', failed);
console.log(`${counts.passed} passed, ${counts.failed} failed`);
process.exitCode = counts.failed > 0 ? 1 : 0;
