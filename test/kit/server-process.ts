/**
 * The server as a process: started, read until it prints its addresses, and ended with everything that it may leave
 * behind.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { SystemAccount } from '../../process/postgres/account.ts';

export const root = fileURLToPath(new URL('../..', import.meta.url));
/** A first start initialises a database, on a machine that is busy with other tests. */
const startLimitMs = 90_000;
const outputLinesMax = 500;
/** A server under test contacts nobody beyond this machine. */
const nothingOutside = { CODE_HOST_API_URL: 'http://127.0.0.1:9' };

export interface ServerProcessOptions {
  /** What Node runs: the built entry, or the source with its loader. */
  readonly entry: readonly string[];
  readonly dataDirectory: string;
  readonly cwd?: string;
  readonly settings?: Readonly<Record<string, string>>;
  /** The user that runs it, if not this process's. */
  readonly account?: Pick<SystemAccount, 'spawn'> | undefined;
  /** Gets every line of its output as it comes. */
  readonly onLine?: (line: string) => void;
}

export interface ServerProcess {
  readonly child: ChildProcess;
  /** The last lines of standard output and standard error. */
  output(): string;
  /** Null if a signal ended it. */
  readonly exitCode: Promise<number | null>;
  /** Rejects with the output if the process ends, or is silent for too long. */
  ready(): Promise<{ readonly url: string; readonly metricsUrl: string }>;
}

/** Starts the process, in a group of its own, without waiting for anything. */
export function startServerProcess(options: ServerProcessOptions): ServerProcess {
  const { entry, dataDirectory, cwd = root, settings, account = { spawn }, onLine = () => {} } = options;
  const child = account.spawn(process.execPath, [...entry], {
    cwd,
    env: {
      ...inherited(),
      HOST: '127.0.0.1',
      PORT: '0',
      ADMIN_PORT: '0',
      DATA_DIR: dataDirectory,
      ...nothingOutside,
      ...settings,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const lines: string[] = [];
  const listeners = new Set<() => void>();
  const read = (line: string): void => {
    onLine(line);
    lines.push(line);
    if (lines.length > outputLinesMax) lines.shift();
    for (const listener of listeners) listener();
  };
  for (const input of [child.stdout, child.stderr]) if (input) createInterface({ input }).on('line', read);
  const output = () => lines.join('\n');
  const exitCode = new Promise<number | null>((fulfil) => {
    child.once('close', (code) => fulfil(code));
  });
  return { child, output, exitCode, ready: () => addresses(listeners, output, exitCode) };
}

/** Only what a program needs to run: no setting of the machine leaks into the server under test. */
function inherited(): NodeJS.ProcessEnv {
  const names = ['PATH', 'HOME', 'TMPDIR', 'LANG'].filter((name) => process.env[name] !== undefined);
  return Object.fromEntries(names.map((name) => [name, process.env[name]]));
}

function addresses(listeners: Set<() => void>, output: () => string, exitCode: Promise<number | null>) {
  return new Promise<{ url: string; metricsUrl: string }>((fulfil, reject) => {
    const fail = (what: string) =>
      reject(new Error(`The server ${what}. The end of its output:\n${output()}`));
    const alarm = setTimeout(() => fail(`was not ready after ${startLimitMs} ms`), startLimitMs);
    const check = () => {
      const url = /sync server: (\S+)/.exec(output())?.[1];
      const metricsUrl = /probes: (\S+)/.exec(output())?.[1];
      if (url === undefined || metricsUrl === undefined) return;
      clearTimeout(alarm);
      listeners.delete(check);
      fulfil({ url, metricsUrl });
    };
    listeners.add(check);
    check();
    void exitCode.then((code) => {
      clearTimeout(alarm);
      fail(`ended with code ${code}`);
    });
  });
}

/** The process of the embedded database under a data directory, according to its own file. */
export function postmasterOf(dataDirectory: string): number | undefined {
  try {
    const pid = Number.parseInt(readFileSync(join(dataDirectory, 'postgres', 'postmaster.pid'), 'utf8'), 10);
    return pid > 0 ? pid : undefined;
  } catch {
    return undefined;
  }
}

/** Ends a database that a killed server has left running; returns the processes that it had to end. */
export function endLeftovers(dataDirectory: string): number[] {
  const pid = postmasterOf(dataDirectory);
  if (pid === undefined || !isAlive(pid)) return [];
  process.kill(pid, 'SIGKILL');
  return [pid];
}

/** Whether a process runs; an ended process that was not reaped does not. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return process.platform !== 'linux';
  }
}
