/**
 * The store of files in a folder: `<folder>/<owner>/<upload>/<blob>`.
 *
 * A write, and what a crash leaves at each step:
 *
 *   1. The store refuses it unless there is room for all announced bytes, besides the reserve. It sets room aside for at most
 *      `namelessBytesMax` of a write at first, and for the rest once the name is known. A crash leaves nothing.
 *   2. The body goes into a draft, `<folder>/incoming/node-<node>/<random>`, while its name may still be on its way. A crash leaves
 *      the draft, which the next start of this node removes.
 *   3. The draft gets its name, and the write resolves. A crash leaves the whole blob. A power cut leaves the draft, the part of
 *      the blob that was on the disk by then, or nothing.
 *   4. While the next chunk comes the blob is synced, and once it is persisted it is durable (`durability.ts`).
 *
 * In a folder that nodes share, 4 comes before the write resolves. In a folder of one node, the next write of an upload waits for
 * the sync of the previous one. So at most one acknowledged chunk per upload is not yet synced, and `persist` has little left to do.
 *
 * A removal also removes empty folders. If a write has just found one of them, giving the name fails and is tried again. A removal
 * is not synced: if a crash brings a blob back, the sweep removes it.
 *
 * After an abort the caller returns at once. The system call finishes in the background, and the clean-up follows it.
 */
import { dirname, join, resolve } from 'node:path';
import { type Clock, unlessAborted } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import type { FairnessKey } from '../queue.ts';
import { Durability } from './durability.ts';
import { FileCalls, FileWork, keyOfBlob, serverKey } from './file-calls.ts';
import {
  codeOf,
  type FileSystem,
  fileStoreErrorOf,
  nodeFileSystem,
  type OpenFile,
  unless,
} from './file-system.ts';
import { largePieces } from './pieces.ts';
import {
  announced,
  type ByteRange,
  checkBlobName,
  checkList,
  checkRange,
  FileStoreError,
  isBlobName,
  isPrefix,
  type ListOptions,
  type Naming,
  nameFrom,
  noop,
  type OpenFileStore,
  type StoreCondition,
  type StoredBlob,
  type WriteOptions,
  type WrittenBlob,
} from './store.ts';

export interface LocalDiskOptions {
  readonly folder: string;
  /** Bytes to leave free on the disk, which the database may be on too. */
  readonly reserveBytes: number;
  /** Drafts under this id at startup come from an earlier run. Other nodes may use the same folder. */
  readonly nodeId: string;
  /** Nodes of other machines may use the folder. They do not share this machine's page cache, and it may fail independently. */
  readonly isShared: boolean;
  readonly clock: Clock;
  readonly random: Random;
  readonly fs?: FileSystem;
}

/** Large enough to amortise a call, small enough for many streams. */
const writtenPieceBytes = 262_144;
/** A reader has two of these: one that it consumes, and one that is filled meanwhile. */
const readPieceBytes = 524_288;
/** Bytes of a draft without a name, at most: somewhat more than clients send in a chunk. */
const namelessBytesMax = 8 * 1_048_576;
/** The age at which any node removes the draft of another, counted from the last write to it. */
const abandonedDraftAgeMs = 86_400_000;
/** Attempts to give a draft its name. Each fails only if a removal comes in between. */
const placingTriesMax = 10;

interface DraftWrite {
  readonly draft: string;
  readonly naming: Promise<string>;
  readonly body: AsyncIterable<Uint8Array>;
  readonly work: FileWork;
  /** Reserves room for the bytes beyond those of a draft without a name. @throws FileStoreError if there is none */
  onNamed(): Promise<void>;
  onWritten(bytes: number): void;
}

/** Makes the folder if it is absent, and removes drafts that a crash has left. Rejects if that is not possible. */
export async function openLocalDisk(options: LocalDiskOptions): Promise<OpenFileStore> {
  const disk = new LocalDisk(options);
  await disk.prepare();
  return disk;
}

