/**
 * The data directory's record of the process that used it last, so that the next one need not wait for its lease.
 *
 * A process writes down the incarnation that it is about to register. The next process that holds the lock of the
 * directory finds that record, unless the former one ended cleanly. The former process is dead, so the next one gives
 * up its lease on its behalf.
 *
 * Invariants
 * - A record counts only where it was written: it names the directory by the machine's boot, the device and the
 *   inode. A copy of the directory is another one, whose lock says nothing about the process that wrote the record.
 *   While that process lives, its lock keeps the inode from being used again, also when the directory was removed.
 * - The lease is given up by the incarnation's own name, so it can only be that one's. Whatever it still sends is
 *   refused, as from any incarnation that was declared dead.
 * - The record is there before its incarnation is registered. It is replaced only after the lease of the former run
 *   was given up. A crash in between leaves a record of an unregistered incarnation, or none: then the next process
 *   waits the lease out.
 *
 * A process that closes removes its record before it releases the lock, because it is not dead yet. The next process
 * waits out any lease that it could not give up itself.
 */
import { stat } from 'node:fs/promises';
import type { Logger } from '../runtime/ports.ts';
import type { Store } from '../runtime/store/store.ts';
import type { DataDirectory } from './data-directory.ts';
import { type Machine, thisMachine } from './machine.ts';

const recordName = 'last-run';

interface Run {
  readonly nodeId: string;
  readonly incarnation: string;
}

interface LastRunRecord extends Run {
  readonly directoryId: string;
}

export interface LastRunOptions {
  /** Its lock is held. */
  readonly directory: Pick<DataDirectory, 'path' | 'find' | 'replace' | 'forget'>;
  readonly nodeId: string;
  readonly logger: Logger;
  readonly machine?: Machine;
}

export class LastRun {
  readonly #options: LastRunOptions;
  /** Undefined: the directory cannot be told from a copy. */
  readonly #directoryId: string | undefined;
  readonly #dead: Run | undefined;
  #hasRemembered = false;

  private constructor(options: LastRunOptions, directoryId: string | undefined, dead: Run | undefined) {
    this.#options = options;
    this.#directoryId = directoryId;
    this.#dead = dead;
  }

  static async open(options: LastRunOptions): Promise<LastRun> {
    const { directory } = options;
    const directoryId = await directoryIdOf(directory.path, options.machine ?? (await thisMachine()));
    const record = recordOf(await directory.find(recordName));
    return new LastRun(
      options,
      directoryId,
      record !== undefined && record.directoryId === directoryId ? record : undefined,
    );
  }

  /** Whether the record names a dead process, whose lease may still run. */
  get hasDeadRun(): boolean {
    return this.#dead !== undefined;
  }

  /** Frees the leases of a dead process. @throws StoreError */
  async giveUp(store: Pick<Store, 'leave'>): Promise<void> {
    if (this.#dead === undefined) return;
    const { nodeId, incarnation } = this.#dead;
    await store.leave(nodeId, incarnation);
    this.#options.logger.info(
      { nodeId },
      'the former process of this directory is dead; its lease was given up',
    );
  }

  /** Call when this incarnation is about to be registered. */
  async remember(incarnation: string): Promise<void> {
    const { directory, nodeId } = this.#options;
    if (this.#directoryId === undefined) return;
    const record: LastRunRecord = { directoryId: this.#directoryId, nodeId, incarnation };
    this.#hasRemembered = true;
    await directory.replace(recordName, JSON.stringify(record));
  }

  /** This process lives on without the lock. A record that it found and did not replace stays for the next one. */
  async forget(): Promise<void> {
    if (this.#hasRemembered) await this.#options.directory.forget(recordName);
  }
}

async function directoryIdOf(path: string, { boot }: Machine): Promise<string | undefined> {
  if (boot === undefined) return undefined;
  const { dev, ino, birthtimeNs } = await stat(path, { bigint: true });
  return [boot, dev, ino, birthtimeNs].join(' ');
}

/** Undefined if there is none, or none that this release understands. */
function recordOf(text: string | undefined): LastRunRecord | undefined {
  if (text === undefined) return undefined;
  try {
    const { directoryId, nodeId, incarnation } = JSON.parse(text);
    const isWhole = [directoryId, nodeId, incarnation].every((field) => typeof field === 'string');
    return isWhole ? { directoryId, nodeId, incarnation } : undefined;
  } catch {
    return undefined;
  }
}
