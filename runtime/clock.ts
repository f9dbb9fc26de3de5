/** The clock port. Everything that waits or asks for the time takes one, so that the simulator can own time. */
export interface Clock {
  /** Wall clock, milliseconds since the epoch. */
  nowMs(): number;
  /** Wall clock, integer microseconds since the epoch. Successive calls may return the same number. */
  nowMicros(): number;
  /** Monotonic clock, milliseconds from an arbitrary start. Never goes back. */
  monotonicMs(): number;
  /** Calls `fire` once after `delayMs`. The returned function cancels it and may be called any number of times. */
  schedule(delayMs: number, fire: () => void): () => void;
}

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  nowMicros: () => Date.now() * 1_000,
  monotonicMs: () => performance.now(),
  schedule(delayMs, fire) {
    const timeout = setTimeout(fire, delayMs);
    // A pending timer must never keep a process alive that has otherwise finished its shutdown.
    timeout.unref();
    return () => clearTimeout(timeout);
  },
};

/** Resolves after `delayMs` of the given clock. */
export function sleep(clock: Clock, delayMs: number): Promise<void> {
  return new Promise((resolve) => {
    clock.schedule(delayMs, resolve);
  });
}

/** Settles like `work`, or is rejected once the signal is aborted. The work itself is not ended by that. */
export function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
    if (signal.aborted) abort();
  });
}
