import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface RunningServer {
  /** `http://localhost:<port>`: pages on other ports of localhost are of the same site. */
  url: string;
  /** Ends it as an operator does, waits for its end and removes its data. */
  stop(): Promise<void>;
}

const root = fileURLToPath(new URL('../..', import.meta.url));
/** A first start initialises a database, on a machine that is busy with other tests. */
const startLimitMs = 60_000;
const stopLimitMs = 20_000;

/**
 * Starts the server as its one command does, on an empty data directory and a free port.
 *
 * @param settings environment variables of the server, beyond those every test server has
 * @throws Error with the end of its output when it does not become ready
 */
export async function startServer(settings: Record<string, string> = {}): Promise<RunningServer> {
  const dataDir = await mkdtemp(join(tmpdir(), 'scriptorium-'));
  const child = spawn(process.execPath, ['--import=tsx', 'main.ts'], {
    cwd: root,
    env: { ...inherited(), HOST: '127.0.0.1', PORT: '0', ADMIN_PORT: '0', DATA_DIR: dataDir, ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const stop = async (): Promise<void> => {
    await end(child);
    await rm(dataDir, { recursive: true, force: true });
  };
  try {
    return { url: `http://localhost:${await readyPort(child)}`, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Only what a program needs to run: no setting of the machine leaks into the server under test. */
function inherited(): NodeJS.ProcessEnv {
  const names = ['PATH', 'HOME', 'TMPDIR', 'LANG'];
  return Object.fromEntries(names.map((name) => [name, process.env[name]]));
}

function readyPort(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = '';
    const fail = (what: string): void => reject(new Error(`The server ${what}. Its output:\n${output}`));
    const timer = setTimeout(() => fail(`was not ready after ${startLimitMs} ms`), startLimitMs);
    const read = (chunk: Buffer): void => {
      output = (output + chunk).slice(-8_192);
      const port = /sync server: http:\/\/127\.0\.0\.1:(\d+)/.exec(output)?.[1];
      if (port === undefined) return;
      clearTimeout(timer);
      resolve(port);
    };
    child.stdout?.on('data', read);
    child.stderr?.on('data', read);
    child.once('exit', (code) => {
      clearTimeout(timer);
      fail(`ended with code ${code}`);
    });
  });
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), stopLimitMs);
  await ended;
  clearTimeout(timer);
}
