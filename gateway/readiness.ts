/** Whether this process should be sent requests: every check passes and no shutdown has begun. */
import { type Clock, sleep } from '../runtime/clock.ts';

/** Answers true when what it looks at can serve now. Throwing and taking too long count as false. */
export type ReadinessCheck = () => boolean | Promise<boolean>;

export interface ReadinessReport {
  readonly ready: boolean;
  readonly checks: Readonly<Record<string, 'ok' | 'failed'>>;
}

export interface Readiness {
  report(): Promise<ReadinessReport>;
  /** From now on never ready again. */
  startDraining(): void;
}

const checkTimeoutMs = 2_000;

export function createReadiness(checks: Readonly<Record<string, ReadinessCheck>>, clock: Clock): Readiness {
  let draining = false;

  async function passes(check: ReadinessCheck): Promise<boolean> {
    try {
      return await Promise.race([check(), sleep(clock, checkTimeoutMs).then(() => false)]);
    } catch {
      return false;
    }
  }

  return {
    startDraining() {
      draining = true;
    },
    async report() {
      const all = { ...checks, serving: () => !draining };
      const results = await Promise.all(
        Object.entries(all).map(async ([name, check]) => [name, await passes(check)] as const),
      );
      return {
        ready: results.every(([, ok]) => ok),
        checks: Object.fromEntries(results.map(([name, ok]) => [name, ok ? 'ok' : 'failed'] as const)),
      };
    },
  };
}
