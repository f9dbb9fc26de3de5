/** k6 as a process: a run, or an archive of one for other machines. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { k6Program } from '../tools/programs.ts';
import { durationSecondsOf } from './profiles.ts';
import { scriptOf } from './scenarios.ts';

export interface LoadTest {
  readonly scenario: string;
  readonly profile: string;
  readonly urls: readonly string[];
  readonly metricsUrls?: readonly string[];
  readonly usersFile: string;
  /** The path of the report, without extensions. */
  readonly reportPath?: string;
  /** Searched for if absent. */
  readonly baselineFile?: string;
  /** `PER_SECOND` and the others of load-tests/README.md, "Settings of a run". */
  readonly settings?: Readonly<Record<string, string>>;
}

export interface K6Result {
  /** 0 if all objectives hold, 99 if one does not. */
  readonly code: number | null;
  readonly output: string;
}

const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** `onOutput` gets its output while it runs. Nobody controls a run from outside, and several may run at once. */
export const runK6 = (of: LoadTest, onOutput: (text: string) => void = () => {}): Promise<K6Result> =>
  k6(['run', '--quiet', '--address', '', ...settingsOf(of), scriptOf(of.scenario)], onOutput);

/** One file with scripts, users and settings. Anyone who has it is signed in as those users. */
export const archiveK6 = (of: LoadTest, file: string): Promise<K6Result> =>
  k6(
    ['archive', '--quiet', '--archive-out', resolve(file), ...settingsOf(of), scriptOf(of.scenario)],
    () => {},
  );

/** The path is in the repository, and specific to the machine that made it. */
export const keptBaseline = ({ scenario, profile }: Pick<LoadTest, 'scenario' | 'profile'>): string =>
  fileURLToPath(new URL(`./baselines/${scenario}-${profile}.json`, import.meta.url));

function settingsOf(of: LoadTest): readonly string[] {
  const { urls, metricsUrls = [], usersFile, reportPath, baselineFile = keptBaseline(of) } = of;
  const settings: Readonly<Record<string, string>> = {
    PROFILE: of.profile,
    DURATION_SECONDS: String(durationSecondsOf(of.scenario, of.profile)),
    BASE_URLS: urls.join(','),
    METRICS_URLS: metricsUrls.join(','),
    USERS: resolve(usersFile),
    ...(existsSync(baselineFile) && { BASELINE: resolve(baselineFile) }),
    ...(reportPath !== undefined && { REPORT: resolve(reportPath) }),
    ...of.settings,
  };
  return Object.entries(settings).flatMap(([name, value]) => ['--env', `${name}=${value}`]);
}

function k6(args: readonly string[], onOutput: (text: string) => void): Promise<K6Result> {
  // It contacts nothing but the server.
  const env = { PATH: process.env['PATH'], HOME: process.env['HOME'], K6_NO_USAGE_REPORT: 'true' };
  const child = spawn(k6Program, [...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  running.add(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      onOutput(text);
    });
  }
  return new Promise((fulfil, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      running.delete(child);
      fulfil({ code, output });
    });
  });
}
