/** A store of files whose calls are counted. */
import type { Registry } from 'prom-client';
import { meterOf } from '../../runtime/meter.ts';
import { type FileStore, FileStoreError, type FileStoreFailure, type OpenFileStore } from './store.ts';

type FileCall = 'write' | 'persist' | 'read' | 'remove' | 'list';
type FileCallResult = 'ok' | 'defect' | FileStoreFailure;

/** `check` makes the store look how much is free. */
export function countedFileStore(store: OpenFileStore, registry: Registry, check: () => unknown): FileStore {
  const { counter, gauge } = meterOf(registry);
  const calls = counter(
    'scriptorium_file_store_calls_total',
    'Calls of the store of files, by what became of them. `aborted` is what callers ended themselves',
    ['call', 'outcome'],
  );
  const bytes = counter(
    'scriptorium_file_store_bytes_total',
    'Bytes written to the store of files and read from it',
    ['call'],
  );
  gauge(
    'scriptorium_file_store_free_bytes',
    'Free space of the disk of the folder of files, the reserve included, as last seen; nothing with S3',
    () => {
      // Shown the next time: a disk that does not answer must not hold up all other metrics.
      check();
      return store.freeBytes;
    },
  );
  const count = (call: FileCall, outcome: FileCallResult) => calls.inc({ call, outcome });

  async function counted<T>(call: FileCall, work: () => Promise<T>): Promise<T> {
    try {
      const result = await work();
      count(call, 'ok');
      return result;
    } catch (error) {
      count(call, outcomeOf(error));
      throw error;
    }
  }

  return {
    async write(naming, body, options) {
      await counted('write', () => store.write(naming, body, options));
      bytes.inc({ call: 'write' }, options.bytes);
    },
    persist: (blobs) => counted('persist', () => store.persist(blobs)),
    async *read(name, range, signal) {
      // A reader that stops early has read enough.
      let outcome: FileCallResult = 'ok';
      try {
        for await (const piece of store.read(name, range, signal)) {
          bytes.inc({ call: 'read' }, piece.byteLength);
          yield piece;
        }
      } catch (error) {
        outcome = outcomeOf(error);
        throw error;
      } finally {
        count('read', outcome);
      }
    },
    remove: (names) => counted('remove', () => store.remove(names)),
    list: (options) => counted('list', () => store.list(options)),
  };
}

const outcomeOf = (error: unknown): FileCallResult =>
  error instanceof FileStoreError ? error.failure : 'defect';
