/** Starting the built server as a process in a group of its own, and ending what it may leave behind. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { chownSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { ExecutionContext } from 'ava';
import type { Account } from '../../runtime/store/embedded/account.ts';
import { isAlive } from './support.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** Inside the repository, so that the built files find their packages. */
export const buildDirectory = join(root, '.cache', 'process-test');
const startLimitMs = 90_000;

/** Builds what `npm start` would run, once for all tests of a file. */
export async function build(): Promise<void> {
  const compiler = join(root, 'node_modules', '.bin', 'tsc');
  const args = ['-p', 'tsconfig.build.json', '--outDir', buildDirectory];
  await promisify(execFile)(compiler, args, { cwd: root });
}

export interface Launch {
  readonly directory: string;
  readonly settings?: Readonly<Record<string, string>>;
  /** Who runs it, if not this process's user. */
  readonly account?: Pick<Account, 'spawn'>;
}

export interface LaunchedServer {
  readonly child: ChildProcess;
  /** Standard output and standard error so far. */
  output(): string;
  /** Null if a signal ended it. */
  readonly exitCode: Promise<number | null>;
}

/** Starts the process and does not wait for anything. */
export function launch(
  t: ExecutionContext,
  { directory, settings, account = { spawn } }: Launch,
): LaunchedServer {
  const child = account.spawn(process.execPath, [join(buildDirectory, 'main.js')], {
    cwd: directory,
    env: { PATH: process.env['PATH'], DATA_DIR: directory, PORT: '0', ADMIN_PORT: '0', ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let output = '';
  child.stdout?.on('data', (chunk) => {
    output += chunk;
  });
  child.stderr?.on('data', (chunk) => {
    output += chunk;
  });
  const exitCode = new Promise<number | null>((settle) => {
    child.once('close', (code) => settle(code));
  });
  t.teardown(() => {
    child.kill('SIGKILL');
    endLeftovers(directory);
  });
  return { child, output: () => output, exitCode };
}

/** Starts the process and waits until it tells its address. */
export async function started(t: ExecutionContext, options: Launch) {
  t.timeout(2 * startLimitMs);
  const server = launch(t, options);
  const told = new Promise<{ url: string; metricsUrl: string }>((settle, reject) => {
    const fail = (what: string) => reject(new Error(`The server ${what}:\n${server.output()}`));
    const alarm = setTimeout(() => fail(`was not ready after ${startLimitMs} ms`), startLimitMs);
    const look = () => {
      const url = /sync server: (\S+)/.exec(server.output())?.[1];
      const metricsUrl = /probes: (\S+)\n/.exec(server.output())?.[1];
      if (url === undefined || metricsUrl === undefined) return;
      clearTimeout(alarm);
      settle({ url, metricsUrl });
    };
    server.child.stdout?.on('data', look);
    void server.exitCode.then((code) => {
      clearTimeout(alarm);
      fail(`ended with ${code}`);
    });
  });
  return { ...server, ...(await told) };
}

/** An empty directory of the given user, removed after the test. */
export function dataDirectoryOf(t: ExecutionContext, owner?: { uid: number; gid: number }): string {
  const directory = mkdtempSync(join(tmpdir(), 'process-test-'));
  if (owner) chownSync(directory, owner.uid, owner.gid);
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** Ends a database that a killed server has left running; returns the processes it had to end. */
export function endLeftovers(directory: string): number[] {
  let pid: number;
  try {
    pid = Number.parseInt(readFileSync(join(directory, 'postgres', 'postmaster.pid'), 'utf8'), 10);
  } catch {
    return [];
  }
  if (!isAlive(pid)) return [];
  process.kill(pid, 'SIGKILL');
  return [pid];
}
