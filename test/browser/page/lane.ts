import type { LaneAnswer, LaneCommand, LaneState } from '../../../docs/protocol/sync-lane-client.ts';

export interface LaneSession {
  readonly host: string;
  readonly token: string;
}

export interface LaneCall {
  readonly id: number;
  readonly method: 'start' | 'run' | 'cut' | 'state';
  readonly args: readonly unknown[];
}

interface Reply {
  readonly id: number;
  readonly answer?: unknown;
  readonly error?: string;
}

// biome-ignore lint/suspicious/noExplicitAny: the types of the language level do not know workers
const page = globalThis as any;

/** The worker of a device on the sync lane, from its page's side. */
export class Lane {
  // biome-ignore lint/suspicious/noExplicitAny: see above
  #worker: any;
  #calls = 0;
  readonly #waiting = new Map<number, (reply: Reply) => void>();

  /** Replaces a worker that was started before. */
  async start(session: LaneSession): Promise<void> {
    this.#worker?.terminate();
    this.#worker = new page.Worker('/page/lane-worker.js');
    this.#worker.onmessage = ({ data }: { data: Reply }) => this.#waiting.get(data.id)?.(data);
    await this.#call('start', session);
  }

  /** Repeats while no server answers, like an application that keeps its commands. */
  async run(command: LaneCommand): Promise<LaneAnswer> {
    for (let wasSent = false; ; wasSent = true) {
      try {
        return (await this.#call('run', { ...command, wasSent })) as LaneAnswer;
      } catch {
        await new Promise((resolve) => setTimeout(resolve, 200));
      }
    }
  }

  async cut(): Promise<void> {
    await this.#call('cut');
  }

  async state(): Promise<LaneState> {
    return (await this.#call('state')) as LaneState;
  }

  #call(method: LaneCall['method'], ...args: unknown[]): Promise<unknown> {
    this.#calls += 1;
    const id = this.#calls;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, ({ answer, error }) => {
        this.#waiting.delete(id);
        if (error === undefined) resolve(answer);
        else reject(new Error(error));
      });
      this.#worker.postMessage({ id, method, args });
    });
  }
}
