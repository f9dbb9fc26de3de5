/** An in-memory store of files, for tests of its users. The contract of stores holds for it, too. */
import {
  announced,
  checkBlobName,
  checkList,
  checkRange,
  FileStoreError,
  type FileStoreFailure,
  nameFrom,
  type OpenFileStore,
  Stop,
} from '../../actors/files/store.ts';
import { unlessAborted } from '../../runtime/clock.ts';

export interface MemoryFileStore extends OpenFileStore {
  readonly blobs: ReadonlyMap<string, Buffer>;
  /** From now on every call fails like this, and a write only after it has taken its body. Undefined: none fails. */
  failWith(failure: Exclude<FileStoreFailure, 'aborted'> | undefined): void;
  /** The same, for removals alone. */
  keepAll(keeps: boolean): void;
  /** Simulates a power cut for unpersisted data: leaves this many bytes of a blob, or nothing. */
  cut(name: string, bytes?: number): void;
}

/** In pieces, as from every store. */
const pieceBytes = 65_536;

export function createMemoryFileStore(nowMs: () => number = () => 0): MemoryFileStore {
  const blobs = new Map<string, { readonly content: Buffer; readonly writtenMs: number }>();
  let failing: FileStoreFailure | undefined;
  let isKeeping = false;
  const check = () => {
    if (failing !== undefined) throw new FileStoreError(failing);
  };

  return {
    get blobs() {
      return new Map([...blobs].map(([name, { content }]) => [name, content]));
    },
    failWith(failure) {
      failing = failure;
    },
    keepAll(keeps) {
      isKeeping = keeps;
    },
    cut(name, bytes) {
      const blob = blobs.get(name);
      if (blob === undefined || bytes === undefined) blobs.delete(name);
      else blobs.set(name, { ...blob, content: blob.content.subarray(0, bytes) });
    },
    freeBytes: undefined,
    condition: async () => (failing === undefined ? 'good' : 'away'),
    async close() {},
    async write(naming, body, options) {
      const named = nameFrom(naming);
      const stop = new Stop(options.signal);
      try {
        const pieces: Uint8Array[] = [];
        named.catch((error) => stop.byCaller(error));
        for await (const piece of announced(body, { ...options, signal: stop.signal })) {
          pieces.push(Uint8Array.from(piece));
        }
        const name = await unlessAborted(named, stop.signal);
        check();
        blobs.set(name, { content: Buffer.concat(pieces), writtenMs: nowMs() });
      } finally {
        stop.end();
      }
    },
    async persist(persisted) {
      check();
      for (const { name, bytes } of persisted)
        if (blobs.get(name)?.content.length !== bytes) throw new FileStoreError('missing');
    },
    async *read(name, range, signal) {
      checkBlobName(name);
      checkRange(range);
      const content = blobs.get(name)?.content;
      for (let at = range.start; at < range.end; at += pieceBytes) {
        // As with any store, others may run between two pieces.
        await Promise.resolve();
        if (signal.aborted) throw new FileStoreError('aborted', signal.reason);
        check();
        const end = Math.min(at + pieceBytes, range.end);
        if (content === undefined || content.length < end) throw new FileStoreError('missing');
        yield content.subarray(at, end);
      }
    },
    async remove(names) {
      for (const name of names) checkBlobName(name);
      check();
      if (isKeeping) throw new FileStoreError('unavailable');
      for (const name of names) blobs.delete(name);
    },
    async list(options) {
      checkList(options);
      check();
      const { prefix, after = '', limit } = options;
      return [...blobs]
        .filter(([name]) => name.startsWith(prefix) && name > after)
        .map(([name, { content, writtenMs }]) => ({ name, bytes: content.length, writtenMs }))
        .sort((a, b) => (a.name < b.name ? -1 : 1))
        .slice(0, limit);
    },
  };
}
