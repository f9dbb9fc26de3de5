/**
 * The server as a process, for tests that talk to it; tests about the life of the process itself are in
 * `test/process`.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export interface RunningServer {
  /** `http://localhost:<port>`: pages on other ports of localhost are of the same site. */
  url: string;
  /** What the server has logged as its own failure, line by line. */
  failures: readonly string[];
  /** Ends it as an operator does, waits for its end and removes its data. @throws Error if it had to be killed */
  stop(): Promise<void>;
}

const root = fileURLToPath(new URL('../..', import.meta.url));
/** A first start initialises a database, on a machine that is busy with other tests. */
const startLimitMs = 60_000;
const stopLimitMs = 30_000;
const outputLinesMax = 200;

/**
 * Starts the server as its one command does, on an empty data directory and free ports.
 *
 * @param settings environment variables of the server, beyond those every test server has
 * @param onLine gets every line of its output as it comes
 * @throws Error with the end of its output when it does not become ready
 */
export async function startServer(
  settings: Record<string, string> = {},
  onLine: (line: string) => void = () => {},
): Promise<RunningServer> {
  const dataDir = await mkdtemp(join(tmpdir(), 'scriptorium-'));
  const child = spawn(process.execPath, ['--import=tsx', 'main.ts'], {
    cwd: root,
    env: { ...inherited(), HOST: '127.0.0.1', PORT: '0', ADMIN_PORT: '0', DATA_DIR: dataDir, ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const failures: string[] = [];
  const stop = async (): Promise<void> => {
    try {
      await end(child, dataDir);
    } finally {
      await rm(dataDir, { recursive: true, force: true });
    }
  };
  try {
    return { url: `http://localhost:${await readyPort(child, failures, onLine)}`, failures, stop };
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

/** Reads the output for the address, and for as long as the server runs for failures. */
function readyPort(child: ChildProcess, failures: string[], onLine: (line: string) => void): Promise<string> {
  return new Promise((resolve, reject) => {
    const lines: string[] = [];
    const fail = (what: string): void =>
      reject(new Error(`The server ${what}. The end of its output:\n${lines.join('\n')}`));
    const timer = setTimeout(() => fail(`was not ready after ${startLimitMs} ms`), startLimitMs);
    const read = (line: string): void => {
      onLine(line);
      lines.push(line);
      if (lines.length > outputLinesMax) lines.shift();
      if (/"level":"(error|fatal)"/.test(line)) failures.push(line);
      const port = /sync server: http:\/\/127\.0\.0\.1:(\d+)/.exec(line)?.[1];
      if (port === undefined) return;
      clearTimeout(timer);
      resolve(port);
    };
    for (const input of [child.stdout, child.stderr]) if (input) createInterface({ input }).on('line', read);
    child.once('exit', (code) => {
      clearTimeout(timer);
      fail(`ended with code ${code}`);
    });
  });
}

async function end(child: ChildProcess, dataDir: string): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), stopLimitMs);
  await ended;
  clearTimeout(timer);
  if (child.signalCode !== 'SIGKILL') return;
  await endDatabase(dataDir);
  throw new Error(`The server did not end within ${stopLimitMs} ms of SIGTERM.`);
}

/** The database of a server that was killed goes on by itself. */
async function endDatabase(dataDir: string): Promise<void> {
  const pidFile = await readFile(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').catch(() => '');
  const pid = Number.parseInt(pidFile, 10);
  if (pid > 0) process.kill(pid, 'SIGQUIT');
}
