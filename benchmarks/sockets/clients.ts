/** Many sockets, held by child processes. */
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { ClientDevice, ClientReport, OpenOrder } from './client-process.ts';

/** Below the limit of open files of a process. */
const socketsOfProcess = 17_000;
const atOnce = 32;
const pollMs = 100;

export class Clients {
  readonly #lane: boolean;
  readonly #processes: ChildProcess[] = [];
  #count = 0;

  constructor(lane: boolean) {
    this.#lane = lane;
    process.once('exit', () => this.stop());
  }

  /** The target number. */
  get count(): number {
    return this.#count;
  }

  /** Resolves once all are open. @throws Error if they are not open in time */
  async open(devices: readonly ClientDevice[], withinMs: number): Promise<void> {
    this.#count += devices.length;
    for (let at = 0; at < devices.length; at += socketsOfProcess)
      this.#start(devices.slice(at, at + socketsOfProcess));
    await this.untilOpen(withinMs);
  }

  async untilOpen(withinMs: number): Promise<void> {
    const untilMs = performance.now() + withinMs;
    for (;;) {
      const counts = await Promise.all(this.#processes.map((child) => answerOf<number>(child, 'count')));
      const open = counts.reduce((sum, count) => sum + count, 0);
      if (open === this.#count) return;
      if (performance.now() > untilMs) {
        const { failures } = await this.report();
        throw new Error(`${open} of ${this.#count} are open: ${JSON.stringify(failures)}`);
      }
      await new Promise((resolve) => setTimeout(resolve, pollMs));
    }
  }

  /** The sum of all processes. */
  async report(): Promise<ClientReport> {
    const failures: Record<string, number> = {};
    const redialsMs: number[] = [];
    let open = 0;
    let cpuMs = 0;
    const parts = this.#processes.map((child) => answerOf<ClientReport>(child, 'report'));
    for (const part of await Promise.all(parts)) {
      open += part.open;
      cpuMs += part.cpuMs;
      redialsMs.push(...part.redialsMs);
      for (const [what, times] of Object.entries(part.failures))
        failures[what] = (failures[what] ?? 0) + times;
    }
    return { open, failures, redialsMs, cpuMs };
  }

  /** From now on all clients of the lane send `PING`. */
  ping(): void {
    for (const child of this.#processes) child.send('ping');
  }

  stop(): void {
    for (const child of this.#processes) child.kill('SIGKILL');
  }

  #start(devices: readonly ClientDevice[]): void {
    const child = fork(fileURLToPath(new URL('./client-process.ts', import.meta.url)), {
      execArgv: ['--import=tsx'],
    });
    this.#processes.push(child);
    const localAddress = `127.0.1.${this.#processes.length}`;
    child.send({ devices, lane: this.#lane, localAddress, atOnce } satisfies OpenOrder);
  }
}

function answerOf<T>(child: ChildProcess, question: 'count' | 'report'): Promise<T> {
  return new Promise((resolve) => {
    child.once('message', (answer) => resolve(answer as T));
    child.send(question);
  });
}
