/**
 * Backups in a bucket of S3, below a prefix. S3 shows an object whole or not at all, and has it durable once it answers.
 * Each object goes in one request with its checksum, so that S3 refuses one that changed on its way.
 */
import { createHash } from 'node:crypto';
import { GetObjectCommand, ListObjectsV2Command, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { openS3Client, removeObjects, type S3ClientOptions, s3CodeOf } from '../../actors/files/s3-client.ts';
import { BackupError } from './error.ts';
import { type BackupTarget, checkObjectName, type StoredObject } from './target.ts';

export interface S3TargetOptions extends S3ClientOptions {
  readonly bucket: string;
  /** Empty, or ends with a slash. */
  readonly prefix: string;
}

const connectMs = 10_000;
const requestMs = 300_000;
const triesMax = 4;

export const openS3Target = (options: S3TargetOptions): BackupTarget => new S3Target(options);

class S3Target implements BackupTarget {
  readonly #client: S3Client;
  readonly #bucket: string;
  readonly #prefix: string;

  constructor({ bucket, prefix, ...options }: S3TargetOptions) {
    this.#bucket = bucket;
    this.#prefix = prefix;
    this.#client = openS3Client(options, { connectMs, requestMs, triesMax });
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
    const keys = names.map((name) => this.#key(name));
    const errorCode = await removeObjects(this.#bucket, keys, (command) =>
      this.#attempt(() => this.#client.send(command)),
    );
    if (errorCode !== undefined) throw this.#unavailable(errorCode);
  }

  close(): void {
    this.#client.destroy();
  }

  #key(name: string): string {
    return `${this.#prefix}${checkObjectName(name)}`;
  }

  /** Nothing of the other side's text is kept but its code. */
  async #attempt<T>(work: () => Promise<T>, name?: string): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof BackupError) throw error;
      const { name: reason, code } = error as { name?: string; code?: string };
      if (reason === 'NoSuchKey') throw BackupError.damaged(`The backup lacks ${name ?? 'an object'}.`);
      throw this.#unavailable(code ?? reason, error);
    }
  }

  #unavailable(reason: unknown, cause?: unknown): BackupError {
    return BackupError.unavailable(
      `The bucket of backups ${this.#bucket} cannot be used (${s3CodeOf(reason)}). Its key must be allowed to get, put, list and delete there.`,
      cause,
    );
  }
}
