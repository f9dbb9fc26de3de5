/** The built server as `npm start` runs it, on a scratch data directory, bounded in life by whoever started it. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startServerProcess } from '../../test/kit/server-process.ts';

export interface LoadServer {
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
  /** Ends it as `kill -9` does and starts it again on its data. */
  restart(): Promise<LoadServer>;
}

/** As `npm start` does after its build. */
const startCommand = ['dist/main.js'];
const settings = { LOG_LEVEL: 'warn', E2E_TESTING: 'true' };

export async function startBuiltServer(before?: string): Promise<LoadServer> {
  const dataDirectory = before ?? (await mkdtemp(join(tmpdir(), 'scriptorium-load-')));
  const { child, exitCode, ready } = startServerProcess({ entry: startCommand, dataDirectory, settings });
  const { url } = await ready();
  return {
    url,
    pid: child.pid ?? 0,
    async stop() {
      child.kill('SIGTERM');
      await exitCode;
      await rm(dataDirectory, { recursive: true, force: true });
    },
    async restart() {
      child.kill('SIGKILL');
      await exitCode;
      return startBuiltServer(dataDirectory);
    },
  };
}
