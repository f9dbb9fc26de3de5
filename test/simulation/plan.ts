/** What one seed will do: every seed draws its own mix of faults and limits, so that rare mixes come up too. */
import { defaultLimits, type Limits } from '../../runtime/limits.ts';
import { SeededRandom } from '../support/random.ts';

/** Probabilities per store call, message or second; zero switches the fault off in this seed. */
export interface FaultRates {
  readonly storeConflict: number;
  readonly storeUnavailable: number;
  readonly storeLostBefore: number;
  readonly storeLostAfter: number;
  readonly storeLate: number;
  readonly storeSlow: number;
  readonly crashAtStore: number;
  /** The host dies as it sends a commit, which runs some time later. */
  readonly orphanedCommit: number;
  /** A renewal of the lease is done, and the host pauses before it learns of it. */
  readonly pauseAtRenewal: number;
  readonly messageLost: number;
  readonly messageDoubled: number;
  readonly messageSlow: number;
  readonly wrongOwner: number;
  /** What every store call and every message takes at most when nothing is wrong. */
  readonly storeMs: number;
  readonly messageMs: number;
}

export interface ChaosRates {
  /** Mean pause between two events that befall a host. */
  readonly everyMs: number;
  readonly crash: number;
  readonly shortPause: number;
  readonly longPause: number;
  readonly succeedPaused: number;
  readonly databaseAway: number;
  readonly drain: number;
}

export interface Plan {
  readonly seed: number;
  readonly nodes: readonly string[];
  readonly shardCount: number;
  readonly leaseMs: number;
  readonly workMs: number;
  readonly accounts: number;
  /** Devices of each account that edit, beside one that only follows. */
  readonly editors: number;
  readonly clients: number;
  readonly counters: number;
  readonly thinkMs: number;
  /** Of each client. */
  readonly operationsMax: number;
  /** How long a client waits for an answer at most before it asks again. */
  readonly patienceMs: number;
  readonly faults: FaultRates;
  readonly chaos: ChaosRates;
  readonly limits: Limits;
  readonly wallSkewMs: number;
  readonly pageBytes: number;
}

/** A stream of randomness of its own for every part of the simulation, so that parts do not disturb each other. */
export function randomOf(seed: number, part: string): SeededRandom {
  let mixed = seed >>> 0;
  for (const character of part) mixed = Math.imul(mixed ^ character.charCodeAt(0), 0x01000193) >>> 0;
  return new SeededRandom(mixed);
}

/** A mix of faults in which some bugs show sooner than in any. */
export type Flavour = (typeof flavours)[number];
const flavours = ['sleepy', 'crashy'] as const;

export function isFlavour(text: string): text is Flavour {
  return flavours.some((flavour) => flavour === text);
}

export function planOf(seed: number, flavour?: Flavour): Plan {
  const random = randomOf(seed, 'plan');
  const sometimes = (most: number, chance = 0.6) => (random.chance(chance) ? most * random.fraction() : 0);
  const quiet = random.chance(0.1) && flavour === undefined;
  const rate = (most: number) => (quiet ? 0 : sometimes(most));
  // Hosts that take over from each other again and again, while routing still finds the old ones.
  const rivalry = random.chance(0.4) || flavour !== undefined;
  // Of these some sleep past their leases, the others crash while what they sent is still running.
  const sleepy = rivalry && (flavour === undefined ? random.chance(0.5) : flavour === 'sleepy');
  const crashy = rivalry && !sleepy;
  return {
    seed,
    nodes: rivalry || random.chance(0.4) ? ['a', 'b'] : ['a'],
    shardCount: random.pick([1, 4, 16]),
    leaseMs: rivalry ? random.pick([2_000, 3_000]) : random.pick([3_000, 6_000, 10_000]),
    workMs: 8_000 + random.below(16_000),
    accounts: random.pick([0, 1, 1, 2]),
    clients: sleepy ? 5 : random.pick([1, 3, 5]),
    counters: sleepy ? random.pick([1, 2]) : random.pick([1, 2, 4]),
    thinkMs: random.pick([20, 100, 400]),
    operationsMax: 70,
    patienceMs: sleepy ? 15_000 : random.pick([1_000, 5_000, 15_000]),
    editors: random.pick([1, 2, 2]),
    faults: {
      storeConflict: rate(0.1),
      storeUnavailable: rate(0.05),
      storeLostBefore: rate(0.05),
      storeLostAfter: rate(0.1),
      storeLate: crashy ? 0.1 : rate(0.1),
      storeSlow: crashy ? 0.06 : rate(0.2),
      orphanedCommit: crashy ? 0.1 : rate(0.01),
      crashAtStore: crashy ? 0.004 : rate(0.004),
      pauseAtRenewal: sleepy ? 0.25 : 0,
      messageLost: rate(0.1),
      messageDoubled: rate(0.15),
      messageSlow: rate(0.1),
      wrongOwner: rivalry ? 0.4 : sometimes(0.3),
      storeMs: random.pick([3, 30, 120]),
      messageMs: random.pick([2, 20, 100]),
    },
    chaos: {
      everyMs: quiet
        ? Number.POSITIVE_INFINITY
        : random.pick(sleepy ? [1_000, 2_500] : [1_500, 4_000, 10_000]),
      crash: sleepy ? 0.3 : crashy ? 2 : sometimes(3, 0.7),
      shortPause: rivalry ? 0 : sometimes(3),
      longPause: sleepy ? 6 : crashy ? 1 : sometimes(3),
      succeedPaused: random.fraction(),
      databaseAway: sleepy ? 1 : crashy ? 2 : sometimes(2),
      drain: sometimes(1),
    },
    limits: { ...limitsOf(random), ...(rivalry ? { idleMs: 300_000 } : {}) },
    wallSkewMs: sometimes(400),
    pageBytes: random.pick([1_500, 4_000, 1_000_000]),
  };
}

function limitsOf(random: SeededRandom): Limits {
  return {
    ...defaultLimits,
    mailboxMax: random.pick([3, 1_000, 1_000]),
    actorsMax: random.pick([4, 50_000, 50_000]),
    activationsMax: random.pick([1, 64]),
    idleMs: random.pick([500, 3_000, 300_000]),
    gatherBytesMax: random.pick([1, 2_000, 1_000_000, 1_000_000]),
    cachedRowBytesMax: random.pick([0, 700, 64 * 1_024]),
    batchActorsMax: random.pick([1, 2, 64]),
    commitsInFlightMax: random.pick([1, 2, 4]),
    deliveriesMax: random.pick([1, 4, 64]),
    sweepMs: random.pick([300, 1_000, 3_000]),
    defaultDeadlineMs: random.pick([3_000, 25_000]),
  };
}
