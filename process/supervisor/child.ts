/** Runs the server as a child process. It passes signals on, and takes over the server's exit code. */
import { spawn } from 'node:child_process';
import { constants } from 'node:os';

const forwarded = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;
/** A shell's convention for a program that a signal ended. */
const signalledCode = 128;

/**
 * Resolves to the exit code once the operating system says that the server is dead. The channel between the two carries nothing:
 * it closes with the supervisor, and the server then shuts down (`main.ts`).
 */
export function runServer(entry: string): Promise<number> {
  const child = spawn(process.execPath, [...process.execArgv, entry], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  });
  for (const signal of forwarded) process.on(signal, () => child.kill(signal));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) =>
      resolve(code ?? signalledCode + (signal === null ? 0 : constants.signals[signal])),
    );
  });
}
