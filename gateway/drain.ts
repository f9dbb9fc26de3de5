/**
 * The end of a gateway: accepting → closed to new connections → quiet → closed.
 *
 * - While it accepts, replies leave their connections open. A client whose connection ends opens another one at once. The end of
 *   the listening socket resets every connection that the process has not accepted.
 * - From then on each reply ends its connection, so the next request of a client goes to another gateway.
 * - A connection on which nothing comes is closed without a reply. A request that is on its way at that moment is
 *   lost, and its client cannot know whether it took effect. HTTP/1.1 has no word for "no more requests" (RFC 9112,
 *   9.5). So the gateway waits until clients have closed their idle connections, or are unlikely to use them.
 *
 * A crash in any of these states loses the requests in flight, like any crash.
 */
import { setImmediate } from 'node:timers/promises';
import { type Clock, sleep } from '../runtime/clock.ts';

/** A connection that comes while a turn of the loop works is seen in the next one. */
const quickTurnMs = 2;
/** A server that never has a quick turn stops accepting all the same. */
const acceptMaxMs = 1_000;
/** The least time without a request before connections are closed without a reply. */
const quietMs = 500;
/** The last part of a drain, in which that least time is enough. */
export const lastPartMs = 2 * quietMs;

/**
 * Takes the connections that the system has accepted and this process has not. Close the listening socket right
 * after: whatever comes later is reset.
 */
export async function acceptWaiting(clock: Pick<Clock, 'monotonicMs'>): Promise<void> {
  const untilMs = clock.monotonicMs() + acceptMaxMs;
  // The rest of this turn may not see them.
  await setImmediate();
  let beganMs: number;
  let nowMs = clock.monotonicMs();
  do {
    beganMs = nowMs;
    await setImmediate();
    nowMs = clock.monotonicMs();
  } while (nowMs - beganMs >= quickTurnMs && nowMs < untilMs);
}

export interface QuietOptions {
  readonly clock: Clock;
  readonly connections: { readonly open: number };
  readonly inFlight: { readonly size: number };
  /** A number that grows with every request and every reply. */
  readonly progress: () => number;
  /** How long nothing must have come. */
  readonly idleMs: number;
  readonly untilMs: number;
}

/** Resolves when no client is connected or none has sent anything for long enough, and at `untilMs` at the latest. */
export async function untilQuiet(options: QuietOptions): Promise<void> {
  const { clock, connections, inFlight, progress, untilMs } = options;
  let quietForMs = 0;
  while (connections.open > 0 && quietForMs < neededMs(options) && clock.monotonicMs() < untilMs) {
    const before = progress();
    await sleep(clock, quietMs);
    // The loop takes in the requests that have arrived by now, or they would be lost with their connections.
    await setImmediate();
    quietForMs = inFlight.size === 0 && progress() === before ? quietForMs + quietMs : 0;
  }
}

function neededMs({ clock, idleMs, untilMs }: QuietOptions): number {
  return clock.monotonicMs() < untilMs - lastPartMs ? Math.max(quietMs, idleMs) : quietMs;
}
