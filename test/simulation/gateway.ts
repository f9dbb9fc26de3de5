/**
 * The layer between a client and the actors: the gateway of some process, as in production. A client asks once and
 * learns that it was done, that nothing was done, or nothing at all: its process may have died.
 */

import { RetryableError } from '../../runtime/errors.ts';
import type { Actors } from '../../runtime/handles.ts';
import type { AskCall } from '../../runtime/transport/transport.ts';
import type { SeededRandom } from '../kit/random.ts';
import type { AvailabilityChecker } from './checkers/availability.ts';
import type { SimulatedProcess } from './process.ts';
import type { SimulatedTime } from './time.ts';

export type CallOutcome =
  | { readonly outcome: 'done'; readonly value: unknown }
  /** Certainly without effect. */
  | { readonly outcome: 'none'; readonly error: unknown }
  | { readonly outcome: 'unknown'; readonly error: unknown };

export type Ask = Omit<AskCall, 'deadlineMs'>;

/** A process that serves clients. */
export interface GatewayProcess {
  readonly process: SimulatedProcess;
  readonly actors: Actors;
  readonly isClosing: boolean;
  /** Calls without an answer so far. */
  asks: number;
}

export interface GatewayOptions {
  readonly time: SimulatedTime;
  readonly random: SeededRandom;
  readonly gatewayProcesses: () => readonly GatewayProcess[];
  readonly availability: AvailabilityChecker;
  /** The hosts that the call needs, by name. Undefined: its answer may show a trouble of the simulation. */
  readonly healthyHostsFor: (ask: Ask, gatewayProcess: GatewayProcess) => string | undefined;
}

const retryPauseMs = 100;
/** A client waits somewhat longer than its gateway may. */
const patienceMs = 2_000;
const repeatPauseMs = 500;

export class Gateway {
  readonly #options: GatewayOptions;
  /** The processes of calls that are not over, also of those whose clients have given up. */
  readonly #open = new Set<{ readonly process: SimulatedProcess }>();

  constructor(options: GatewayOptions) {
    this.#options = options;
  }

  /**
   * Whether a live process may still send a call. A process that slept has more of a call's time left than its client, and
   * repeats the call long after the client has given up.
   */
  get isWaiting(): boolean {
    return [...this.#open].some(({ process }) => !process.isDead);
  }

  async ask(ask: Ask, withinMs: number): Promise<CallOutcome> {
    const { time, random, gatewayProcesses } = this.#options;
    const untilMs = time.nowMs + withinMs;
    while (time.nowMs < untilMs) {
      const open = gatewayProcesses().filter(({ process, isClosing }) => !process.isDead && !isClosing);
      if (open.length > 0) return this.#askAt(random.pick(open), ask, withinMs);
      await time.sleep(retryPauseMs);
    }
    return { outcome: 'none', error: new Error('no gateway answers') };
  }

  /** Retries until it is done, for requests that may be repeated. */
  async askUntilDone(ask: Ask, withinMs: number, triesMax: number): Promise<CallOutcome> {
    for (let tries = 1; ; tries += 1) {
      const outcome = await this.ask(ask, withinMs);
      if (outcome.outcome === 'done' || tries === triesMax) return outcome;
      await this.#options.time.sleep(repeatPauseMs);
    }
  }

  async #askAt(gatewayProcess: GatewayProcess, ask: Ask, withinMs: number): Promise<CallOutcome> {
    const { time, availability, healthyHostsFor } = this.#options;
    const sinceMs = time.nowMs;
    const hosts = healthyHostsFor(ask, gatewayProcess);
    gatewayProcess.asks += 1;
    const outcome = await this.#outcome(gatewayProcess, ask, withinMs);
    gatewayProcess.asks -= 1;
    // A call that one host got and another one answers has met the trouble of the first.
    if (hosts !== undefined && hosts === healthyHostsFor(ask, gatewayProcess))
      availability.answered(`${ask.command} ${ask.callId}`, outcome, {
        tookMs: time.nowMs - sinceMs,
        withinMs,
      });
    return outcome;
  }

  #outcome({ process, actors }: GatewayProcess, ask: Ask, withinMs: number): Promise<CallOutcome> {
    return new Promise((resolve) => {
      const gone = () => resolve({ outcome: 'unknown', error: new Error('the gateway does not answer') });
      process.onDeath(gone);
      this.#options.time.after(withinMs + patienceMs, gone);
      const call = { process };
      this.#open.add(call);
      process.enter(() => {
        this.#send(actors, ask, withinMs)
          .finally(() => this.#open.delete(call))
          .then(
            (value) => resolve({ outcome: 'done', value }),
            (error) => resolve({ outcome: isUnknown(error) ? 'unknown' : 'none', error }),
          );
      });
    });
  }

  #send(actors: Actors, { address, command, request, callId }: Ask, deadlineMs: number): Promise<unknown> {
    const handle = actors.get({ name: address.kind, commands: {} }, address.id).ask as Record<
      string,
      (request: unknown, options: object) => Promise<unknown>
    >;
    const method = handle[command];
    if (method === undefined) throw new Error(`no command ${command}`);
    return method.call(handle, request, { callId, deadlineMs });
  }
}

const isUnknown = (error: unknown): boolean => error instanceof RetryableError && error.outcome === 'unknown';
