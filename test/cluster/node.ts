/**
 * One node as a process, with separate links to the database and to each NATS server. It is supervised: a node that
 * ends by itself is started again, and the end is reported.
 */
import { appendFileSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { serverExitCodes } from '../../process/start-error.ts';
import { type ServerProcess, startServerProcess } from '../kit/server-process.ts';
import type { TcpProxy } from '../kit/tcp-proxy.ts';

export interface NodeOptions {
  readonly id: string;
  readonly port: number;
  /** The directory of its `supervisor.js` and `main.js`. */
  readonly build: string;
  readonly dataDirectory: string;
  readonly settings: Readonly<Record<string, string>>;
  readonly links: NodeLinks;
  /** Ended by itself with this code; it is started again. */
  readonly onEnd: (code: number | null) => void;
}

export interface NodeLinks {
  readonly database: TcpProxy;
  readonly nats: readonly TcpProxy[];
}

const restartPauseMs = 500;
const startsMax = 60;
/** Trying later may help. */
const passing: readonly (number | null)[] = [serverExitCodes.unavailable, serverExitCodes.inUse];
const scrapeTimeoutMs = 2_000;

/** To the group of a supervisor and its server. */
function signal(started: ServerProcess | undefined, name: NodeJS.Signals): void {
  if (started?.child.pid === undefined) return;
  try {
    process.kill(-started.child.pid, name);
  } catch {
    // Both have ended.
  }
}

/** The process that the supervisor runs; undefined if it has ended. */
function serverOf({ child: { pid } }: ServerProcess): number | undefined {
  const [first] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ');
  return first === undefined || first === '' ? undefined : Number(first);
}

const running = new Set<ServerProcess>();
// A failing test process ends its nodes too, including paused ones.
process.once('exit', () => {
  for (const started of running) signal(started, 'SIGKILL');
});

export class ClusterNode {
  readonly id: string;
  readonly url: string;
  readonly links: NodeLinks;
  readonly #options: NodeOptions;
  readonly #log: string;
  #process: ServerProcess | undefined;
  #metricsUrl = '';
  #build: string;

  constructor(options: NodeOptions) {
    this.#options = options;
    this.id = options.id;
    this.url = `http://127.0.0.1:${options.port}`;
    this.links = options.links;
    this.#build = options.build;
    mkdirSync(options.dataDirectory, { recursive: true, mode: 0o700 });
    this.#log = join(options.dataDirectory, 'node.log');
  }

  /**
   * With another build from now on if one is named. Resolves when it listens. A node that cannot reach its database
   * at that moment gives up, and is started again.
   */
  async start(build = this.#build): Promise<void> {
    this.#build = build;
    for (let tries = 1; ; tries += 1) {
      const started = this.#spawn();
      this.#process = started;
      try {
        this.#metricsUrl = (await started.ready()).metricsUrl;
        void started.exitCode.then((code) => this.#ended(started, code));
        return;
      } catch (error) {
        if (this.#process !== started || tries >= startsMax) throw error;
        signal(started, 'SIGKILL');
        if (!passing.includes(await started.exitCode)) throw error;
        await pause(restartPauseMs);
      }
    }
  }

  /** Starts it when the start must fail. Resolves to its exit code and its output. */
  async refusal(): Promise<{ readonly code: number | null; readonly said: string }> {
    const started = this.#spawn();
    this.#process = started;
    const code = await started.exitCode;
    this.#forget();
    return { code, said: started.output() };
  }

  #spawn(): ServerProcess {
    const { dataDirectory, settings, port } = this.#options;
    const started = startServerProcess({
      entry: [join(this.#build, 'supervisor.js')],
      dataDirectory,
      cwd: dataDirectory,
      settings: { ...settings, NODE_ID: this.id, PORT: String(port) },
      onLine: (line) => appendFileSync(this.#log, `${line}\n`),
    });
    running.add(started);
    void started.exitCode.then(() => running.delete(started));
    return started;
  }

  /** A different one after each start. */
  get metricsUrl(): string {
    return this.#metricsUrl;
  }

  get build(): string {
    return this.#build;
  }

  /** Like the loss of its machine: the server, and its supervisor with it. */
  async kill(): Promise<void> {
    const forgotten = this.#forget();
    signal(forgotten, 'SIGKILL');
    await forgotten?.exitCode;
  }

  /** The server alone, at once. Its supervisor gives up its lease, and ends. */
  async killServer(): Promise<void> {
    const forgotten = this.#forget();
    const pid = forgotten === undefined ? undefined : serverOf(forgotten);
    if (pid === undefined) throw new Error(`${this.id} has no server to kill`);
    process.kill(pid, 'SIGKILL');
    await forgotten?.exitCode;
  }

  /** Both: a supervisor is frozen along with its server. */
  pause(): void {
    signal(this.#process, 'SIGSTOP');
  }

  resume(): void {
    signal(this.#process, 'SIGCONT');
  }

  /** Like an orchestrator. Resolves to its exit code. */
  async drain(): Promise<number | null | undefined> {
    const forgotten = this.#forget();
    forgotten?.child.kill('SIGTERM');
    return forgotten?.exitCode;
  }

  get isRunning(): boolean {
    return this.#process !== undefined;
  }

  output(): string {
    return this.#process?.output() ?? '';
  }

  /** The sum of a metric over its labels, or over those with this one; undefined when the node does not answer. */
  async metric(name: string, label = ''): Promise<number | undefined> {
    const text = await this.#admin('/metrics');
    if (text === undefined) return undefined;
    const lines = text.matchAll(new RegExp(`^${name}(?:\\{[^}]*${label}[^}]*\\})? (\\S+)$`, 'gm'));
    return [...lines].reduce((sum, [, value]) => sum + Number(value), 0);
  }

  async isReady(): Promise<boolean> {
    return (await this.#admin('/readyz')) !== undefined;
  }

  async readiness(): Promise<Readonly<Record<string, string>>> {
    const response = await fetch(this.#metricsUrl.replace('/metrics', '/readyz'), {
      signal: AbortSignal.timeout(scrapeTimeoutMs * 2),
    });
    return ((await response.json()) as { checks: Record<string, string> }).checks;
  }

  async #admin(path: string): Promise<string | undefined> {
    try {
      const signal = AbortSignal.timeout(scrapeTimeoutMs);
      const response = await fetch(this.#metricsUrl.replace('/metrics', path), { signal });
      const text = await response.text();
      return response.ok ? text : undefined;
    } catch {
      return undefined;
    }
  }

  #forget(): ServerProcess | undefined {
    const forgotten = this.#process;
    this.#process = undefined;
    return forgotten;
  }

  async #ended(which: ServerProcess, code: number | null): Promise<void> {
    if (this.#process !== which) return;
    this.#process = undefined;
    this.#options.onEnd(code);
    await pause(restartPauseMs);
    // Somebody may have started it meanwhile.
    if (this.#process === undefined) await this.start().catch(() => undefined);
  }
}
