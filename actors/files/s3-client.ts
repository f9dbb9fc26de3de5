/** The client of S3, or of a server that speaks its protocol, as files and backups use it. */
import { DeleteObjectsCommand, type DeleteObjectsCommandOutput, S3Client } from '@aws-sdk/client-s3';
import { noop } from './store.ts';

export interface S3ClientOptions {
  /** Without one, the endpoint of AWS for the region. */
  readonly endpoint: string | undefined;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Whether the path of an address names the bucket, and not its host. By default it does if there is an endpoint. */
  readonly isPathStyle: boolean | undefined;
}

interface S3ClientLimits {
  readonly connectMs: number;
  /** Absent if the caller limits the time itself. */
  readonly requestMs?: number;
  readonly triesMax: number;
  /** With it, each body waits until the server asks for it. A body that can be sent only once needs this. By default only a large body waits. */
  readonly expectContinueHeader?: true;
}

const connectionsMax = 64;
/** Objects that S3 removes in one request, at most. */
const removeBatchMax = 1_000;
/** The library would log text of the other side. */
const silent = { trace: noop, debug: noop, info: noop, warn: noop, error: noop };

export function openS3Client(options: S3ClientOptions, limits: S3ClientLimits): S3Client {
  const { endpoint, region, accessKeyId, secretAccessKey, isPathStyle } = options;
  const { connectMs, requestMs, triesMax, expectContinueHeader } = limits;
  const agent = { keepAlive: true, maxSockets: connectionsMax };
  return new S3Client({
    endpoint: endpoint ?? `https://s3.${region}.amazonaws.com`,
    region,
    credentials: { accessKeyId, secretAccessKey },
    forcePathStyle: isPathStyle ?? endpoint !== undefined,
    maxAttempts: triesMax,
    retryMode: 'standard',
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    ...(expectContinueHeader && { expectContinueHeader }),
    requestHandler: {
      connectionTimeout: connectMs,
      ...(requestMs !== undefined && { requestTimeout: requestMs }),
      httpAgent: agent,
      httpsAgent: agent,
      logger: silent,
    },
    logger: silent,
  });
}

type SendRequest = (command: DeleteObjectsCommand) => Promise<DeleteObjectsCommandOutput>;

/** Stops at the first object that S3 does not remove, and returns the code of its reason. An object that is gone is no error. */
export async function removeObjects(
  bucket: string,
  keys: readonly string[],
  send: SendRequest,
): Promise<string | undefined> {
  for (let at = 0; at < keys.length; at += removeBatchMax) {
    const Objects = keys.slice(at, at + removeBatchMax).map((Key) => ({ Key }));
    const command = new DeleteObjectsCommand({ Bucket: bucket, Delete: { Objects, Quiet: true } });
    const { Errors = [] } = await send(command);
    const failed = Errors.find(({ Code }) => Code !== 'NoSuchKey');
    if (failed !== undefined) return s3CodeOf(failed.Code);
  }
  return undefined;
}

const codeForm = /^\w{1,64}$/;

/** What a message may hold of a failure: its code, if it looks like one. */
export const s3CodeOf = (code: unknown): string => (codeForm.test(String(code)) ? String(code) : 'no code');
