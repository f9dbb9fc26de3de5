/**
 * Where the ciphertext of files lies: the port.
 *
 *   - A **blob** is one chunk of an upload, as it came. It is written once under a name that no other has, and never
 *     changes; a file is a list of names in the database. So nothing is ever joined, copied or written to again.
 *   - A write that resolves is whole, and no end of a process takes it away; only then may an upload name the blob. That it
 *     outlasts a power cut too, `persist` promises, and only then may a file name it: a chunk is synced while the next one comes.
 *   - A write that rejects has left nothing that can be read, but for two cases: a store that never answered may have taken it, and
 *     there are servers of S3 that keep a part of a body that breaks off. Nobody names such a blob, and the sweep of what nobody names removes it, as it does with what a crash leaves between a
 *     write and its commit.
 *   - A blob is removed after the commit by which nobody names it any more. A removal that was lost is made up for by the sweep.
 *   - Nothing that is read or written is in memory as a whole.
 *
 * `local-disk.ts` and `s3.ts` are the adapters. A store belongs to one database: what that does not name is swept away.
 */
import { dependency } from '../../runtime/dependency.ts';

/** The name of a blob: known, or on its way. */
export type Naming = string | Promise<string>;

export interface WriteOptions {
  /** Who is to have it: those who write for many at the same time take turns by it. */
  readonly owner: string;
  /** The bytes of the body: at least one. */
  readonly bytes: number;
  readonly signal: AbortSignal;
}

/** From `start` to before `end`. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

export interface ListOptions {
  /** Empty for all, `<owner>/` or `<owner>/<upload>/`. */
  readonly prefix: string;
  readonly after?: string;
  /** At most `listLimitMax`. Fewer than that many are all there are. */
  readonly limit: number;
}

export interface StoredBlob {
  readonly name: string;
  readonly bytes: number;
  readonly writtenMs: number;
}

/** A blob, as it was announced. */
export interface WrittenBlob {
  readonly name: string;
  readonly bytes: number;
}

export interface FileStore {
  /**
   * Whole when it resolves, and there for all. The body is read once at most, and closed if that has begun; each piece of it has to
   * stay as it is until the next is asked for. A name that is on its way comes soon: where there is none in the end, the write is aborted.
   * @throws FileStoreError `full` | `unavailable` | `aborted`
   */
  write(naming: Naming, body: AsyncIterable<Uint8Array>, options: WriteOptions): Promise<void>;
  /**
   * Makes blobs of one upload durable, whichever process wrote them. A blob that a power cut has taken, in whole or in part, is
   * missing. @throws FileStoreError `missing` | `unavailable`
   */
  persist(blobs: readonly WrittenBlob[]): Promise<void>;
  /**
   * Yields exactly the range. Each piece is the reader's until it asks for the next. @throws FileStoreError `missing` |
   * `unavailable` | `aborted`
   */
  read(name: string, range: ByteRange, signal: AbortSignal): AsyncIterable<Uint8Array>;
  /** What is not there needs no removal. @throws FileStoreError `unavailable` */
  remove(names: readonly string[]): Promise<void>;
  /** In the order of names, those after one of them: for the sweep. @throws FileStoreError `unavailable` */
  list(options: ListOptions): Promise<readonly StoredBlob[]>;
}
export const FileStore = dependency<FileStore>('the store of files');

/** `full`: uploads are refused, as less than the reserve is free, and all else is served. `away`: nothing can be stored. */
export type StoreCondition = 'good' | 'full' | 'away';

/** The same to the process that has opened it. */
export interface OpenFileStore extends FileStore {
  condition(): Promise<StoreCondition>;
  /** As last seen. Undefined where nobody can tell. */
  readonly freeBytes: number | undefined;
  close(): Promise<void>;
}

export type FileStoreFailure =
  /** No room, or less than the reserve. */
  | 'full'
  /** The store does not answer, refuses, or is broken. It may be there again later. */
  | 'unavailable'
  /** Nothing of that name, or not all of the range. */
  | 'missing'
  /** By the caller: its signal, or a body that failed or was not as long as announced. */
  | 'aborted';

export class FileStoreError extends Error {
  readonly failure: FileStoreFailure;

  /** `cause` is for logs: it may name files, but holds no secret. */
  constructor(failure: FileStoreFailure, cause?: unknown) {
    super(`the store of files: ${failure}`, { cause });
    this.failure = failure;
  }

