/** The plan of one seed: every seed draws its own mix of faults and limits, so that rare mixes come up too. */
import { defaultLimits, type Limits } from '../../runtime/host/limits.ts';
import { SeededRandom } from '../kit/random.ts';
import { type DeliveryPlan, deliveryOf, mailWaitMaxMs } from './delivery/plan.ts';
import { type LanePlan, laneOf } from './lane/plan.ts';
import { type VaultsPlan, vaultsOf } from './vaults/plan.ts';

/** Probabilities per store call, message or second; zero switches the fault off in this seed. */
export interface FaultRates {
  readonly storeConflict: number;
  /** The database gives a read up, and it would succeed at once. */
  readonly readConflict: number;
  readonly storeUnavailable: number;
  readonly storeLostBefore: number;
  readonly storeLostAfter: number;
  readonly storeLate: number;
  readonly storeSlow: number;
  /** A claim is answered when its host may be dead. */
  readonly claimSlow: number;
  /** At each await of a store call, and of a message. */
  readonly crashAtStore: number;
  readonly pauseAtStore: number;
  readonly crashAtMessage: number;
  readonly pauseAtMessage: number;
  /** The host dies as it sends a commit, which runs some time later. */
  readonly orphanedCommit: number;
  /** A renewal of the lease succeeds, and the host pauses before it learns of it. */
  readonly pauseAtRenewal: number;
  readonly messageLost: number;
  readonly messageDoubled: number;
  readonly messageSlow: number;
  /** A call reaches a host that does not own the actor, besides the listener. */
  readonly wrongOwner: number;
  /** Others learn late whether a host listens for a shard. */
  readonly interestSlow: number;
  /** The longest time of any store call and message when nothing is wrong. */
  readonly storeMs: number;
  readonly messageMs: number;
}

export interface ChaosRates {
  /** The mean time between two faults of a process. */
  readonly everyMs: number;
  readonly succeedPaused: number;
  /** How often a successor knows that its predecessor is dead, and waits for no lease. */
  readonly succeedAtOnce: number;
  /** How often each comes, against the others. */
  readonly events: {
    readonly crash: number;
    readonly shortPause: number;
    readonly longPause: number;
    readonly databaseAway: number;
    readonly networkAway: number;
    readonly allAway: number;
    /** Cut off for a moment, and noticed at once. */
    readonly blip: number;
    readonly partition: number;
    readonly oneWay: number;
    readonly wallJump: number;
    readonly databaseJump: number;
    readonly restart: number;
    /** Shut down for good. */
    readonly retire: number;
    /** An operator empties a node, or lets it have shards again. */
    readonly drain: number;
    readonly undrain: number;
    readonly rebalance: number;
    /** A fault that sticks to one counter. */
    readonly stickyFault: number;
  };
}

export interface MachinePlan {
  readonly id: string;
  readonly roles: 'all' | 'host' | 'gateway';
  readonly startsAtMs: number;
  /** It is never shut down for good. */
  readonly stays: boolean;
  /** How often a pause of it is a sleep of the whole machine. */
  readonly suspends: number;
}

export interface Plan {
  readonly seed: number;
  readonly machines: readonly MachinePlan[];
  readonly shardCount: number;
  readonly leaseMs: number;
  readonly workMs: number;
  readonly accounts: number;
  /** Devices of each account that edit, beside one that only reads. */
  readonly editors: number;
  readonly clients: number;
  readonly counters: number;
  /** Clients that start jobs. */
  readonly slowJobClients: number;
  readonly thinkMs: number;
  /** Calls of each client. */
  readonly callsMax: number;
  /** The longest time that a client waits for an answer before it asks again. */
  readonly patienceMs: number;
  /** Nothing fails, and an operator does one thing after another. */
  readonly isPlanned: boolean;
  /** Nothing fails except around one counter or another. */
  readonly hasStickyFaults: boolean;
  /**
   * One part after another fails: a host is cut off from the database, reads are given up, and the runs of one job hang. Nobody
   * else may notice.
   */
  readonly isTroubled: boolean;
  /** The database's clock stays within the margin of answers from memory; commits are safe whatever it does. */
  readonly isDatabaseClockSound: boolean;
  readonly faults: FaultRates;
  readonly chaos: ChaosRates;
  readonly limits: Limits;
  readonly wallSkewMs: number;
  readonly wallJumpMs: number;
  /** The largest error of the database's clock, in either direction together. */
  readonly databaseJumpMs: number;
  /** The largest relative error of a monotonic clock's speed. */
  readonly driftMost: number;
  readonly pageBytes: number;
  /** The time that everything may take to come to rest. */
  readonly restMs: number;
  /** Undefined: nobody sends mail or shares anything. */
  readonly delivery?: DeliveryPlan;
  /** Undefined: nobody shares vaults. */
  readonly vaults?: VaultsPlan;
  /** Undefined: devices sync over HTTP alone. */
  readonly lane?: LanePlan;
}

