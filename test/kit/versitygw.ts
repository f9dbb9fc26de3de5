/** The S3 gateway of Versity, on a free port, with its objects in a folder that goes with it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { versitygwProgram } from '../../tools/versitygw.ts';
import { endWithTests } from './child.ts';
import { freePorts } from './free-ports.ts';
import { makeBucket, s3Credentials, s3Region } from './s3-server.ts';
import { until } from './until.ts';

const startLimitMs = 20_000;

export interface Versitygw {
  readonly endpoint: string;
  /** Makes one. */
  bucket(name: string): Promise<void>;
  /** Ends it at once, like a crash, and keeps its data. */
  kill(): Promise<void>;
  start(): Promise<void>;
  /** Ends it and removes its data. */
  stop(): Promise<void>;
}

export async function startVersitygw(): Promise<Versitygw> {
  const folder = await mkdtemp(join(tmpdir(), 'scriptorium-versitygw-'));
  const [port = 0] = await freePorts(1);
  const endpoint = `http://127.0.0.1:${port}`;
  let ended = Promise.resolve();
  let child: ChildProcess | undefined;

  const start = async () => {
    const { accessKeyId, secretAccessKey } = s3Credentials;
    const keys = ['--access', accessKeyId, '--secret', secretAccessKey];
    const args = ['--port', `127.0.0.1:${port}`, '--region', s3Region, '--quiet', ...keys, 'posix', folder];
    const started = spawn(versitygwProgram, args, { stdio: 'ignore' });
    child = started;
    ended = endWithTests(started);
    await until(() => answers(endpoint), startLimitMs);
  };
  const kill = () => {
    child?.kill('SIGKILL');
    return ended;
  };

  await start();
  return {
    endpoint,
    bucket: (name) => makeBucket(endpoint, name),
    kill,
    start,
    async stop() {
      await kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const answers = (endpoint: string): Promise<boolean> =>
  fetch(endpoint).then(
    () => true,
    () => false,
  );
