/**
 * How blobs in a folder become durable (decision 44):
 *
 *   given its name --a moment later--> synced, while the next chunk comes --persisted--> the folders that lead to it, too
 *
 * - A blob whose sync fails is removed. The system may have dropped the data that it could not write, and reports that only once.
 * - The process does not sync again what it has seen synced. It syncs the blobs of another process, or of an earlier run, when they
 *   are persisted, and compares their length. That length is true, as file systems by default write data before the length.
 * - Folders are synced even if they were there before, as another write may have made them and not persisted yet.
 * - In a folder that nodes share, a blob and its folders are durable before anybody hears of it.
 */
import { dirname, join } from 'node:path';
import type { Clock } from '../../runtime/clock.ts';
import { type FileCalls, FileWork, keyOfBlob } from './file-calls.ts';
import { type FileSystem, type OpenFile, unless } from './file-system.ts';
import { FileStoreError, noop, type WrittenBlob } from './store.ts';

export interface DurabilityOptions {
  readonly folder: string;
  readonly fs: FileSystem;
  readonly calls: FileCalls;
  readonly clock: Clock;
}

/** The sync of a blob that has its name. */
interface Sync {
  /** Starts the sync at once. */
  begin(): void;
  readonly finished: Promise<void>;
}

/** Each name takes some hundred bytes. A forgotten blob is synced once more, which does no harm. */
const namesMax = 20_000;
/** The commit that names the blob comes next and needs the disk too. A client waits for that commit, so the sync waits. */
const delayMs = 3;

export class Durability {
  readonly #options: DurabilityOptions;
  /** Syncs in progress, by upload. */
  readonly #syncs = new Map<string, Set<Sync>>();
  readonly #synced = new Set<string>();
  /** Blobs that are durable, with their folders. */
  readonly #durable = new Set<string>();
  readonly #failed = new Set<string>();

  constructor(options: DurabilityOptions) {
    this.#options = options;
  }

  /** Syncs a blob that has its name, and closes it. If that fails, the blob is not among the synced ones. */
  begin(name: string, file: OpenFile): void {
    const upload = dirname(name);
    const syncs = this.#syncs.get(upload) ?? new Set();
    this.#syncs.set(upload, syncs);
    let begin = noop;
    const started = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const cancel = this.#options.clock.schedule(delayMs, begin);
    const finished = started
      .then(cancel)
      .then(() => this.#syncSeparately(name, file))
      .then(() => remember(this.#synced, name), noop)
      .then(() => {
        syncs.delete(sync);
        if (syncs.size === 0) this.#syncs.delete(upload);
      });
    const sync: Sync = { begin, finished };
    syncs.add(sync);
  }

  /** Resolves once all syncs of the upload of this blob are over. */
  async before(name: string): Promise<void> {
    await hurried(this.#syncs.get(dirname(name)) ?? []);
  }

  /** Syncs a blob that has its name, with its folders. */
  async now(name: string, file: OpenFile, stop: FileWork): Promise<void> {
    await this.#sync(name, file, stop);
    await this.#syncFoldersOf(name, stop);
    remember(this.#durable, name);
  }

  /** @throws FileStoreError `missing` if a blob is not there, or not whole */
  async persist(blobs: readonly WrittenBlob[], stop: FileWork): Promise<void> {
    const left = blobs.filter(({ name }) => !this.#durable.has(name));
    const [first] = left;
    if (first !== undefined) {
      await this.#options.calls.inTime(() => this.before(first.name), stop);
      for (const blob of left) if (!this.#synced.has(blob.name)) await this.#syncAgain(blob, stop);
      await this.#syncFoldersOf(first.name, stop);
    }
    this.forget(blobs.map(({ name }) => name));
  }

  forget(names: readonly string[]): void {
    for (const name of names) {
      this.#synced.delete(name);
      this.#durable.delete(name);
    }
  }

  async settle(): Promise<void> {
    await Promise.all([...this.#syncs.values()].map(hurried));
  }

  /** Finishes even after the store is closed, so that no acknowledged blob is lost. */
  async #syncSeparately(name: string, file: OpenFile): Promise<void> {
    try {
      await this.#sync(name, file, new FileWork(keyOfBlob(name)));
    } finally {
      await this.#options.calls.cleanUp(() => file.close());
    }
  }

  async #sync(name: string, file: OpenFile, stop: FileWork): Promise<void> {
    const { calls, fs, folder } = this.#options;
    await calls.make(async () => {
      try {
        await file.sync();
      } catch (error) {
        remember(this.#failed, name);
        await fs.unlink(join(folder, name));
        throw error;
      }
    }, stop);
  }

  async #syncAgain({ name, bytes }: WrittenBlob, stop: FileWork): Promise<void> {
    const { calls, fs, folder } = this.#options;
    const path = join(folder, name);
    const found = await calls.make(() => fs.stat(path), stop).catch(unless('ENOENT'));
    const isLost = found?.bytes !== bytes || this.#failed.has(name);
    if (isLost) throw new FileStoreError('missing', new Error('the blob is not whole'));
    const file = await calls.make(() => fs.open(path), stop);
    try {
      await calls.make(() => file.sync(), stop);
    } finally {
      await calls.cleanUp(() => file.close());
    }
  }

  async #syncFoldersOf(name: string, stop: FileWork): Promise<void> {
    const { calls, fs, folder } = this.#options;
    const upload = dirname(join(folder, name));
    for (const each of [upload, dirname(upload), folder]) await calls.make(() => fs.syncFolder(each), stop);
  }
}

async function hurried(syncs: Iterable<Sync>): Promise<void> {
  await Promise.all(
    [...syncs].map((sync) => {
      sync.begin();
      return sync.finished;
    }),
  );
}

function remember(names: Set<string>, name: string): void {
  names.add(name);
  const [oldest] = names;
  if (names.size > namesMax && oldest !== undefined) names.delete(oldest);
}
