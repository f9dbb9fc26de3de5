/**
 * Calls of the file system. Each holds a thread of the pool that the whole process shares, for as long as a slow disk or a
 * network folder takes. So only a few run at once, only a few wait, and each wait has a limit. The caller of a call that does not
 * end stops waiting, and cleans up once the call has ended.
 *
 * Owners take turns. A file may have thousands of blobs of a byte each, so a reader of many files asks for millions of calls.
 * They wait behind each other. If too many wait, one of that owner's is refused. Clean-up is never refused, as nothing would do it
 * later.
 */
import type { Clock } from '../../runtime/clock.ts';
import { OverloadedError } from '../../runtime/errors.ts';
import { createQueue, type FairnessKey, type InTurn } from '../queue.ts';
import { Stop } from './store.ts';

/** Leaves one of the pool's four threads to other work. */
const concurrencyMax = 3;
const callsWaitingMax = 1_024;
/** A call that takes longer, with its wait for a thread, counts as stalled. */
const stallMs = 30_000;
const cleanUpPauseMs = 1_000;
/** The owner of the server's own calls. */
export const serverKey: FairnessKey = ['server'];

export const keyOfBlob = (name: string): FairnessKey => [name.slice(0, name.indexOf('/'))];

/** One piece of work, with the owner on whose behalf it waits. */
export class FileWork extends Stop {
  readonly key: FairnessKey;

  constructor(key: FairnessKey, caller?: AbortSignal) {
    super(caller);
    this.key = key;
  }
}

export class FileCalls {
  readonly #clock: Clock;
  readonly #inTurn: InTurn = createQueue(
    { concurrent: concurrencyMax, waiting: callsWaitingMax },
    'too many calls of the file system',
  );

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** @throws what the call throws | OverloadedError | why the work is stopped */
  make<T>(call: () => Promise<T>, stop: FileWork): Promise<T> {
    return this.inTime(() => this.#inTurn(call, stop.signal, stop.key), stop);
  }

  /** Stops the work when this takes too long. */
  async inTime<T>(wait: () => Promise<T>, stop: FileWork): Promise<T> {
    const cancel = this.#clock.schedule(stallMs, () => stop.byStore('the disk does not answer'));
    try {
      return await wait();
    } finally {
      cancel();
    }
  }

  /** Ends when the call has ended, with any result. */
  async cleanUp(call: () => Promise<unknown>): Promise<void> {
    for (;;) {
      try {
        await this.#inTurn(call, undefined, serverKey);
        return;
      } catch (error) {
        if (!(error instanceof OverloadedError)) return;
      }
      await new Promise<void>((resolve) => this.#clock.schedule(cleanUpPauseMs, resolve));
    }
  }
}
