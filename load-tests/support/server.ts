/** The built server as `npm start` runs it, on a scratch data directory, bounded in life by whoever started it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = new URL('../..', import.meta.url).pathname;
const readyLimitMs = 60_000;

export interface LoadServer {
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
  /** Ends it as `kill -9` does and starts it again on its data. */
  restart(): Promise<LoadServer>;
}

const settings = { HOST: '127.0.0.1', PORT: '0', ADMIN_PORT: '0', LOG_LEVEL: 'warn', E2E_TESTING: 'true' };

export async function startBuiltServer(dataDirectory?: string): Promise<LoadServer> {
  const data = dataDirectory ?? (await mkdtemp(join(tmpdir(), 'scriptorium-load-')));
  const child = spawn(process.execPath, ['dist/main.js'], {
    cwd: root,
    env: { PATH: process.env['PATH'] ?? '', ...settings, DATA_DIR: data },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const url = await listening(child);
  const end = (signal: NodeJS.Signals) =>
    new Promise<void>((resolve) => {
      if (child.exitCode !== null || child.signalCode !== null) return resolve();
      child.once('exit', () => resolve());
      child.kill(signal);
    });
  return {
    url,
    pid: child.pid ?? 0,
    async stop() {
      await end('SIGTERM');
      await rm(data, { recursive: true, force: true });
    },
    async restart() {
      await end('SIGKILL');
      return startBuiltServer(data);
    },
  };
}

function listening(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = '';
    const timer = setTimeout(() => reject(new Error(`not ready in time:\n${output}`)), readyLimitMs);
    child.stdout?.on('data', (chunk: Buffer) => {
      output = (output + chunk).slice(-8_192);
      const port = /http:\/\/127\.0\.0\.1:(\d+)/.exec(output)?.[1];
      if (port === undefined) return;
      clearTimeout(timer);
      resolve(`http://127.0.0.1:${port}`);
    });
    child.once('exit', (code) => reject(new Error(`ended with code ${code}:\n${output}`)));
  });
}
