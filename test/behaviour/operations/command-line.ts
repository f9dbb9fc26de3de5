/** The operator command line as its users start it: built, as a separate process. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { root } from '../../kit/server-process.ts';

const run = promisify(execFile);

export interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export interface CommandLine {
  /** Runs one command to its end. */
  (args: readonly string[], settings?: Readonly<Record<string, string>>): Promise<Ended>;
  remove(): Promise<void>;
}

/** Builds it like `npm run build`, beside the modules that it needs. */
export async function buildCommandLine(): Promise<CommandLine> {
  const cache = join(root, '.cache');
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(join(cache, 'command-line-'));
  await run('node_modules/.bin/tsc', ['-p', 'tsconfig.build.json', '--outDir', folder], { cwd: root });
  const entry = join(folder, 'cli', 'main.js');
  const start = async (args: readonly string[], settings: Readonly<Record<string, string>> = {}) => {
    const env = { PATH: process.env['PATH'], ...settings };
    try {
      const { stdout, stderr } = await run(process.execPath, [entry, ...args], { env });
      return { code: 0, out: stdout, err: stderr };
    } catch (error) {
      const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
      return { code, out: stdout, err: stderr };
    }
  };
  return Object.assign(start, { remove: () => rm(folder, { recursive: true, force: true }) });
}
