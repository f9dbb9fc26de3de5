/**
 * The life of the process. It closes everything in reverse order, once, within a bound, and then the process ends.
 * SIGTERM and SIGINT begin that, even during the start. Then everything that is still opening closes as soon as it is
 * there, and nothing more is opened. A second signal ends the process at once. A sudden end leaves the same as a
 * crash, and the next start copes with it.
 */
import type { Clock } from '../runtime/clock.ts';
import { messageOf } from '../runtime/errors.ts';
import type { Logger } from '../runtime/ports.ts';
import { serverExitCodes } from './start-error.ts';

const signals = { SIGINT: 2, SIGTERM: 15 } as const;
type Signal = keyof typeof signals;

/**
 * A second signal this soon is the first one again: after a Ctrl-C the terminal signals every process, and npm
 * signals its child once more.
 */
const sameSignalMs = 500;

export interface LifetimeOptions {
  readonly logger: Logger;
  readonly clock: Clock;
  /** Milliseconds for closing everything. */
  readonly closeMaxMs: number;
  exit(code: number): void;
}

/** Unwinds a start that is still opening things. */
class EndingError extends Error {}

export class Lifetime {
  readonly #options: LifetimeOptions;
  readonly #closers: (() => unknown)[] = [];
  #opening: Promise<unknown> = Promise.resolve();
  #ending: Promise<void> | undefined;
  #signalledMs: number | undefined;

  constructor(options: LifetimeOptions) {
    this.#options = options;
  }

  get isEnding(): boolean {
    return this.#ending !== undefined;
  }

  /** Runs `work`, which opens things. Undefined: the process began to end before `work` was done. */
  async open<T>(work: () => Promise<T>): Promise<T | undefined> {
    const opening = work();
    this.#opening = opening.catch(() => undefined);
    try {
      return await opening;
    } catch (error) {
      if (error instanceof EndingError) return undefined;
      throw error;
    }
  }

  /** Call right after something was opened. */
  onEnd(close: () => unknown): void {
    this.#closers.push(close);
    if (this.isEnding) throw new EndingError('the process is ending');
  }

  listen(to: NodeJS.Process): void {
    for (const signal of Object.keys(signals) as Signal[]) to.on(signal, () => this.signal(signal));
  }

  signal(signal: Signal): void {
    const { logger, clock, exit } = this.#options;
    const nowMs = clock.monotonicMs();
    if (this.#signalledMs === undefined) {
      this.#signalledMs = nowMs;
      logger.info({ signal }, 'draining');
      void this.end(0);
    } else if (nowMs - this.#signalledMs > sameSignalMs) {
      logger.warn({ signal }, 'a second signal: ending at once');
      exit(128 + signals[signal]);
    }
  }

  /** Closes everything and exits with `code`, or with another one if closing fails or takes too long. */
  end(code: number): Promise<void> {
    this.#ending ??= this.#end(code);
    return this.#ending;
  }

  async #end(code: number): Promise<void> {
    const { logger, clock, closeMaxMs, exit } = this.#options;
    const cancelAlarm = clock.schedule(closeMaxMs, () => {
      logger.error({ closeMaxMs }, 'closing takes too long: ending at once');
      exit(serverExitCodes.software);
    });
    await this.#opening;
    let failed = false;
    for (const close of this.#closers.reverse()) {
      try {
        await close();
      } catch (error) {
        failed = true;
        logger.error({ error: messageOf(error) }, 'closing failed');
      }
    }
    cancelAlarm();
    exit(failed && code === 0 ? serverExitCodes.software : code);
  }
}
