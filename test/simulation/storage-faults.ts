/**
 * Faults of a call to the store. It may be slow, lost on its way or on its way back, or reported as lost while it is
 * still running. A busy or full database may refuse it. After `heal` none of this begins any more, but calls that are
 * still running end.
 */
import { DatabaseError } from 'pg';
import { toStoreError } from '../../runtime/store/postgres/errors.ts';
import type { Store } from '../../runtime/store/store.ts';
import type { Schedule } from '../kit/model-store/model-store.ts';
import type { SeededRandom } from '../kit/random.ts';
import type { FaultInjector } from './fault-injector.ts';
import type { FaultRates, Plan } from './plan.ts';
import type { SimulatedProcess } from './process.ts';
import type { SimulatedTime } from './time.ts';
import type { Trace } from './trace.ts';

type Fate = 'done' | 'conflict' | 'unavailable' | 'lost-before' | 'lost-after' | 'late' | 'orphaned';
type Answer = () => void;

const said = (severity: string, code: string) =>
  Object.assign(new DatabaseError('simulated', 0, 'error'), { severity, code });

/**
 * The possible codes for each. A server that is shutting down gives codes with another meaning than those of a
 * running server.
 */
const words: Readonly<Record<'conflict' | 'unavailable' | 'unknown', readonly Error[]>> = {
  conflict: [said('ERROR', '40001'), said('ERROR', '40P01')],
  unavailable: [said('ERROR', '53100'), said('ERROR', '25006')],
  unknown: [
    new Error('the connection is closed'),
    said('ERROR', '40003'),
    said('ERROR', 'XX000'),
    said('FATAL', '57P01'),
    said('FATAL', '40001'),
    said('PANIC', '53100'),
  ],
};

/** The time until everything that a cut has held up is done. */
export const recoveryMs = 4_000;
const lateMaxMs = 8_000;
/** With the latency of a call it ends within the recovery. */
const heldUpMaxMs = recoveryMs - 500;
const orphanedMaxMs = 2_000;
/** These matter most. */
const weights: Partial<Record<keyof Store, number>> = { commit: 3, claim: 3, release: 8 };
const slowMaxMs = 1_500;
const slowClaimMaxMs = 8_000;

const repeatable: ReadonlySet<keyof Store> = new Set([
  'commit',
  'activate',
  'barrier',
  'claim',
  'pruneCalls',
  'removeEnded',
]);

export interface StorageFaultsOptions {
  readonly plan: Pick<Plan, 'isTroubled'>;
  readonly time: SimulatedTime;
  readonly random: SeededRandom;
  /** For the messages of faults. */
  readonly wording: SeededRandom;
  readonly rates: FaultRates;
  readonly trace: Trace;
  readonly faultInjector: FaultInjector;
  /** The process must die now, while the database goes on. */
  readonly onCrash: (process: SimulatedProcess) => void;
  readonly onPause: (process: SimulatedProcess) => void;
}

export class StorageFaults {
  readonly #options: StorageFaultsOptions;
  readonly #away = new Map<SimulatedProcess, number>();
  #healed = false;

  constructor(options: StorageFaultsOptions) {
    this.#options = options;
  }

