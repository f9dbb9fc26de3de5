/** A temporary folder that only its user can read. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The signals by which users, terminals and service managers end a command. */
const endings = ['SIGHUP', 'SIGINT', 'SIGTERM'] as const;

/** Makes a folder that exists while `work` runs. A signal that ends the process removes it first. */
export async function withTemporaryFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'scriptorium-import-'));
  const remove = (): void => {
    for (const signal of endings) process.off(signal, endBy);
    rmSync(folder, { recursive: true, force: true });
  };
  const endBy = (signal: NodeJS.Signals): void => {
    remove();
    // Nobody handles it any more, so it ends the process, and its parent can tell by what.
    process.kill(process.pid, signal);
  };
  for (const signal of endings) process.on(signal, endBy);
  try {
    return await work(folder);
  } finally {
    remove();
  }
}
