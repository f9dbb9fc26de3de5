/**
 * Whether this process should be sent requests: every check passes and no shutdown has begun. Checks run once at a time,
 * and what it finds holds for a second, however many ask.
 */
import { type Clock, sleep } from './clock.ts';

/**
 * Answers true when what it looks at can serve now, `degraded` when requests are served all the same. Throwing and
 * taking too long count as false.
 */
export type ReadinessCheck = () => Passed | Promise<Passed>;
type Passed = boolean | 'degraded';

export const checkResults = ['ok', 'degraded', 'failed'] as const;
type CheckResult = (typeof checkResults)[number];

interface ReadinessReport {
  readonly ready: boolean;
  readonly checks: Readonly<Record<string, CheckResult>>;
}

export interface Readiness {
  report(): Promise<ReadinessReport>;
  /** From now on never ready again. */
  startDraining(): void;
}

const checkTimeoutMs = 2_000;
/** A caller that asks more often gets the last answer: running the checks costs the database something, and anybody may ask. */
const keptMs = 1_000;

/** A check that is in `tolerated` never fails: at its worst this process is degraded. */
export function createReadiness(
  checks: Readonly<Record<string, ReadinessCheck>>,
  clock: Clock,
  tolerated: readonly string[] = [],
): Readiness {
  const all = Object.entries(checks).map(([name, check]) => ({ name, run: oneAtATime(check) }));
  let draining = false;
  let found: Promise<Found> | undefined;
  let foundUntilMs = Number.NEGATIVE_INFINITY;

  async function resultOf(run: () => Promise<Passed>): Promise<CheckResult> {
    try {
      const passed = await Promise.race([run(), sleep(clock, checkTimeoutMs).then(() => false)]);
      if (passed === 'degraded') return 'degraded';
      return passed ? 'ok' : 'failed';
    } catch {
      return 'failed';
    }
  }

  async function runAll(): Promise<Found> {
    const results = await Promise.all(
      all.map(async ({ name, run }) => [name, tolerating(name, await resultOf(run))] as const),
    );
    foundUntilMs = clock.monotonicMs() + keptMs;
    return results;
  }

  const tolerating = (name: string, result: CheckResult): CheckResult =>
    result === 'failed' && tolerated.includes(name) ? 'degraded' : result;

  return {
    startDraining() {
      draining = true;
    },
    async report() {
      // Until it is found, which may take longer than it is kept, everybody waits for the one run.
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

type Found = readonly (readonly [name: string, result: CheckResult])[];

/** A check that takes longer than anybody waits for it is not joined by another: the next is told what comes of it. */
function oneAtATime(check: ReadinessCheck): () => Promise<Passed> {
  let running: Promise<Passed> | undefined;
  return () => {
    running ??= (async () => check())().finally(() => {
      running = undefined;
    });
    return running;
  };
}