/** A separate random stream for every part of the simulation, so that parts do not disturb each other. */
export function randomOf(seed: number, part: string): SeededRandom {
  let mixed = seed >>> 0;
  for (const character of part) mixed = Math.imul(mixed ^ character.charCodeAt(0), 0x01000193) >>> 0;
  return new SeededRandom(mixed);
}

/** A mix of faults in which some bugs show sooner than in any other. */
export type Flavour = (typeof flavours)[number];
const drawnFlavours = ['sleepy', 'crashy', 'cluster', 'partitioned', 'planned', 'sticky'] as const;
/** Each of the last three runs by itself, with little else. */
const flavours = [...drawnFlavours, 'troubled', 'delivery', 'vaults', 'lane'] as const;

export function isFlavour(text: string): text is Flavour {
  return flavours.some((flavour) => flavour === text);
}

const restMs = 120_000;
const hostIds = ['a', 'b', 'c', 'd'];
const gatewayIds = ['g', 'h'];

export function planOf(seed: number, flavour?: Flavour): Plan {
  const plan = mixOf(seed, flavour);
  if (flavour === 'delivery') return withDelivery(plan, randomOf(seed, 'delivery'));
  if (flavour === 'vaults') return withVaults(plan, randomOf(seed, 'vaults'));
  if (flavour === 'lane') return withLane(plan, randomOf(seed, 'lane'));
  if (!plan.isPlanned) return plan;
  if (plan.isTroubled) return withTroubles(withoutFaults(plan));
  return plan.hasStickyFaults ? withStickyFaults(withoutFaults(plan)) : withoutFaults(plan);
}

