/**
 * The running server, for tests that talk to it; tests about the life of the process itself are in `test/behaviour/process`.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runs } from './built.ts';
import { endLeftovers, type ServerProcess, startServerProcess } from './server-process.ts';

export interface RunningServer {
  /** `http://localhost:<port>`: pages on other ports of localhost are of the same site. */
  url: string;
  dataDirectory: string;
  /** The failures that the server has logged, line by line. */
  failures: readonly string[];
  /**
   * Ends it like `kill -9`, lets `meanwhile` work on its data, and starts it again. Its port must be among the
   * settings.
   */
  crash(meanwhile: (dataDirectory: string) => unknown): Promise<void>;
  /** Ends it like an operator, waits for its end and removes its data. @throws Error if it had to be killed */
  stop(): Promise<void>;
}

const stopLimitMs = 30_000;

/**
 * Starts the server as its one command does, on an empty data directory and free ports.
 *
 * @param settings environment variables of the server, beyond those every test server has
 * @param onLine gets every line of its output as it comes
 * @throws Error with the end of its output when it does not become ready
 */
export async function startServer(
  settings: Readonly<Record<string, string>> = {},
  onLine: (line: string) => void = () => {},
): Promise<RunningServer> {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'scriptorium-'));
  const failures: string[] = [];
  const begin = () =>
    startServerProcess({
      entry: runs('main.ts'),
      dataDirectory,
      settings,
      onLine(line) {
        onLine(line);
        if (/"level":"(error|fatal)"/.test(line)) failures.push(line);
      },
    });
  let server = begin();
  const crash: RunningServer['crash'] = async (meanwhile) => {
    server.child.kill('SIGKILL');
    await server.exitCode;
    await meanwhile(dataDirectory);
    server = begin();
    await server.ready();
  };
  const stop = async (): Promise<void> => {
    try {
      await end(server, dataDirectory);
    } finally {
      await rm(dataDirectory, { recursive: true, force: true });
    }
  };
  try {
    const { url } = await server.ready();
    return { url: url.replace('127.0.0.1', 'localhost'), dataDirectory, failures, crash, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function end({ child, exitCode }: ServerProcess, dataDirectory: string): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), stopLimitMs);
  await exitCode;
  clearTimeout(timer);
  if (child.signalCode !== 'SIGKILL') return;
  endLeftovers(dataDirectory);
  throw new Error(`The server did not end within ${stopLimitMs} ms of SIGTERM.`);
}
