/**
 * The store of files in a bucket of S3, or of a server that speaks its protocol. Each blob is an object of its name.
 *
 *   - A blob is put in one request that names its length. S3 shows an object whole or not at all, and answers only once it is
 *     durable; a request that breaks leaves nothing. Multipart uploads are not used, so no parts are left over.
 *   - The body is streamed, so it can be sent only once. A put is tried again only while nothing of its body was asked for; the
 *     client makes sure of that by `Expect: 100-continue`. Other calls are tried a few times, and a read resumes where it broke.
 *   - A streamed body cannot be signed. Its checksum could only follow it, which many such servers do not accept. TLS protects it
 *     on its way. Without TLS an attacker on the way can change a body, but never sign a request.
 *   - S3 is not trusted with memory or logs: the client collects a bounded part of an answer. It keeps only the status and code of
 *     a failure, as the rest is text of the other side.
 *   - The time limits of a step and of a call count while this waits for S3, and not while it waits for its caller.
 */
import { Readable } from 'node:stream';
import { GetObjectCommand, ListObjectsV2Command, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { type Clock, unlessAborted } from '../../runtime/clock.ts';
import { openS3Client, removeObjects, type S3ClientOptions, s3CodeOf } from './s3-client.ts';
import {
  announced,
  type ByteRange,
  checkBlobName,
  checkList,
  checkRange,
  FileStoreError,
  isBlobName,
  type ListOptions,
  type Naming,
  nameFrom,
  noop,
  type OpenFileStore,
  Stop,
  type StoreCondition,
  type StoredBlob,
  type WriteOptions,
} from './store.ts';

export interface S3Options extends S3ClientOptions {
  readonly bucket: string;
  readonly clock: Clock;
}

const connectMs = 5_000;
const stepMs = 30_000;
const callMs = 600_000;
const triesMax = 3;
/** Bytes of an answer that is collected whole, at most. A page of a listing is the largest, with some hundred kilobytes. */
const collectedBytesMax = 4_194_304;
/** Bytes of a body that are read before they are sent, at most. */
const readAheadBytes = 65_536;

export const openS3 = (options: S3Options): OpenFileStore => new S3(options);

class S3 implements OpenFileStore {
  readonly #client: S3Client;
  readonly #bucket: string;
  readonly #clock: Clock;
  readonly #calls = new Set<S3Call>();
  readonly freeBytes = undefined;

  constructor({ bucket, clock, ...options }: S3Options) {
    this.#client = openS3Client(options, { connectMs, triesMax, expectContinueHeader: true });
    this.#client.middlewareStack.add(
      (next, { commandName }) =>
        async (args) => {
          const result = await next(args);
          const response = result.response as HttpAnswer;
          const isStreamed = commandName === 'GetObjectCommand' && response.statusCode < 300;
          if (!isStreamed && response.body !== undefined) response.body = bounded(response.body);
          return result;
        },
      // The lowest middleware sees an answer first, before anything of it is collected.
      { name: 'boundCollected', step: 'deserialize', priority: 'low' },
    );
    this.#bucket = bucket;
    this.#clock = clock;
  }

  async write(
    naming: Naming,
    body: AsyncIterable<Uint8Array>,
    { bytes, signal }: WriteOptions,
  ): Promise<void> {
    const named = nameFrom(naming);
    await this.#calling(signal, async (call) => {
      named.catch((error) => call.stop.byCaller(error));
      const name = await unlessAborted(named, call.signal);
      const pieces = announced(body, { bytes, signal: call.signal });
      let isBegun = false;
      const begin = () => {
        isBegun = true;
      };
      for (let triesLeft = triesMax - 1; ; triesLeft -= 1) {
        try {
          return await this.#put(name, sent(pieces, call, begin), bytes, call);
        } catch (error) {
          if (isBegun || triesLeft === 0 || call.signal.aborted || !isPassing(error)) throw error;
        }
      }
    });
  }

  /** Nothing to do: S3 answers a put only once the object is durable. */
  async persist(): Promise<void> {}

  async *read(name: string, range: ByteRange, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    checkBlobName(name);
    checkRange(range);
    const call = this.#begin(signal);
    try {
      let at = range.start;
      for (let triesLeft = triesMax - 1; at < range.end; triesLeft -= 1) {
        try {
          for await (const piece of this.#part(name, { start: at, end: range.end }, call)) {
            at += piece.byteLength;
            yield piece;
          }
        } catch (error) {
          // The client itself repeats a read that fails before its first byte.
          const isOver = at === range.start || triesLeft === 0 || call.signal.aborted;
          if (isOver || !isPassing(error)) throw error;
        }
      }
    } catch (error) {
      throw errorOf(error);
    } finally {
      this.#end(call);
    }
  }

  async remove(names: readonly string[]): Promise<void> {
    for (const name of names) checkBlobName(name);
    await this.#calling(undefined, async (call) => {
      const errorCode = await removeObjects(this.#bucket, names, (command) =>
        call.answer((abortSignal) => this.#client.send(command, { abortSignal })),
      );
      if (errorCode !== undefined) throw new OddAnswerError(`S3 has not removed a blob: ${errorCode}`);
    });
  }

  async list(options: ListOptions): Promise<readonly StoredBlob[]> {
    checkList(options);
    return this.#calling(undefined, async (call) => {
      const { prefix, limit } = options;
      const found: StoredBlob[] = [];
      let { after } = options;
      for (let isMore = true; isMore && found.length < limit; ) {
        const page = await call.answer((abortSignal) =>
          this.#client.send(
            new ListObjectsV2Command({
              Bucket: this.#bucket,
              Prefix: prefix,
              MaxKeys: limit - found.length,
              ...(after !== undefined && { StartAfter: after }),
            }),
            { abortSignal },
          ),
        );
        const { Contents = [], IsTruncated = false } = page;
        for (const { Key = '', Size = 0, LastModified } of Contents) {
          // Other objects are there only if an operator has put them there by hand.
          if (!isBlobName(Key)) continue;
          // A blob of unknown age is never old enough to be swept.
          const writtenMs = LastModified?.getTime() ?? Number.POSITIVE_INFINITY;
          found.push({ name: Key, bytes: Size, writtenMs });
        }
        after = Contents.at(-1)?.Key;
        isMore = IsTruncated && after !== undefined;
      }
      return found;
    });
  }

  /** S3 does not tell how much room it has. */
  async condition(): Promise<StoreCondition> {
    try {
      await this.list({ prefix: '', limit: 1 });
      return 'good';
    } catch {
      return 'away';
    }
  }

  async close(): Promise<void> {
    for (const call of this.#calls) call.stop.byStore('the store is closed');
    this.#client.destroy();
  }

  async #put(name: string, pieces: AsyncIterable<Uint8Array>, bytes: number, call: S3Call): Promise<void> {
    const body = Readable.from(pieces, { objectMode: false, highWaterMark: readAheadBytes });
    // The client pipes the body. A pipe reports the end of neither stream to the other.
    const request = new AbortController();
    const failed = new Promise<never>((_, reject) => body.once('error', reject));
    const put = new PutObjectCommand({ Bucket: this.#bucket, Key: name, Body: body, ContentLength: bytes });
    try {
      await Promise.race([
        call.answer((stopped) =>
          this.#client.send(put, { abortSignal: AbortSignal.any([request.signal, stopped]) }),
        ),
        failed,
      ]);
    } catch (error) {
      request.abort();
      throw error;
    } finally {
      body.destroy();
      failed.catch(noop);
    }
  }

  async *#part(name: string, { start, end }: ByteRange, call: S3Call): AsyncGenerator<Uint8Array> {
    const get = new GetObjectCommand({ Bucket: this.#bucket, Key: name, Range: `bytes=${start}-${end - 1}` });
    const { Body, ContentLength } = await call.answer((abortSignal) =>
      this.#client.send(get, { abortSignal }),
    );
    const body = Body as Readable;
    try {
      if (ContentLength !== undefined && ContentLength < end - start) throw new FileStoreError('missing');
      if (ContentLength !== end - start) throw new OddAnswerError('S3 has answered with another range');
      const pieces = body[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
      for (;;) {
        const { done, value } = await call.answer(() => pieces.next());
        if (done === true) return;
        yield value;
      }
    } finally {
      body.once('error', noop);
      body.destroy();
    }
  }

  async #calling<T>(signal: AbortSignal | undefined, work: (call: S3Call) => Promise<T>): Promise<T> {
    const call = this.#begin(signal);
    try {
      return await work(call);
    } catch (error) {
      throw errorOf(error);
    } finally {
      this.#end(call);
    }
  }

  #begin(signal: AbortSignal | undefined): S3Call {
    const call = new S3Call(new Stop(signal), this.#clock);
    this.#calls.add(call);
    return call;
  }

  #end(call: S3Call): void {
    call.end();
    this.#calls.delete(call);
  }
}

/** One call of the store, with the time that it has waited for S3. */
class S3Call {
  readonly stop: Stop;
  readonly #clock: Clock;
  #isOver = false;
  #leftMs = callMs;
  #waitingSinceMs = 0;
  #cancel: (() => void) | undefined;

  constructor(stop: Stop, clock: Clock) {
    this.stop = stop;
    this.#clock = clock;
  }

  get signal(): AbortSignal {
    return this.stop.signal;
  }

  /** Waits for S3. */
  async answer<T>(ask: (signal: AbortSignal) => Promise<T>): Promise<T> {
    this.signal.throwIfAborted();
    this.waits();
    try {
      return await unlessAborted(ask(this.signal), this.signal);
    } finally {
      this.rests();
    }
  }

  waits(): void {
    this.rests();
    // A body may still yield after its reader has gone.
    if (this.#isOver) return;
    this.#waitingSinceMs = this.#clock.monotonicMs();
    this.#cancel = this.#clock.schedule(Math.min(stepMs, this.#leftMs), () =>
      this.stop.byStore('S3 does not answer'),
    );
  }

  rests(): void {
    if (this.#cancel === undefined) return;
    this.#cancel();
    this.#cancel = undefined;
    this.#leftMs -= this.#clock.monotonicMs() - this.#waitingSinceMs;
  }

  end(): void {
    this.#isOver = true;
    this.rests();
    this.stop.end();
  }
}

/** The body, as the client asks for it. The time that its caller takes for it does not count against S3. */
async function* sent(
  pieces: AsyncIterator<Uint8Array>,
  call: S3Call,
  begin: () => void,
): AsyncGenerator<Uint8Array> {
  begin();
  try {
    for (;;) {
      call.rests();
      const { done, value } = await pieces.next();
      call.waits();
      if (done === true) return;
      // The client reads ahead.
      yield Uint8Array.from(value);
    }
  } finally {
    await pieces.return?.();
  }
}

interface HttpAnswer {
  readonly statusCode: number;
  body?: AsyncIterable<Uint8Array>;
}

/** @throws OddAnswerError beyond the bound */
function bounded(body: AsyncIterable<Uint8Array>): Readable {
  return Readable.from(upToTheBound(body), { objectMode: false });
}

async function* upToTheBound(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const piece of body) {
    bytes += piece.byteLength;
    if (bytes > collectedBytesMax) throw new OddAnswerError('S3 has answered more than it may');
    yield piece;
  }
}

/** Its message is this server's own text. */
class OddAnswerError extends Error {}

/** For the log, without what the other side has written. */
function reasonOf(error: unknown): Error {
  if (error instanceof OddAnswerError) return error;
  const { name, code, $metadata } = error as S3Failure;
  return new OddAnswerError(`S3: ${$metadata?.httpStatusCode ?? 'no answer'}, ${s3CodeOf(code ?? name)}`);
}

interface S3Failure {
  readonly name?: string;
  /** The code of an error of the connection. */
  readonly code?: unknown;
  readonly $metadata?: { readonly httpStatusCode?: number };
}

/** Codes by which servers with a limit say that they are full: MinIO, Ceph and others. */
const fullForm = /(StorageFull|QuotaExceeded|InsufficientStorage|InsufficientCapacity)$/;

function errorOf(error: unknown): FileStoreError {
  if (error instanceof FileStoreError) return error;
  const { name = '', $metadata } = error as S3Failure;
  const status = $metadata?.httpStatusCode;
  // A bucket that is missing has another name for it.
  if (name === 'NoSuchKey' || status === 416) return new FileStoreError('missing', reasonOf(error));
  if (status === 507 || fullForm.test(name)) return new FileStoreError('full', reasonOf(error));
  return new FileStoreError('unavailable', reasonOf(error));
}

/** Whether another try may succeed, because the connection broke or the server was busy. */
function isPassing(error: unknown): boolean {
  if (error instanceof FileStoreError) return false;
  const status = (error as S3Failure).$metadata?.httpStatusCode;
  return status === undefined || status >= 500 || status === 429;
}