  override get name(): string {
    return 'FileStoreError';
  }
}

export const listLimitMax = 1_000;

const uuid = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
/** In lower case alone, as not every file system tells cases apart. */
const nameForm = new RegExp(`^${uuid}/${uuid}/(?:0|[1-9][0-9]{0,8})\\.[0-9a-z]{16,64}$`);
const prefixForm = new RegExp(`^(?:${uuid}/(?:${uuid}/)?)?$`);

export const isBlobName = (name: string): boolean => nameForm.test(name);

/** `<owner>/` or `<owner>/<upload>/`, or empty. */
export const isPrefix = (text: string): boolean => prefixForm.test(text);

/** Nothing else ever becomes a path or a key. @throws TypeError */
export function checkName(name: string): void {
  if (!isBlobName(name)) throw new TypeError('a blob cannot have this name');
}

/** Rejects for a name that is none, or does not come. @throws TypeError */
export function nameFrom(naming: Naming): Promise<string> {
  if (typeof naming !== 'string') return naming.then(checked);
  return Promise.resolve(checked(naming));
}

function checked(name: string): string {
  checkName(name);
  return name;
}

/** @throws TypeError */
export function checkList({ prefix, after, limit }: ListOptions): void {
  if (!isPrefix(prefix)) throw new TypeError('the names of blobs do not begin like this');
  if (after !== undefined) checkName(after);
  if (!Number.isInteger(limit) || limit < 1 || limit > listLimitMax) throw new TypeError('a wrong limit');
}

/** @throws TypeError */
export function checkRange({ start, end }: ByteRange): void {
  const isRange = Number.isSafeInteger(start) && Number.isSafeInteger(end) && start >= 0 && start < end;
  if (!isRange) throw new TypeError('not a range of bytes');
}

/**
 * The body, if it is as long as announced and nobody stops it. Its last byte is handed on only once it has ended, so that
 * no store gets all that it waits for from a body that fails at its end. @throws FileStoreError | the reason of the signal
 */
export async function* announced(
  body: AsyncIterable<Uint8Array>,
  { bytes, signal }: Pick<WriteOptions, 'bytes' | 'signal'>,
): AsyncGenerator<Uint8Array, void, undefined> {
  const pieces = body[Symbol.asyncIterator]();
  let leftBytes = bytes;
  let last: Uint8Array | undefined;
  try {
    for (;;) {
      const { done, value } = await unlessAborted(nextOf(pieces), signal);
      if (done === true) break;
      leftBytes -= value.byteLength;
      if (leftBytes < 0) throw new FileStoreError('aborted', new Error('the body is longer than announced'));
      if (leftBytes === 0) last ??= Uint8Array.from(value.subarray(-1));
      const handedOn = last === undefined ? value : value.subarray(0, -1);
      if (handedOn.byteLength > 0) yield handedOn;
    }
    if (leftBytes > 0) throw new FileStoreError('aborted', new Error('the body is shorter than announced'));
    if (last !== undefined) yield last;
  } finally {
    // It may not hear of this before it has its next piece, which nobody waits for.
    pieces.return?.().then(noop, noop);
  }
}

async function nextOf(pieces: AsyncIterator<Uint8Array>): Promise<IteratorResult<Uint8Array, unknown>> {
  try {
    return await pieces.next();
  } catch (error) {
    throw new FileStoreError('aborted', error);
  }
}

/** What ends a call before it is done: its caller or the store. */
export class Stop {
  readonly #controller = new AbortController();
  readonly #caller: AbortSignal | undefined;
  readonly #callerLeft = () => this.byCaller(this.#caller?.reason);

  constructor(caller?: AbortSignal) {
    this.#caller = caller;
    caller?.addEventListener('abort', this.#callerLeft, { once: true });
    if (caller?.aborted) this.#callerLeft();
  }

  /** Aborted with a FileStoreError. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  byCaller(reason: unknown): void {
    this.#controller.abort(new FileStoreError('aborted', reason));
  }

  byStore(why: string): void {
    this.#controller.abort(new FileStoreError('unavailable', new Error(why)));
  }

  /** The call is over. */
  end(): void {
    this.#caller?.removeEventListener('abort', this.#callerLeft);
  }
}

export function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
    if (signal.aborted) abort();
  });
}

export const noop = (): void => undefined;
