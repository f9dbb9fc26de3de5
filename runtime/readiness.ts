/** Whether this process should be sent requests: every check passes and no shutdown has begun. */
import { type Clock, sleep } from './clock.ts';

/**
 * Answers true when what it looks at can serve now, `degraded` when requests are served all the same. Throwing and
 * taking too long count as false.
 */
export type ReadinessCheck = () => Passed | Promise<Passed>;
type Passed = boolean | 'degraded';

export const checkResults = ['ok', 'degraded', 'failed'] as const;
export type CheckResult = (typeof checkResults)[number];

export interface ReadinessReport {
  readonly ready: boolean;
  readonly checks: Readonly<Record<string, CheckResult>>;
}

export interface Readiness {
  report(): Promise<ReadinessReport>;
  /** From now on never ready again. */
  startDraining(): void;
}

const checkTimeoutMs = 2_000;

/** A check that is in `tolerated` never fails: at its worst this process is degraded. */
export function createReadiness(
  checks: Readonly<Record<string, ReadinessCheck>>,
  clock: Clock,
  tolerated: readonly string[] = [],
): Readiness {
  let draining = false;

  async function resultOf(check: ReadinessCheck): Promise<CheckResult> {
    try {
      const passed = await Promise.race([check(), sleep(clock, checkTimeoutMs).then(() => false)]);
      if (passed === 'degraded') return 'degraded';
      return passed ? 'ok' : 'failed';
    } catch {
      return 'failed';
    }
  }

  const tolerating = (name: string, result: CheckResult): CheckResult =>
    result === 'failed' && tolerated.includes(name) ? 'degraded' : result;

  return {
    startDraining() {
      draining = true;
    },
    async report() {
      const all = { ...checks, serving: () => !draining };
      const results = await Promise.all(
        Object.entries(all).map(
          async ([name, check]) => [name, tolerating(name, await resultOf(check))] as const,
        ),
      );
      return {
        ready: results.every(([, result]) => result !== 'failed'),
        checks: Object.fromEntries(results),
      };
    },
  };
}
