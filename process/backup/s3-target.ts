/**
 * Backups in a bucket of S3, below a prefix. S3 shows an object whole or not at all, and has it durable once it answers.
 * Each object goes in one request with its checksum, so that S3 refuses one that changed on its way.
 */
import { createHash } from 'node:crypto';
import {
  DeleteObjectsCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { BackupError } from './error.ts';
import { type BackupTarget, checkName, type StoredObject } from './target.ts';

export interface S3TargetOptions {
  readonly bucket: string;
  /** Empty, or ends with a slash. */
  readonly prefix: string;
  readonly endpoint: string | undefined;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly isPathStyle: boolean;
}

/** As many as S3 takes in one request. */
const removedAtOnce = 1_000;
const connectMs = 10_000;
const requestMs = 300_000;
const triesMax = 4;
const codeForm = /^\w{1,64}$/;

export const openS3Target = (options: S3TargetOptions): BackupTarget => new S3Target(options);

class S3Target implements BackupTarget {
  readonly #client: S3Client;
  readonly #bucket: string;
  readonly #prefix: string;

  constructor({ bucket, prefix, endpoint, region, isPathStyle, ...credentials }: S3TargetOptions) {
    this.#bucket = bucket;
    this.#prefix = prefix;
    this.#client = new S3Client({
      region,
      credentials,
      ...(endpoint !== undefined && { endpoint }),
      forcePathStyle: isPathStyle,
      maxAttempts: triesMax,
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      requestHandler: { connectionTimeout: connectMs, requestTimeout: requestMs },
    });
  }

  async put(name: string, bytes: Uint8Array): Promise<void> {
    await this.#attempt(() =>
      this.#client.send(
        new PutObjectCommand({
          Bucket: this.#bucket,
          Key: this.#key(name),
          Body: bytes,
          ContentLength: bytes.byteLength,
          ContentMD5: createHash('md5').update(bytes).digest('base64'),
        }),
      ),
    );
  }

  get(name: string): Promise<Buffer> {
    return this.#attempt(async () => {
      const { Body } = await this.#client.send(
        new GetObjectCommand({ Bucket: this.#bucket, Key: this.#key(name) }),
      );
      return Buffer.from((await Body?.transformToByteArray()) ?? []);
    }, name);
  }

  async *list(prefix: string): AsyncGenerator<StoredObject> {
    for (let token: string | undefined; ; ) {
      const page = await this.#attempt(() =>
        this.#client.send(
          new ListObjectsV2Command({
            Bucket: this.#bucket,
            Prefix: this.#key(prefix),
            ContinuationToken: token,
          }),
        ),
      );
      for (const { Key = '', Size = 0 } of page.Contents ?? []) {
        yield { name: Key.slice(this.#prefix.length), bytes: Size };
      }
      token = page.NextContinuationToken;
      if (token === undefined) return;
    }
  }

  async remove(names: readonly string[]): Promise<void> {
    for (let at = 0; at < names.length; at += removedAtOnce) {
      const Objects = names.slice(at, at + removedAtOnce).map((name) => ({ Key: this.#key(name) }));
      const { Errors = [] } = await this.#attempt(() =>
        this.#client.send(
          new DeleteObjectsCommand({ Bucket: this.#bucket, Delete: { Objects, Quiet: true } }),
        ),
      );
      const [kept] = Errors.filter(({ Code }) => Code !== 'NoSuchKey');
      if (kept !== undefined) throw this.#unavailable(kept.Code);
    }
  }

  close(): void {
    this.#client.destroy();
  }

  #key(name: string): string {
    return `${this.#prefix}${checkName(name)}`;
  }

  /** Nothing of the other side's text is kept but its code. */
  async #attempt<T>(work: () => Promise<T>, name?: string): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof BackupError) throw error;
      const { name: reason, code } = error as { name?: string; code?: string };
      if (reason === 'NoSuchKey')
        throw new BackupError('damaged', `The backup lacks ${name ?? 'an object'}.`);
      throw this.#unavailable(code ?? reason, error);
    }
  }

  #unavailable(reason: unknown, cause?: unknown): BackupError {
    const code = codeForm.test(String(reason)) ? String(reason) : 'no code';
    return new BackupError(
      'unavailable',
      `The bucket of backups ${this.#bucket} cannot be used (${code}). Its key must be allowed to get, put, list and delete there.`,
      cause,
    );
  }
}