  heal(): void {
    this.#healed = true;
    // What a cut has held up runs after it has healed, too.
    const { nowMs } = this.#options.time;
    for (const [process, untilMs] of this.#away) this.#away.set(process, Math.min(untilMs, nowMs));
  }

  /** Whether the database can be reached from this process, and could for a while. */
  isHealthy(process: SimulatedProcess): boolean {
    return (this.#away.get(process) ?? 0) + recoveryMs <= this.#options.time.nowMs;
  }

  /** The database is unreachable from this process for a while. */
  cutOff(process: SimulatedProcess, forMs: number): void {
    this.#away.set(process, this.#options.time.nowMs + forMs);
  }

  scheduleOf(process: SimulatedProcess): Schedule {
    return <T>(method: keyof Store, apply: () => T) =>
      new Promise<T>((resolve, reject) => {
        const { faultInjector } = this.#options;
        faultInjector.atStore(process);
        process.enter(() => {
          this.#begin(process, method, apply, resolve, reject);
          faultInjector.atStore(process);
        });
      });
  }

  #begin<T>(
    process: SimulatedProcess,
    method: keyof Store,
    apply: () => T,
    resolve: (value: T) => void,
    reject: (error: unknown) => void,
  ): void {
    const { time, trace, faultInjector, wording } = this.#options;
    const fate = this.#fate(process, method);
    if (fate !== 'done') trace.add(() => `${process.name} store.${method}: ${fate}`);
    const answer = (what: Answer) =>
      time.after(this.#latencyMs(method), () => {
        faultInjector.atStore(process);
        process.enter(what);
      });
    const fail = (failure: keyof typeof words) =>
      answer(() => reject(toStoreError(wording.pick(words[failure]))));
    const run = (andThen: (result: T) => void) => {
      try {
        andThen(apply());
      } catch (error) {
        if (fate === 'done') answer(() => reject(error));
        else fail('unknown');
      }
    };
    if (fate === 'orphaned') {
      time.after(this.#options.random.fraction() * orphanedMaxMs, () => run(() => {}));
      this.#options.onCrash(process);
      return;
    }
    time.after(this.#latencyMs(method), () => {
      switch (fate) {
        case 'conflict':
        case 'unavailable':
          return fail(fate);
        case 'lost-before':
          return fail('unknown');
        case 'late':
          fail('unknown');
          time.after(this.#lateMs(process), () => {
            trace.add(() => `${process.name} store.${method}: ran late`);
            run(() => {});
          });
          return undefined;
        case 'lost-after':
          return run(() => fail('unknown'));
        case 'done':
          run((result) => answer(() => resolve(result)));
          if (this.#pausesNow(method)) this.#options.onPause(process);
      }
      return undefined;
    });
  }

  #fate(process: SimulatedProcess, method: keyof Store): Fate {
    if (this.#healed) return 'done';
    const { random, rates } = this.#options;
    if (this.#isAway(process)) return random.pick(['unavailable', 'lost-before', 'late']);
    let drawn = random.fraction() / (weights[method] ?? 1);
    const isNext = (rate: number) => {
      drawn -= rate;
      return drawn < 0;
    };
    if (method === 'commit' && random.chance(rates.orphanedCommit)) return 'orphaned';
    if (method === 'read' && rates.readConflict > 0 && random.chance(rates.readConflict)) return 'conflict';
    if (isNext(rates.storeUnavailable)) return 'unavailable';
    if (isNext(rates.storeLostBefore)) return 'lost-before';
    if (isNext(rates.storeLostAfter)) return 'lost-after';
    if (isNext(rates.storeLate)) return 'late';
    if (isNext(rates.storeConflict) && repeatable.has(method)) return 'conflict';
    return 'done';
  }

  #pausesNow(method: keyof Store): boolean {
    const { random, rates } = this.#options;
    return !this.#healed && method === 'renew' && random.chance(rates.pauseAtRenewal);
  }

  /**
   * Most run soon after they were given up, which is when it matters; those of a disconnected host run at any time. Where nobody may
   * notice another's trouble, they end before their host counts as well: a statement of its own would be such a trouble.
   */
  #lateMs(process: SimulatedProcess): number {
    const { random, plan } = this.#options;
    if (!this.#isAway(process)) return lateMaxMs ** random.fraction();
    return random.fraction() * (plan.isTroubled ? heldUpMaxMs : lateMaxMs);
  }

  #isAway(process: SimulatedProcess): boolean {
    return (this.#away.get(process) ?? 0) > this.#options.time.nowMs;
  }

  #latencyMs(method: keyof Store): number {
    const { random, rates } = this.#options;
    const happens = (rate: number) => !this.#healed && random.chance(rate);
    if (method === 'claim' && happens(rates.claimSlow)) return random.fraction() * slowClaimMaxMs;
    if (happens(rates.storeSlow)) return random.fraction() * slowMaxMs;
    return 0.2 + random.fraction() * rates.storeMs * 0.5;
  }
}