function mixOf(seed: number, chosenFlavour: Flavour | undefined): Plan {
  const random = randomOf(seed, 'plan');
  const jobs = randomOf(seed, 'hauls');
  const sometimes = (most: number, chance = 0.6) => (random.chance(chance) ? most * random.fraction() : 0);
  const flavour = chosenFlavour ?? (random.chance(0.7) ? random.pick(drawnFlavours) : undefined);
  const quiet = random.chance(0.1) && chosenFlavour === undefined;
  const rate = (most: number) =>
    quiet ? 0 : sometimes(flavour === 'cluster' || flavour === 'crashy' ? most / 3 : most);
  // Hosts take over from each other again and again, while routing still finds the old ones. Some sleep past their
  // leases, others crash while their messages are still on their way.
  const isTroubled = flavour === 'troubled';
  const isPlanned = flavour === 'planned' || flavour === 'sticky' || isTroubled;
  const sleepy = flavour === 'sleepy';
  const crashy = flavour === 'crashy';
  const rivalry = sleepy || crashy;
  // Hosts come and go at the operators' wish, and hosts cannot reach each other.
  const cluster = flavour === 'cluster';
  const partitioned = flavour === 'partitioned';
  const seldom = (most: number, chance?: number) => sometimes(cluster ? most / 4 : most, chance);
  const isDatabaseClockSound = random.chance(0.95);
  const leaseMs =
    rivalry || cluster ? random.pick([2_000, 3_000]) : random.pick([2_000, 3_000, 6_000, 10_000]);
  const workMs = 8_000 + random.below(16_000);
  return {
    seed,
    machines: machinesOf(random, { hosts: hostCountOf(random, flavour), workMs, cluster, rivalry }),
    shardCount: random.pick([1, 4, 16, 64]),
    leaseMs,
    workMs,
    accounts: random.pick([0, 1, 1, 2]),
    clients: rivalry ? 5 : random.pick([1, 3, 5]),
    counters: rivalry ? random.pick([1, 2]) : random.pick([1, 2, 4]),
    slowJobClients: jobs.pick([0, 1, 2]),
    thinkMs: random.pick([20, 100, 400]),
    callsMax: 70,
    patienceMs: sleepy ? 15_000 : random.pick([1_000, 5_000, 15_000]),
    editors: random.pick([1, 2, 2]),
    isPlanned,
    hasStickyFaults: flavour === 'sticky',
    isTroubled,
    isDatabaseClockSound,
    faults: {
      storeConflict: rate(0.1),
      readConflict: 0,
      storeUnavailable: rate(0.05),
      storeLostBefore: rate(0.05),
      storeLostAfter: rate(0.1),
      storeLate: crashy ? 0.05 : cluster ? 0.05 : rate(0.1),
      storeSlow: crashy ? 0.1 : cluster ? 0.1 : rate(0.2),
      claimSlow: crashy ? 0 : sleepy ? 0.2 : rate(0.2),
      orphanedCommit: crashy ? 0.1 : rate(0.01),
      crashAtStore: crashy ? 0.0005 : rate(0.002),
      pauseAtStore: sleepy ? 0.002 : crashy ? 0 : rate(0.001),
      crashAtMessage: crashy ? 0 : rate(0.001),
      pauseAtMessage: crashy ? 0 : rate(0.001),
      pauseAtRenewal: sleepy ? 0.25 : 0,
      messageLost: rate(0.05),
      messageDoubled: rate(0.15),
      messageSlow: rate(0.1),
      wrongOwner: rivalry || cluster ? 0.4 : sometimes(0.3),
      interestSlow: rate(0.5),
      storeMs: random.pick([3, 30, 120]),
      messageMs: random.pick([2, 20, 100]),
    },
    chaos: {
      everyMs: quiet
        ? Number.POSITIVE_INFINITY
        : random.pick(
            sleepy
              ? [1_000, 2_500]
              : crashy
                ? [4_000, 10_000]
                : cluster
                  ? [400, 1_200]
                  : [1_500, 4_000, 10_000],
          ),
      succeedPaused: random.fraction(),
      succeedAtOnce: crashy ? 0.9 : 0.4,
      events: {
        crash: sleepy ? 0.3 : crashy ? 2 : seldom(3, 0.7),
        shortPause: rivalry ? 0 : seldom(3),
        longPause: sleepy ? 6 : crashy ? 1 : seldom(3),
        databaseAway: sleepy ? 1 : crashy ? 2 : seldom(2),
        networkAway: partitioned ? 3 : seldom(2),
        allAway: partitioned ? 2 : seldom(2),
        blip: partitioned ? 6 : seldom(4),
        partition: partitioned ? 4 : seldom(2),
        oneWay: partitioned ? 3 : seldom(2),
        wallJump: seldom(2),
        databaseJump: seldom(2),
        restart: cluster ? 1 : sometimes(1),
        retire: cluster ? 0.3 : sometimes(1),
        drain: cluster ? 4 : sometimes(1),
        undrain: cluster ? 3 : sometimes(1),
        rebalance: cluster ? 4 : sometimes(1),
        stickyFault: seldom(2),
      },
    },
    limits: {
      ...limitsOf(random),
      ...readLimitsOf(randomOf(seed, 'reads')),
      ...jobLimitsOf(jobs),
      ...rowLimitsOf(randomOf(seed, 'rows')),
      ...(rivalry ? { idleMs: 300_000 } : {}),
      // A row that goes sooner than its actor leaves memory costs that actor its next commit; real rows stay for far
      // longer.
      ...(isPlanned ? { endedActorMs: 86_400_000 } : {}),
    },
    wallSkewMs: sometimes(400),
    wallJumpMs: sometimes(4_000),
    // Together they stay within the margin of the lease.
    databaseJumpMs: isDatabaseClockSound ? sometimes(0.6 * Math.max(1_000, leaseMs / 5)) : 4 * leaseMs,
    driftMost: sometimes(0.05),
    pageBytes: random.pick([1_500, 4_000, 1_000_000]),
    restMs,
  };
}

const plannedEveryMs = 1_000;

/** The rest of a mix when nothing fails. */
function withoutFaults(plan: Plan): Plan {
  const none = Object.fromEntries(
    Object.keys(plan.faults).map((fault) => [fault, 0]),
  ) as unknown as FaultRates;
  const never = Object.fromEntries(Object.keys(plan.chaos.events).map((event) => [event, 0]));
  const { storeMs, messageMs } = plan.faults;
  const { limits } = plan;
  return {
    ...plan,
    faults: { ...none, storeMs: Math.min(storeMs, 30), messageMs: Math.min(messageMs, 20) },
    chaos: {
      ...plan.chaos,
      everyMs: Math.min(plan.chaos.everyMs, plannedEveryMs),
      events: {
        ...(never as unknown as ChaosRates['events']),
        restart: 3,
        retire: 1,
        drain: 3,
        undrain: 3,
        rebalance: 1,
      },
    },
    limits: {
      ...limits,
      mailboxMax: 1_000,
      actorsMax: 50_000,
      sharedReadsOfActorMax: 64,
      readsWaitingMax: 10_000,
      defaultDeadlineMs: 25_000,
    },
    wallJumpMs: 0,
    databaseJumpMs: 0,
    isDatabaseClockSound: true,
  };
}

