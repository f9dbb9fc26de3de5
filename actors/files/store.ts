/**
 * The port of the store that holds the ciphertext of files.
 *
 *   - A **blob** is one chunk of an upload, as it came. It is written once under a name that no other has, and never
 *     changes; a file is a list of names in the database. So nothing is ever joined, copied or written to again.
 *   - Once a write resolves, the blob is whole and survives the end of the process; only then may an upload name it. `persist`
 *     promises that it survives a power cut too; only then may a file name it. A chunk is synced while the next one comes.
 *   - A write that rejects leaves nothing to read, with two exceptions. A store that never answered may have stored the blob, and
 *     some S3 servers keep a part of a body that breaks off. No row names such a blob, so the sweep removes it. The sweep also
 *     removes blobs that a crash leaves between a write and its commit.
 *   - A blob is removed after the commit that stops naming it. The sweep makes up for a removal that was lost.
 *   - No blob is in memory as a whole.
 *
 * `local-disk.ts` and `s3.ts` are the adapters. A store belongs to one database: the sweep removes blobs that it does not name.
 */
import { unlessAborted } from '../../runtime/clock.ts';
import { dependency } from '../../runtime/dependency.ts';

/** The name of a blob, known or still to come. */
export type Naming = string | Promise<string>;

export interface WriteOptions {
  /** The owner of the blob. Owners take turns by it. */
  readonly owner: string;
  /** The bytes of the body: at least one. */
  readonly bytes: number;
  readonly signal: AbortSignal;
}

/** The bytes from `start` up to, but without, `end`. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

export interface ListOptions {
  /** Empty for all, `<owner>/` or `<owner>/<upload>/`. */
  readonly prefix: string;
  readonly after?: string;
  /** At most `listLimitMax`. A shorter page is the last one. */
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
   * Once it resolves, the blob is whole and every process can read it. It reads the body once at most, and closes it. Each piece of
   * the body has to stay as it is until the next is asked for. A name still to come must come soon; without one the write is aborted.
   * @throws FileStoreError `full` | `unavailable` | `aborted`
   */
  write(naming: Naming, body: AsyncIterable<Uint8Array>, options: WriteOptions): Promise<void>;
  /**
   * Makes blobs of one upload durable, whichever process wrote them. A blob that a power cut has taken, even in part, is missing.
   * @throws FileStoreError `missing` | `unavailable`
   */
  persist(blobs: readonly WrittenBlob[]): Promise<void>;
  /**
   * Yields exactly the range. Each piece is the reader's until it asks for the next. @throws FileStoreError `missing` |
   * `unavailable` | `aborted`
   */
  read(name: string, range: ByteRange, signal: AbortSignal): AsyncIterable<Uint8Array>;
  /** Ignores blobs that are not there. @throws FileStoreError `unavailable` */
  remove(names: readonly string[]): Promise<void>;
  /** Lists blobs in the order of their names, after a given one: for the sweep. @throws FileStoreError `unavailable` */
  list(options: ListOptions): Promise<readonly StoredBlob[]>;
}
export const FileStore = dependency<FileStore>('the store of files');

/** `full`: less than the reserve is free, so uploads are refused and all else is served. `away`: nothing can be stored. */
export type StoreCondition = 'good' | 'full' | 'away';

/** Constant for the process that has opened the store. */
export interface OpenFileStore extends FileStore {
  condition(): Promise<StoreCondition>;
  /** The free space at the last look. Undefined if the store does not know it. */
  readonly freeBytes: number | undefined;
  close(): Promise<void>;
}

export type FileStoreFailure =
  /** No room, or less than the reserve. */
  | 'full'
  /** The store does not answer, refuses, or is broken. It may work again later. */
  | 'unavailable'
  /** There is no blob of that name, or it lacks a part of the range. */
  | 'missing'
  /** The caller aborted it, by its signal or by a body that failed or was not as long as announced. */
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
/** Lower case only, because some file systems ignore case. */
const nameForm = new RegExp(`^${uuid}/${uuid}/(?:0|[1-9][0-9]{0,8})\\.[0-9a-z]{16,64}$`);
const prefixForm = new RegExp(`^(?:${uuid}/(?:${uuid}/)?)?$`);

export const isBlobName = (name: string): boolean => nameForm.test(name);

/** `<owner>/` or `<owner>/<upload>/`, or empty. */
export const isPrefix = (text: string): boolean => prefixForm.test(text);

/** Every path and key passes this check. @throws TypeError */
export function checkBlobName(name: string): void {
  if (!isBlobName(name)) throw new TypeError('a blob cannot have this name');
}

/** Rejects if the name is malformed or does not come. @throws TypeError */
export function nameFrom(naming: Naming): Promise<string> {
  if (typeof naming !== 'string') return naming.then(checked);
  return Promise.resolve(checked(naming));
}

function checked(name: string): string {
  checkBlobName(name);
  return name;
}

/** @throws TypeError */
export function checkList({ prefix, after, limit }: ListOptions): void {
  if (!isPrefix(prefix)) throw new TypeError('the names of blobs do not begin like this');
  if (after !== undefined) checkBlobName(after);
  if (!Number.isInteger(limit) || limit < 1 || limit > listLimitMax) throw new TypeError('a wrong limit');
}

/** @throws TypeError */
export function checkRange({ start, end }: ByteRange): void {
  const isRange = Number.isSafeInteger(start) && Number.isSafeInteger(end) && start >= 0 && start < end;
  if (!isRange) throw new TypeError('not a range of bytes');
}

/**
 * The body, if it is as long as announced and is not aborted. The last byte is passed on only after the body has ended.
 * Otherwise a body that fails at its end would look whole to the store. @throws FileStoreError | the reason of the signal
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
    // The source may notice this only with its next piece. Nobody waits for that.
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

/** Ends a call before it is done, for its caller or for the store. */
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

  /** Call when the work is over. */
  end(): void {
    this.#caller?.removeEventListener('abort', this.#callerLeft);
  }
}

export const noop = (): void => undefined;