class LocalDisk implements OpenFileStore {
  readonly #folder: string;
  readonly #drafts: string;
  readonly #ownDrafts: string;
  readonly #reserveBytes: number;
  readonly #isShared: boolean;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #fs: FileSystem;
  readonly #calls: FileCalls;
  readonly #durability: Durability;
  /** The work in progress, which the end of the store aborts. */
  readonly #works = new Set<FileWork>();
  /** All writes in progress, with those that no caller waits for any more. */
  readonly #writes = new Set<Promise<unknown>>();
  /** Bytes that writes have reserved and not written yet. */
  #pendingBytes = 0;
  #freeBytes: number | undefined;

  constructor(options: LocalDiskOptions) {
    const { folder, reserveBytes, nodeId, isShared, clock, random, fs = nodeFileSystem } = options;
    this.#folder = resolve(folder);
    this.#drafts = join(this.#folder, 'incoming');
    // The prefix is needed, because a node may be called `..`.
    this.#ownDrafts = join(this.#drafts, `node-${nodeId}`);
    this.#reserveBytes = reserveBytes;
    this.#isShared = isShared;
    this.#clock = clock;
    this.#random = random;
    this.#fs = fs;
    this.#calls = new FileCalls(clock);
    this.#durability = new Durability({ folder: this.#folder, fs, calls: this.#calls, clock });
  }