const stickyFaultsEveryMs = 2_000;

/** Some counters have sticky faults, and nobody else may notice. */
function withStickyFaults(plan: Plan): Plan {
  const never = Object.fromEntries(Object.keys(plan.chaos.events).map((event) => [event, 0]));
  return {
    ...plan,
    // One host, because the hand-over of a shard waits for its faulty counters.
    machines: plan.machines.filter(({ stays }) => stays),
    counters: 4,
    faults: { ...plan.faults, storeMs: Math.min(plan.faults.storeMs, 10) },
    chaos: {
      ...plan.chaos,
      everyMs: stickyFaultsEveryMs,
      events: { ...(never as unknown as ChaosRates['events']), stickyFault: 1 },
    },
  };
}

const troubledEveryMs = 1_000;
/** A run of a job that hangs does so for seconds, and is repeated. */
const troubledRestMs = 300_000;

/** One part is in trouble, and the others may not notice. */
function withTroubles(plan: Plan): Plan {
  const never = Object.fromEntries(Object.keys(plan.chaos.events).map((event) => [event, 0]));
  return {
    ...plan,
    leaseMs: 2_000,
    workMs: 30_000,
    callsMax: 200,
    counters: 4,
    slowJobClients: 2,
    restMs: troubledRestMs,
    faults: { ...plan.faults, readConflict: 0.05 },
    chaos: {
      ...plan.chaos,
      everyMs: troubledEveryMs,
      events: { ...(never as unknown as ChaosRates['events']), databaseAway: 1 },
    },
    limits: { ...plan.limits, jobsMax: 1, jobsWaitingMax: 1_000 },
  };
}

/** The last mail that faults have put off is sent within a minute after its wait. */
const deliveryRestMs = mailWaitMaxMs + 60_000;

/** Mails, switches, reminders and shares, with little else. */
function withDelivery(plan: Plan, random: SeededRandom): Plan {
  const { faults, chaos, limits, wallSkewMs } = plan;
  const databaseJumpMs = Math.min(plan.databaseJumpMs, 400);
  return {
    ...plan,
    accounts: 0,
    clients: 1,
    counters: 1,
    slowJobClients: 0,
    restMs: deliveryRestMs,
    // Long enough for outages to pass, and for everything that falls due within them.
    leaseMs: 2_000,
    workMs: 20_000 + random.below(20_000),
    callsMax: 150,
    thinkMs: random.pick([20, 80, 200]),
    faults: seldom(faults),
    // Renewals fail now and then, and attempts outlive their leases.
    limits: { ...limits, jobLeaseMs: random.pick([400, 400, 2_000]), sweepMs: 1_000 },
    // With a larger clock error, a host would send early.
    wallJumpMs: 0,
    databaseJumpMs,
    isDatabaseClockSound: true,
    chaos: {
      ...chaos,
      everyMs: Math.max(chaos.everyMs, 2_500),
      events: { ...chaos.events, wallJump: 0, retire: 0 },
    },
    delivery: deliveryOf(random, wallSkewMs + databaseJumpMs),
  };
}

/** Vaults and their items. A move takes several turns of several actors, and must complete now and then. */
function withVaults(plan: Plan, random: SeededRandom): Plan {
  return untilSomebodyLeaves({
    ...plan,
    accounts: 0,
    clients: 1,
    counters: 1,
    slowJobClients: 0,
    isDatabaseClockSound: true,
    databaseJumpMs: Math.min(plan.databaseJumpMs, 0.12 * plan.leaseMs),
    thinkMs: random.pick([20, 80, 200]),
    faults: random.chance(0.5) ? seldom(plan.faults) : plan.faults,
    vaults: vaultsOf(random),
  });
}

/** Longer than any notice takes. */
const laneRestMs = 1_000_000;

/** Devices that sync by named commands, over the lane and over HTTP. */
function withLane(plan: Plan, random: SeededRandom): Plan {
  return {
    ...plan,
    accounts: random.pick([1, 1, 2]),
    editors: random.pick([1, 2, 2]),
    clients: 1,
    counters: 1,
    slowJobClients: 0,
    callsMax: 40,
    isDatabaseClockSound: true,
    databaseJumpMs: Math.min(plan.databaseJumpMs, 0.12 * plan.leaseMs),
    thinkMs: random.pick([20, 80, 400]),
    restMs: laneRestMs,
    faults: random.chance(0.6) ? seldom(plan.faults) : plan.faults,
    lane: laneOf(random),
  };
}

