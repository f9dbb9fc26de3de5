/**
 * The network: how asks reach a host and replies come back. Either may be lost, slow or doubled, an ask may go to a
 * host that does not own the actor, and a wake-up may never come. A gateway repeats what it has no answer to under the
 * same call id, which is all that a real one does.
 */
import { type Address, shardOf } from '../../runtime/address.ts';
import type { AskCall } from '../../runtime/call.ts';
import { ActorError, RetryableError, UnavailableError } from '../../runtime/errors.ts';
import type { TellRow } from '../../runtime/store/store.ts';
import type { Hint, Transport, TransportHandler } from '../../runtime/transport/transport.ts';
import type { SeededRandom } from '../support/random.ts';
import type { FaultRates } from './plan.ts';
import type { SimulatedProcess } from './process.ts';
import type { SimulatedTime } from './time.ts';
import type { Trace } from './trace.ts';

/** What a host lets out, watched at the moment it does. */
export interface OutputWatcher {
  replied(call: AskCall, reply: unknown): void;
  woke(tell: TellRow): void;
}

export interface NetworkOptions {
  readonly time: SimulatedTime;
  readonly random: SeededRandom;
  readonly rates: FaultRates;
  readonly trace: Trace;
  readonly shardCount: number;
  readonly watcher: OutputWatcher;
  /** The incarnation that owns a shard, as far as routing knows. */
  readonly ownerOf: (shard: number) => string | undefined;
}

/** One answer to one ask; `maybe` when it may have taken effect all the same. */
export type Answer =
  | { readonly outcome: 'done'; readonly value: unknown }
  | { readonly outcome: 'none' | 'maybe'; readonly error: Error; readonly again: boolean };

export type Ask = Omit<AskCall, 'deadlineMs'>;

interface Node {
  readonly process: SimulatedProcess;
  readonly incarnation: string;
  handler: TransportHandler | undefined;
}

const slowMaxMs = 3_000;

export class Network {
  readonly #options: NetworkOptions;
  readonly #nodes = new Map<string, Node>();
  #healed = false;

  constructor(options: NetworkOptions) {
    this.#options = options;
  }

  heal(): void {
    this.#healed = true;
  }

  /** The transport of one incarnation of a host. */
  join(process: SimulatedProcess, incarnation: string): Transport {
    const node: Node = { process, incarnation, handler: undefined };
    this.#nodes.set(incarnation, node);
    return {
      serve: (handler) => {
        node.handler = handler;
      },
      stop: () => {
        node.handler = undefined;
      },
      ask: (call) => this.#askFrom(process, call),
      wake: (tell) => this.#wake(tell),
      route: async () => undefined,
      unroute: () => undefined,
      hint: (hint) => this.#hint(hint),
      publish: () => undefined,
      listen: () => () => undefined,
      isConnected: true,
      reachesOthers: true,
    };
  }

  #hint(hint: Hint): void {
    for (const node of this.#nodes.values()) {
      if (this.#happens('messageLost')) continue;
      this.#options.time.after(this.#latencyMs(), () => node.process.enter(() => node.handler?.hinted(hint)));
    }
  }

  leave(incarnation: string): void {
    this.#nodes.delete(incarnation);
  }

