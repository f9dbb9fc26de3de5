/** A NATS server for tests, with JetStream in a separate directory. */
import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findProgram } from '../../tools/program.ts';
import { natsServer } from '../../tools/programs.ts';
import { endWithTests } from './child.ts';
import { freePorts } from './free-ports.ts';

export interface NatsServerOptions {
  /** More lines of its configuration file. */
  readonly config?: string;
  readonly jetStream?: boolean;
}

export interface TestNatsServer {
  readonly url: string;
  readonly port: number;
  /** Ends it at once, like a crash, and keeps its data. */
  kill(): Promise<void>;
  /** Starts it again on its port and its data, after `kill`; with other lines of configuration, if given. */
  start(config?: string): Promise<void>;
  /** Freezes its process: its connections stay open, and nobody answers them once this has resolved. */
  pause(): Promise<void>;
  resume(): void;
  /** Ends it and removes its data. */
  stop(): Promise<void>;
}

const startLimitMs = 20_000;

export async function startNatsServer(options: NatsServerOptions = {}): Promise<TestNatsServer> {
  const [port = 0] = await freePorts(1);
  return startOnPort(port, options);
}

/** Servers of one cluster, each with JetStream. */
export async function startNatsCluster(size: number): Promise<readonly TestNatsServer[]> {
  const ports = await freePorts(size * 2);
  const clients = ports.slice(0, size);
  const routes = ports.slice(size);
  const urls = routes.map((port) => `"nats://127.0.0.1:${port}"`).join(', ');
  return Promise.all(
    clients.map((port, index) =>
      startOnPort(port, {
        config: [
          `server_name: "s${index}"`,
          `client_advertise: "127.0.0.1:${port}"`,
          // Clients stay on the given addresses, which may be those of proxies.
          `cluster { name: "test", listen: "127.0.0.1:${routes[index]}", routes: [${urls}], no_advertise: true }`,
        ].join('\n'),
      }),
    ),
  );
}

async function startOnPort(port: number, options: NatsServerOptions): Promise<TestNatsServer> {
  const folder = await mkdtemp(join(tmpdir(), 'scriptorium-nats-'));
  const file = join(folder, 'nats.conf');
  const jetStream = options.jetStream === false ? '' : `jetstream { store_dir: "${folder}" }`;
  const configure = (config = '') =>
    writeFile(file, [`listen: "127.0.0.1:${port}"`, jetStream, config].join('\n'));
  await configure(options.config);
  let child = await run(file);
  const kill = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await ended;
  };
  return {
    url: `nats://127.0.0.1:${port}`,
    port,
    kill,
    async start(config = options.config) {
      await configure(config);
      child = await run(file);
    },
    async pause() {
      child.kill('SIGSTOP');
      while (!isStopped(child.pid ?? 0)) await sleep(1);
    },
    resume: () => void child.kill('SIGCONT'),
    async stop() {
      await kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** The signal goes out at once, and takes effect when each thread has noticed it. */
function isStopped(pid: number): boolean {
  if (process.platform !== 'linux') return true;
  const stateOf = (thread: string) => readFileSync(`/proc/${pid}/task/${thread}/status`, 'utf8');
  return readdirSync(`/proc/${pid}/task`).every((thread) => /^State:\s+T/m.test(stateOf(thread)));
}

/** Resolves when the server accepts clients. */
function run(configFile: string): Promise<ChildProcess> {
  const child = spawn(findProgram(natsServer, process.env), ['-c', configFile], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  void endWithTests(child);
  return new Promise((resolve, reject) => {
    let output = '';
    const fail = (what: string) => {
      child.kill('SIGKILL');
      reject(new Error(`nats-server ${what}:\n${output}`));
    };
    const alarm = setTimeout(() => fail(`was not ready after ${startLimitMs} ms`), startLimitMs);
    child.once('error', (error) => fail(error.message));
    child.once('exit', () => {
      clearTimeout(alarm);
      fail('ended');
    });
    child.stderr?.on('data', (chunk: Buffer) => {
      output = (output + chunk.toString('utf8')).slice(-20_000);
      if (!output.includes('Server is ready')) return;
      clearTimeout(alarm);
      resolve(child);
    });
  });
}
