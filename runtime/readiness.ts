/**
 * Whether this process should get requests: every check passes and no shutdown has begun. One run of the checks goes on at a
 * time, and its result holds for a second, however many callers ask.
 */
import { type Clock, sleep } from './clock.ts';

/**
 * True if the checked part can serve now; `degraded` if requests are still served without it. Throwing and taking too long
 * count as false.
 */
export type ReadinessCheck = () => CheckOutcome | Promise<CheckOutcome>;
type CheckOutcome = boolean | 'degraded';

export const checkResults = ['ok', 'degraded', 'failed'] as const;
type CheckResult = (typeof checkResults)[number];

interface ReadinessReport {
  readonly ready: boolean;
  readonly checks: Readonly<Record<string, CheckResult>>;
}

export interface Readiness {
  report(): Promise<ReadinessReport>;
  /** From now on this process is never ready again. */
  startDraining(): void;
}

const checkTimeoutMs = 2_000;
/** A caller that asks more often gets the last answer. The checks cost the database something, and anyone may ask. */
const cacheMs = 1_000;

/** A check in `tolerated` never fails. At its worst this process is degraded. */
export function createReadiness(
  checks: Readonly<Record<string, ReadinessCheck>>,
  clock: Clock,
  tolerated: readonly string[] = [],
): Readiness {
  const all = Object.entries(checks).map(([name, check]) => ({ name, run: oneAtATime(check) }));
  let draining = false;
  let found: Promise<CheckResults> | undefined;
  let foundUntilMs = Number.NEGATIVE_INFINITY;

  async function resultOf(run: () => Promise<CheckOutcome>): Promise<CheckResult> {
    try {
      const passed = await Promise.race([run(), sleep(clock, checkTimeoutMs).then(() => false)]);
      if (passed === 'degraded') return 'degraded';
      return passed ? 'ok' : 'failed';
    } catch {
      return 'failed';
    }
  }

  async function runAll(): Promise<CheckResults> {
    const results = await Promise.all(
      all.map(async ({ name, run }) => [name, tolerating(name, await resultOf(run))] as const),
    );
    foundUntilMs = clock.monotonicMs() + cacheMs;
    return results;
  }

  const tolerating = (name: string, result: CheckResult): CheckResult =>
    result === 'failed' && tolerated.includes(name) ? 'degraded' : result;

  return {
    startDraining() {
      draining = true;
    },
    async report() {
      // All callers wait for the one run, which may take longer than its result is kept.
      if (clock.monotonicMs() >= foundUntilMs) {
        foundUntilMs = Number.POSITIVE_INFINITY;
        found = runAll();
      }
      const results = [...((await found) ?? []), ['serving', draining ? 'failed' : 'ok'] as const];
      return {
        ready: results.every(([, result]) => result !== 'failed'),
        checks: Object.fromEntries(results),
      };
    },
  };
}

type CheckResults = readonly (readonly [name: string, result: CheckResult])[];

/** A check that outlasts its callers is not started again. The next caller gets its result. */
function oneAtATime(check: ReadinessCheck): () => Promise<CheckOutcome> {
  let running: Promise<CheckOutcome> | undefined;
  return () => {
    running ??= (async () => check())().finally(() => {
      running = undefined;
    });
    return running;
  };
}