  /** One ask, answered in the end: at the latest when `withinMs` have passed. */
  ask(call: Ask, withinMs: number): Promise<Answer> {
    const { time, random, trace } = this.#options;
    const node = this.#route(call.address);
    if (node === undefined) {
      const error = new UnavailableError('no responders');
      return time.sleep(5).then(() => ({ outcome: 'none', error, again: true }));
    }
    const copies = this.#happens('messageDoubled') ? 2 : 1;
    return new Promise((resolve) => {
      let settled = false;
      const settle = (answer: Answer) => {
        if (settled) return;
        settled = true;
        resolve(answer);
      };
      const timeOut = new RetryableError('no answer', { outcome: 'unknown' });
      const cancel = time.after(withinMs, () => settle({ outcome: 'maybe', error: timeOut, again: true }));
      const answered = (answer: Answer) => {
        cancel();
        // Another copy may still be on its way.
        if (copies > 1 && answer.outcome === 'none') settle({ ...answer, outcome: 'maybe' });
        else settle(answer);
      };
      for (let copy = 0; copy < copies; copy += 1) {
        if (this.#happens('messageLost')) {
          trace.add(() => `${node.process.name} ask ${call.command} lost`);
          continue;
        }
        const delayMs = this.#latencyMs() + (copy > 0 ? random.fraction() * slowMaxMs : 0);
        time.after(delayMs, () => node.process.enter(() => this.#arrive(node, call, withinMs, answered)));
      }
    });
  }

  #arrive(node: Node, call: Ask, withinMs: number, answered: (answer: Answer) => void): void {
    const { time, trace, watcher } = this.#options;
    const back = (answer: Answer) => {
      if (this.#happens('messageLost')) trace.add(() => `${node.process.name} reply ${call.command} lost`);
      else time.after(this.#latencyMs(), () => answered(answer));
    };
    const { handler } = node;
    if (handler === undefined) {
      back(failureOf(new UnavailableError('does not serve')));
      return;
    }
    const deadlineMs = node.process.monotonicMs() + withinMs;
    handler.ask({ ...call, deadlineMs }).then(
      (value) => {
        watcher.replied({ ...call, deadlineMs }, value);
        back({ outcome: 'done', value });
      },
      (error) => {
        trace.add(() => `${node.process.name} ${call.address.id.slice(0, 4)} ${call.command}: ${error}`);
        back(failureOf(error));
      },
    );
  }

  /** An ask of one step of a flow. Its answer enters the asking process by its door. */
  #askFrom(process: SimulatedProcess, call: AskCall): Promise<unknown> {
    const { deadlineMs, ...ask } = call;
    const withinMs = Math.max(1, deadlineMs - process.monotonicMs());
    return new Promise((resolve, reject) => {
      void this.ask(ask, withinMs).then((answer) =>
        process.enter(() => (answer.outcome === 'done' ? resolve(answer.value) : reject(toldAs(answer)))),
      );
    });
  }

  #wake(tell: TellRow): void {
    const { time, watcher, random } = this.#options;
    watcher.woke(tell);
    const copies = this.#happens('messageDoubled') ? 2 : 1;
    for (let copy = 0; copy < copies; copy += 1) {
      if (this.#happens('messageLost')) continue;
      const node = this.#route({ kind: tell.target_kind, id: tell.target_id });
      const delayMs = this.#latencyMs() + (copy > 0 ? random.fraction() * slowMaxMs : 0);
      time.after(delayMs, () => node?.process.enter(() => node.handler?.wake(tell)));
    }
  }

  #route(address: Address): Node | undefined {
    const owner = this.#options.ownerOf(shardOf(address, this.#options.shardCount));
    const node = owner === undefined ? undefined : this.#nodes.get(owner);
    const nodes = [...this.#nodes.values()];
    if (nodes.length === 0) return undefined;
    if (node === undefined || this.#happens('wrongOwner')) return this.#options.random.pick(nodes);
    return node;
  }

  #happens(fault: 'messageLost' | 'messageDoubled' | 'messageSlow' | 'wrongOwner'): boolean {
    return !this.#healed && this.#options.random.chance(this.#options.rates[fault]);
  }

  #latencyMs(): number {
    const { random, rates } = this.#options;
    if (this.#happens('messageSlow')) return random.fraction() * slowMaxMs;
    return 0.2 + random.fraction() * rates.messageMs;
  }
}

/** What an error says of the effect, and whether asking again can help. */
function failureOf(error: unknown): Answer {
  if (!(error instanceof ActorError)) return { outcome: 'none', error: error as Error, again: false };
  const isUnknown = error instanceof RetryableError && error.outcome === 'unknown';
  const again = !['terminal', 'not-found', 'forbidden'].includes(error.class);
  return { outcome: isUnknown ? 'maybe' : 'none', error, again };
}

function toldAs(answer: Exclude<Answer, { outcome: 'done' }>): Error {
  return answer.outcome === 'maybe' ? new RetryableError('no answer', { outcome: 'unknown' }) : answer.error;
}
