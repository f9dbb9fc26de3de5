/** Runs the command line from its source, as its own process. */
import { spawn } from 'node:child_process';
import { root } from '../kit/server-process.ts';

interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export type Settings = Readonly<Record<string, string>>;

/** Loaded before the command line: kills it with the line of its progress that begins like this. */
const dyingAt = (stage: string): string =>
  `data:text/javascript,${encodeURIComponent(`
  const write = process.stderr.write.bind(process.stderr);
  process.stderr.write = (text, ...more) => {
    if (String(text).startsWith(${JSON.stringify(stage)})) process.kill(process.pid, 'SIGKILL');
    return write(text, ...more);
  };
`)}`;

/** Runs the command line from its source, to its end or until it gets to this stage. */
export const scriptorium = (settings: Settings, args: readonly string[], deathAt?: string): Promise<Ran> =>
  ranSource(settings, ['cli/main.ts', ...args], deathAt);

export function ranSource(settings: Settings, args: readonly string[], deathAt?: string): Promise<Ran> {
  const { PATH = '', HOME = '' } = process.env;
  const loaded = ['--import=tsx', ...(deathAt === undefined ? [] : [`--import=${dyingAt(deathAt)}`])];
  const child = spawn(process.execPath, [...loaded, ...args], {
    cwd: root,
    env: { PATH, HOME, ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const written = { out: '', err: '' };
  child.stdout.on('data', (piece) => {
    written.out += piece;
  });
  child.stderr.on('data', (piece) => {
    written.err += piece;
  });
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, ...written })));
}