  async prepare(): Promise<void> {
    const fs = this.#fs;
    await fs.makeFolder(this.#ownDrafts);
    // If the parent is unreadable, this process did not create it, so it needs no sync.
    await fs.syncFolder(dirname(this.#folder)).catch(unless('EACCES'));
    for (const node of await fs.entriesOf(this.#drafts)) await this.#clear(join(this.#drafts, node));
  }

  get freeBytes(): number | undefined {
    return this.#freeBytes;
  }

  async write(
    naming: Naming,
    body: AsyncIterable<Uint8Array>,
    { owner, bytes, signal }: WriteOptions,
  ): Promise<void> {
    const name = nameFrom(naming);
    const work = this.#begin([owner], signal);
    // If no name arrives, abort.
    name.catch((error) => work.byCaller(error));
    const writing = this.#write(name, announced(body, { bytes, signal: work.signal }), bytes, work);
    const over: Promise<unknown> = writing.catch(noop).then(() => this.#writes.delete(over));
    this.#writes.add(over);
    try {
      await unlessAborted(writing, work.signal);
    } catch (error) {
      throw fileStoreErrorOf(error);
    } finally {
      this.#end(work);
    }
  }

  persist(blobs: readonly WrittenBlob[]): Promise<void> {
    for (const { name } of blobs) checkBlobName(name);
    return this.#withoutCaller((work) => this.#durability.persist(blobs, work));
  }

  async *read(name: string, range: ByteRange, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    checkBlobName(name);
    checkRange(range);
    const work = this.#begin(keyOfBlob(name), signal);
    const opening = this.#call(() => this.#fs.open(join(this.#folder, name)), work);
    let lastCall: Promise<unknown> = opening;
    try {
      const file = await unlessAborted(opening, work.signal);
      const capacity = Math.min(readPieceBytes, range.end - range.start);
      let [into, other] = [Buffer.allocUnsafeSlow(capacity), Buffer.allocUnsafeSlow(capacity)];
      const ask = (at: number): Promise<number> => {
        const target = into.subarray(0, Math.min(capacity, range.end - at));
        const call = this.#call(() => file.read(target, at), work);
        call.catch(noop);
        lastCall = call;
        return call;
      };
      for (let at = range.start, reading = ask(at); at < range.end; ) {
        const bytes = await unlessAborted(reading, work.signal);
        if (bytes === 0) throw new FileStoreError('missing', new Error('the blob is shorter than the range'));
        const piece = into.subarray(0, bytes);
        at += bytes;
        [into, other] = [other, into];
        // Reads the next piece while the reader has this one.
        if (at < range.end) reading = ask(at);
        yield piece;
      }
    } catch (error) {
      throw codeOf(error) === 'ENOENT' ? new FileStoreError('missing', error) : fileStoreErrorOf(error);
    } finally {
      this.#end(work);
      // The file may not be closed while a read is in progress.
      const close = () => opening.then((file) => file.close());
      lastCall.then(close, close).catch(noop);
    }
  }

  async remove(names: readonly string[]): Promise<void> {
    for (const name of names) checkBlobName(name);
    this.#durability.forget(names);
    await this.#withoutCaller(async (work) => {
      for (const name of names) {
        const path = join(this.#folder, name);
        await this.#call(() => this.#fs.unlink(path), work).catch(unless('ENOENT'));
      }
      const uploads = new Set(names.map((name) => dirname(name)));
      const owners = new Set([...uploads].map((name) => dirname(name)));
      for (const folder of [...uploads, ...owners]) {
        const path = join(this.#folder, folder);
        await this.#call(() => this.#fs.removeFolder(path), work).catch(
          unless('ENOENT', 'ENOTEMPTY', 'EEXIST'),
        );
      }
    });
  }

  list(options: ListOptions): Promise<readonly StoredBlob[]> {
    checkList(options);
    const { prefix, after = '', limit } = options;
    return this.#withoutCaller(async (work) => {
      const found: StoredBlob[] = [];
      for await (const name of this.#namesIn(prefix, after, work)) {
        const path = join(this.#folder, name);
        const stat = await this.#call(() => this.#fs.stat(path), work).catch(unless('ENOENT'));
        if (stat !== undefined) found.push({ name, ...stat });
        if (found.length === limit) break;
      }
      return found;
    });
  }

  async condition(): Promise<StoreCondition> {
    try {
      return await this.#withoutCaller(async (work) => {
        await this.#call(() => this.#fs.checkWritable(this.#ownDrafts), work);
        return (await this.#checkFreeBytes(work)) >= this.#reserveBytes ? 'good' : 'full';
      });
    } catch {
      return 'away';
    }
  }

  async close(): Promise<void> {
    for (const work of this.#works) work.byStore('the store is closed');
    await Promise.all(this.#writes);
    await this.#durability.settle();
  }

  async #write(
    naming: Promise<string>,
    body: AsyncIterable<Uint8Array>,
    bytes: number,
    work: FileWork,
  ): Promise<void> {
    const draft = join(this.#ownDrafts, this.#random.uuid());
    const left = [draft];
    let pendingBytes = 0;
    const addPending = (more: number) => {
      pendingBytes += more;
      this.#pendingBytes += more;
    };
    try {
      const first = Math.min(bytes, namelessBytesMax);
      await this.#reserve(bytes, () => addPending(first), work);
      const { file, name } = await this.#filled({
        draft,
        naming,
        body,
        work,
        onNamed: () => this.#reserve(bytes - first, () => addPending(bytes - first), work),
        onWritten: (written) => addPending(-written),
      });
      left.push(join(this.#folder, name));
      await this.#finish(draft, name, file, work);
    } catch (error) {
      for (const path of left) await this.#calls.cleanUp(() => this.#fs.unlink(path));
      throw error;
    } finally {
      addPending(-pendingBytes);
    }
  }

  async #finish(draft: string, name: string, file: OpenFile, work: FileWork): Promise<void> {
    let syncsLater = false;
    try {
      await this.#putInPlace(draft, name, work);
      if (this.#isShared) await this.#durability.now(name, file, work);
      else await this.#calls.inTime(() => this.#durability.before(name), work);
      work.signal.throwIfAborted();
      syncsLater = !this.#isShared;
    } finally {
      // Synced data is safe, even if closing the file fails.
      if (!syncsLater) await this.#calls.cleanUp(() => file.close());
    }
    if (syncsLater) this.#durability.begin(name, file);
  }

  /** Checks and reserves at once, so that two writes do not both find the same room. */
  async #reserve(bytes: number, addPending: () => void, work: FileWork): Promise<void> {
    const freeBytes = await this.#checkFreeBytes(work);
    if (freeBytes - this.#pendingBytes - bytes < this.#reserveBytes) throw new FileStoreError('full');
    addPending();
  }

  async #checkFreeBytes(work: FileWork): Promise<number> {
    const freeBytes = await this.#call(() => this.#fs.freeBytesAt(this.#folder), work);
    this.#freeBytes = freeBytes;
    return freeBytes;
  }

  /** Writes all of the body into a draft. Resolves to the draft and its name. */
  async #filled({
    draft,
    naming,
    body,
    work,
    onNamed,
    onWritten,
  }: DraftWrite): Promise<{ readonly file: OpenFile; readonly name: string }> {
    const file = await this.#call(() => this.#fs.create(draft), work);
    try {
      let at = 0;
      let name: string | undefined;
      for await (const piece of largePieces(body, writtenPieceBytes)) {
        if (name === undefined && at + piece.byteLength > namelessBytesMax) {
          name = await unlessAborted(naming, work.signal);
          await onNamed();
        }
        for (let done = 0; done < piece.byteLength; ) {
          const rest = piece.subarray(done);
          const written = await this.#call(() => file.write(rest, at), work);
          done += written;
          at += written;
          onWritten(written);
        }
      }
      return { file, name: await unlessAborted(naming, work.signal) };
    } catch (error) {
      await this.#calls.cleanUp(() => file.close());
      throw error;
    }
  }

  async #putInPlace(draft: string, name: string, work: FileWork): Promise<void> {
    const path = join(this.#folder, name);
    const upload = dirname(path);
    for (let triesLeft = placingTriesMax - 1; ; triesLeft -= 1) {
      try {
        await this.#call(() => this.#fs.makeFolder(upload), work);
        await this.#call(() => this.#fs.rename(draft, path), work);
        break;
      } catch (error) {
        if (codeOf(error) !== 'ENOENT' || triesLeft === 0) throw error;
      }
    }
  }

  /** Sorted: owner and upload ids have fixed lengths. Skips other things that may be there. */
  async *#namesIn(prefix: string, after: string, work: FileWork): AsyncGenerator<string> {
    const isTop = prefix === '';
    const entries = await this.#call(() => this.#fs.entriesOf(join(this.#folder, prefix)), work).catch(
      // Another call may have removed it meanwhile. The top folder is never removed.
      isTop ? unless() : unless('ENOENT', 'ENOTDIR'),
    );
    for (const entry of [...(entries ?? [])].sort()) {
      const name = `${prefix}${entry}`;
      if (isBlobName(name)) {
        if (name > after) yield name;
      } else if (isPrefix(`${name}/`) && (`${name}/` > after || after.startsWith(`${name}/`))) {
        yield* this.#namesIn(`${name}/`, after, work);
      }
    }
  }

