/** The command line of load tests, as load-tests/README.md tells to use it, on a server that is there already. */
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import test, { type ExecutionContext } from 'ava';
import { buildK6, k6Program } from '../../tools/k6.ts';
import { build, dataDirectoryOf, started } from '../kit/built-server.ts';
import { root } from '../kit/server-process.ts';

const limitMs = 180_000;
const run = promisify(execFile);

test.before(async (t) => {
  t.timeout(limitMs);
  buildK6();
  await build();
});

interface Ran {
  readonly code: number;
  readonly out: string;
}

async function ran(program: string, args: readonly string[]): Promise<Ran> {
  try {
    const { stdout } = await run(program, [...args], { cwd: root, maxBuffer: 16 * 1024 * 1024 });
    return { code: 0, out: stdout };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, out: `${stdout}${stderr}` };
  }
}

const loadTest = (...args: readonly string[]): Promise<Ran> =>
  ran(process.execPath, ['--import=tsx', 'load-tests/run.ts', ...args]);

function temporaryFolder(t: ExecutionContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'load-test-command-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const short = ['DURATION_SECONDS=5', 'PER_SECOND=8', 'P99_MS=20000', 'ERRORS=0.02', 'DROPPED=1'].flatMap(
  (setting) => ['--set', setting],
);

test('users are seeded, a server is loaded as they do, and an archive is run in segments', async (t) => {
  const server = await started(t, { directory: dataDirectoryOf(t), settings: { E2E_TESTING: 'true' } });
  const folder = temporaryFolder(t);
  const [users, report, happened] = ['users.json', 'report', 'happened'].map((name) =>
    join(folder, name),
  ) as [string, string, string];
  const there = ['--url', server.url, '--users', users, '--metrics-url', server.metricsUrl];

  const seeded = await loadTest('seed', '--profile', 'smoke', '--url', server.url, '--users', users);
  t.is(seeded.code, 0, seeded.out);
  t.is(statSync(users).mode & 0o777, 0o600, 'it holds sessions');

  const halfway = `touch ${happened}`;
  const loaded = await loadTest('spike', ...there, '--report', report, '--halfway', halfway, ...short);
  t.is(loaded.code, 0, loaded.out);
  t.regex(loaded.out, /spike \(smoke, 5 s\): PASSED/);
  t.true(existsSync(happened));
  t.is(JSON.parse(readFileSync(`${report}.json`, 'utf8')).run.durationSeconds, 5);

  const archive = join(folder, 'load-test.tar');
  const archived = await loadTest('archive', 'hand-over', ...there, '--out', archive, ...short);
  t.is(archived.code, 0, archived.out);
  rmSync(users);
  const segments = ['0/2:1/2', '1/2:2/2'].map((segment) =>
    ran(k6Program, [
      ...['run', '--quiet', '--execution-segment', segment, '--execution-segment-sequence', '0,1/2,2/2'],
      archive,
    ]),
  );
  for (const { code, out } of await Promise.all(segments)) {
    t.is(code, 0, out);
    t.regex(out, /<!doctype html>[\s\S]*<strong>passed<\/strong>[\s\S]*<\/html>/);
  }
});

test('what is missing or is none is said in a line', async (t) => {
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
    out: `There is no scenario stampede: files, first-sync, hand-over, reconnect-storm, sign-in-wave, soak, spike, steady-mix.\n`,
  });
  t.deepEqual(profile, { code: 2, out: 'There is no profile huge: smoke, ci, full.\n' });
  t.deepEqual(users, { code: 2, out: '--users is missing.\n' });
});
