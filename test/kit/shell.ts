/** Runs commands as if typed into a shell. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { root } from './server-process.ts';

export interface ShellOptions {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
}

const outputBytesMax = 64 * 1024 * 1024;

/** Resolves to their output. The first failure ends them. @throws Error with its output */
export async function shell(
  commands: string,
  { cwd = root, env = process.env }: ShellOptions = {},
): Promise<string> {
  try {
    const options = { cwd, env, maxBuffer: outputBytesMax };
    return (await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', commands], options)).stdout;
  } catch (error) {
    const { stderr, stdout } = error as { stderr?: string; stdout?: string };
    throw new Error(`${commands}: ${stderr || stdout || error}`);
  }
}