  /** Removes drafts. Other nodes may do so at the same time, and may be using their own. */
  async #clear(drafts: string): Promise<void> {
    const abandonedBeforeMs = this.#clock.nowMs() - abandonedDraftAgeMs;
    const entries = await this.#fs.entriesOf(drafts).catch(unless('ENOENT', 'ENOTDIR'));
    for (const entry of entries ?? []) {
      const path = join(drafts, entry);
      const stat = await this.#fs.stat(path).catch(unless('ENOENT'));
      const isOver = drafts === this.#ownDrafts || (stat !== undefined && stat.writtenMs < abandonedBeforeMs);
      if (isOver) await this.#fs.unlink(path).catch(unless('ENOENT'));
    }
  }

  /** For work without an abort signal of a caller: the end of the store aborts it, or a disk that does not answer. */
  async #withoutCaller<T>(run: (work: FileWork) => Promise<T>): Promise<T> {
    const work = this.#begin(serverKey);
    try {
      return await unlessAborted(run(work), work.signal);
    } catch (error) {
      throw fileStoreErrorOf(error);
    } finally {
      this.#end(work);
    }
  }

  #begin(key: FairnessKey, signal?: AbortSignal): FileWork {
    const work = new FileWork(key, signal);
    this.#works.add(work);
    return work;
  }

  #end(work: FileWork): void {
    work.end();
    this.#works.delete(work);
  }

  #call<T>(call: () => Promise<T>, work: FileWork): Promise<T> {
    return this.#calls.make(call, work);
  }
}
