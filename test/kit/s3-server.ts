/** An S3 for tests: moto in a separate process, which holds its objects in memory (`s3-server.py`). */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import type { ExecutionContext } from 'ava';
import { findOrMakeMoto } from '../../tools/moto.ts';
import { endWithTests } from './child.ts';

interface S3Fault {
  readonly method: 'GET' | 'PUT' | 'POST';
  readonly status: number;
  readonly code: string;
  /** How many of the next requests with that method. */
  readonly times: number;
  /** Replaces the error from `code`. */
  readonly body?: string;
}

export interface S3Server {
  readonly port: number;
  readonly endpoint: string;
  /** Makes one. */
  bucket(name: string): Promise<void>;
  failNext(fault: S3Fault): Promise<void>;
  stop(): Promise<void>;
}

export const s3Credentials = { accessKeyId: 'tests', secretAccessKey: 'not-a-secret' };
export const s3Region = 'eu-central-1';

const script = fileURLToPath(new URL('./s3-server.py', import.meta.url));

export async function startS3Server(t: Pick<ExecutionContext, 'teardown'>): Promise<S3Server> {
  const child = spawn(findOrMakeMoto(process.env), [script], { stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = endWithTests(child);
  const errors: string[] = [];
  child.stderr.on('data', (chunk) => errors.push(String(chunk)));
  const port = await new Promise<number>((resolve, reject) => {
    child.once('exit', () => reject(new Error(`the S3 of the tests has ended: ${errors.join('')}`)));
    createInterface({ input: child.stdout }).once('line', (line) => resolve(JSON.parse(line).port));
  });
  const stop = () => {
    child.kill('SIGKILL');
    return ended;
  };
  t.teardown(stop);
  const endpoint = `http://127.0.0.1:${port}`;
  return {
    port,
    endpoint,
    stop,
    bucket: (name) => makeBucket(endpoint, name),
    async failNext(fault) {
      await fetch(`${endpoint}/-/faults`, { method: 'PUT', body: JSON.stringify(fault) });
    },
  };
}

export async function makeBucket(endpoint: string, name: string): Promise<void> {
  const client = new S3Client({
    endpoint,
    region: s3Region,
    credentials: s3Credentials,
    forcePathStyle: true,
  });
  try {
    const CreateBucketConfiguration = { LocationConstraint: s3Region } as const;
    await client.send(new CreateBucketCommand({ Bucket: name, CreateBucketConfiguration }));
  } finally {
    client.destroy();
  }
}
