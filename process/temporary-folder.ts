/** Temporary folders of commands. Only their user can read them, and they are gone when the command ends, also by a signal. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { unlessAborted } from '../runtime/clock.ts';

/** The signals by which users, terminals and service managers end a command. */
const endings = ['SIGHUP', 'SIGINT', 'SIGTERM'] as const;

interface FolderOptions {
  /** The name begins so. */
  readonly prefix: string;
  readonly parent?: string | undefined;
}

/** Settles like `work`, or is rejected once a signal is to end the process. */
export type UnlessInterrupted = <T>(work: Promise<T>) => Promise<T>;

/**
 * Makes a folder that exists while `work` runs. A signal rejects what waits in `unlessInterrupted`, so that `work` ends what it has
 * begun. Then the folder is removed, and the signal ends the process. A second signal does so without waiting for `work`.
 */
export async function withTemporaryFolder<T>(
  { prefix, parent = tmpdir() }: FolderOptions,
  work: (folder: string, unlessInterrupted: UnlessInterrupted) => Promise<T>,
): Promise<T> {
  const folder = mkdtempSync(join(parent, prefix));
  const interruption = new AbortController();
  let endedBy: NodeJS.Signals | undefined;
  const remove = (): void => {
    for (const signal of endings) process.off(signal, interrupt);
    rmSync(folder, { recursive: true, force: true });
    // Nobody handles the signal any more, so it ends the process, and its parent can tell by what.
    if (endedBy !== undefined) process.kill(process.pid, endedBy);
  };
  const interrupt = (signal: NodeJS.Signals): void => {
    const isSecond = endedBy !== undefined;
    endedBy = signal;
    interruption.abort();
    if (isSecond) remove();
  };
  for (const signal of endings) process.on(signal, interrupt);
  try {
    return await work(folder, (waiting) => unlessAborted(waiting, interruption.signal));
  } finally {
    remove();
  }
}
