/** The built server as a process, one for each test, ended with the test. */
import { execFile } from 'node:child_process';
import { chownSync, mkdtempSync, rmSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { ExecutionContext } from 'ava';
import {
  endLeftovers,
  root,
  type ServerProcess,
  type ServerProcessOptions,
  startServerProcess,
} from './server-process.ts';

/**
 * Inside the repository, so that the built files find their packages. Only for this process, because others build
 * beside it.
 */
export const buildDirectory = join(root, '.cache', `process-test-${process.pid}`);
process.once('exit', () => rmSync(buildDirectory, { recursive: true, force: true }));
const testLimitMs = 180_000;

/** Builds what `npm start` would run, once for all tests of a file. */
export const build = (): Promise<void> => buildServer(buildDirectory);

/** `npm test` builds it once for all files, and each gets a copy. */
export async function buildServer(directory: string): Promise<void> {
  const built = process.env['BUILT_SERVER'];
  if (built !== undefined) return cp(built, directory, { recursive: true });
  const run = (program: string, ...args: readonly string[]) =>
    promisify(execFile)(join(root, 'node_modules', '.bin', program), args, { cwd: root });
  await run('tsc', '-p', 'tsconfig.build.json', '--outDir', directory);
  await run('tsx', 'tools/bundle-pages.ts', directory);
}

/** Runs the built command line on a database, like an operator without a running node. */
export async function commandLine(
  url: string,
  ...args: readonly string[]
): Promise<{ code: number; out: string; err: string }> {
  const entry = join(buildDirectory, 'cli', 'main.js');
  const env = { PATH: process.env['PATH'], DATABASE_URL: url };
  try {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [entry, ...args], { env });
    return { code: 0, out: stdout, err: stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, out: stdout, err: stderr };
  }
}

export type Launch = { readonly directory: string } & Pick<ServerProcessOptions, 'settings' | 'account'>;

/** Starts the process without waiting for anything. */
export function launch(t: ExecutionContext, { directory, ...options }: Launch): ServerProcess {
  const entry = [join(buildDirectory, 'main.js')];
  const server = startServerProcess({ entry, dataDirectory: directory, cwd: directory, ...options });
  t.teardown(() => {
    server.child.kill('SIGKILL');
    endLeftovers(directory);
  });
  return server;
}

/** Starts the process and waits until it prints its address. */
export async function started(t: ExecutionContext, options: Launch) {
  t.timeout(testLimitMs);
  const server = launch(t, options);
  return { ...server, ...(await server.ready()) };
}

/** An empty directory of the given user, removed after the test. */
export function dataDirectoryOf(t: ExecutionContext, owner?: { uid: number; gid: number }): string {
  const directory = mkdtempSync(join(tmpdir(), 'process-test-'));
  if (owner) chownSync(directory, owner.uid, owner.gid);
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}