/** A leaving user must leave something behind, and somebody who gets it. */
function untilSomebodyLeaves(plan: Plan): Plan {
  if (plan.vaults?.leavers === 0) return plan;
  const { workMs, callsMax, faults } = plan;
  const longer = { workMs: Math.max(workMs, 24_000), callsMax: Math.max(callsMax, 200) };
  return { ...plan, ...longer, faults: seldom(faults) };
}

/** Every step of a mail takes several store calls and messages. */
function seldom({ storeMs, messageMs, ...rates }: FaultRates): FaultRates {
  const fewer = Object.entries(rates).map(([name, rate]) => [name, rate / 3]);
  return {
    ...(Object.fromEntries(fewer) as Omit<FaultRates, 'storeMs' | 'messageMs'>),
    storeMs: Math.min(storeMs, 30),
    messageMs: Math.min(messageMs, 20),
  };
}

function hostCountOf(random: SeededRandom, flavour: Flavour | undefined): number {
  if (flavour === undefined) return random.pick([1, 1, 2, 3]);
  return flavour === 'sleepy' || flavour === 'crashy'
    ? random.pick([2, 2, 3])
    : random.pick(flavour === 'cluster' ? [2, 2, 3, 4] : [2, 3, 4]);
}

function machinesOf(
  random: SeededRandom,
  { hosts, workMs, cluster, rivalry }: { hosts: number; workMs: number; cluster: boolean; rivalry: boolean },
): readonly MachinePlan[] {
  // Clients must have requests while hosts are away.
  const isApart = random.chance(rivalry ? 0.8 : 0.4);
  const gateways = isApart ? random.pick([1, 2]) : 0;
  const machine = (id: string, roles: MachinePlan['roles'], index: number): MachinePlan => ({
    id,
    roles,
    startsAtMs: index > 0 && random.chance(cluster ? 0.5 : 0.2) ? random.fraction() * workMs : 0,
    stays: index === 0 || roles === 'gateway',
    suspends: random.pick([0, 0.5, 1]),
  });
  return [
    ...hostIds.slice(0, hosts).map((id, index) => machine(id, isApart ? 'host' : 'all', index)),
    ...gatewayIds.slice(0, gateways).map((id, index) => machine(id, 'gateway', index)),
  ];
}

function jobLimitsOf(random: SeededRandom): Pick<Limits, 'jobsMax' | 'jobsWaitingMax' | 'jobLeaseMs'> {
  return {
    jobsMax: random.pick([1, 3, 100]),
    jobsWaitingMax: random.pick([1, 1_000]),
    jobLeaseMs: random.pick([600, 2_000, 6_000]),
  };
}

function readLimitsOf(random: SeededRandom): Partial<Limits> {
  return {
    readsInFlightMax: random.pick([1, 2, 3]),
    readBatchRowsMax: random.pick([1, 4, 256]),
    sharedReadsOfActorMax: random.pick([1, 64, 64]),
    readsWaitingMax: random.pick([2, 10_000, 10_000]),
    readWaitMaxMs: random.pick([100, 5_000]),
  };
}

function rowLimitsOf(random: SeededRandom): Pick<Limits, 'endedActorMs' | 'goneNodeMs' | 'housekeepingMs'> {
  return {
    endedActorMs: random.pick([0, 1_000, 10_000, 86_400_000]),
    goneNodeMs: random.pick([1_000, 10_000]),
    housekeepingMs: random.pick([500, 2_000]),
  };
}

function limitsOf(random: SeededRandom): Limits {
  return {
    ...defaultLimits,
    mailboxMax: random.pick([3, 1_000, 1_000]),
    actorsMax: random.pick([4, 50_000, 50_000]),
    activationsMax: random.pick([1, 64]),
    idleMs: random.pick([500, 3_000, 300_000]),
    pendingBytesMax: random.pick([1, 2_000, 1_000_000, 1_000_000]),
    cachedRowBytesMax: random.pick([0, 700, 64 * 1_024]),
    batchActorsMax: random.pick([1, 2, 64]),
    batchBytesMax: random.pick([300, 1_000_000]),
    commitsInFlightMax: random.pick([1, 2, 4]),
    quarantinedCommitsInFlightMax: random.pick([1, 2]),
    deliveriesMax: random.pick([1, 4, 64]),
    deliveriesOfActorMax: random.pick([1, 4, 64]),
    sweepMs: random.pick([300, 1_000, 3_000]),
    defaultDeadlineMs: random.pick([3_000, 25_000]),
  };
}
