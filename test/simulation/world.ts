/**
 * One simulation: the real runtime and the real `user` and `signin` actors beside the purpose-made `counter`, over the
 * model database, with every clock, message and store call in the hands of the seed.
 *
 *   work    clients work while hosts, messages and store calls fail as the seed's plan has it
 *   heal    nothing fails any more; whatever is under way ends
 *   rest    no tell and no timer is pending; clients read once more, and the checkers judge
 */
import {
  createKinds,
  createSessionTokens,
  createSigninKeys,
  defaultAccountSettings,
  type PasswordHasher,
} from '../../actors/mod.ts';
import { createKeyring } from '../../runtime/keyring.ts';
import { Account } from './account.ts';
import type { Checker, ReportOf } from './checkers/checker.ts';
import { ConvergenceChecker } from './checkers/convergence.ts';
import { Durable } from './checkers/durable.ts';
import { EffectChecker } from './checkers/effects.ts';
import { EpochChecker } from './checkers/epochs.ts';
import { History } from './checkers/history.ts';
import { OutputGateChecker } from './checkers/output-gate.ts';
import { SessionChecker } from './checkers/sessions.ts';
import { StalenessChecker } from './checkers/staleness.ts';
import { TimerChecker } from './checkers/timers.ts';
import { counterKind } from './counter.ts';
import { CounterClient } from './counters.ts';
import { WatchedDatabase } from './database.ts';
import { Device } from './devices.ts';
import { Gateway } from './gateway.ts';
import { Network } from './network.ts';
import { Nodes } from './nodes.ts';
import { type Flavour, planOf, randomOf } from './plan.ts';
import { startOfTimeMs } from './process.ts';
import { StorageFaults } from './storage-faults.ts';
import { SimulatedTime } from './time.ts';
import { Trace } from './trace.ts';

export interface Violation {
  readonly checker: string;
  readonly message: string;
}

export interface Simulated {
  readonly seed: number;
  readonly violation: Violation | undefined;
  readonly commits: number;
  readonly trace: readonly string[];
}

const cheapHasher: PasswordHasher = {
  hash: async (password) => `hash of ${password}`,
  verify: async (hashed, password) => hashed === `hash of ${password}`,
};

const keyring = createKeyring(Buffer.alloc(32, 7));
const tokens = createSessionTokens(keyring.derive('session-token'));
const signinKeys = createSigninKeys(keyring);
const restMs = 120_000;

export interface SimulateOptions {
  readonly trace: boolean;
  readonly flavour?: Flavour | undefined;
}

export async function simulate(seed: number, options: SimulateOptions): Promise<Simulated> {
  const world = createWorld(seed, options);
  const onDefect = (error: unknown) =>
    world.reportOf('defect')(error instanceof Error ? `${error.stack}` : `${error}`);
  process.on('unhandledRejection', onDefect);
  const { stackTraceLimit } = Error;
  // Errors are every other answer here, and nobody reads where they came from.
  if (!options.trace) Error.stackTraceLimit = 0;
  try {
    await world.run();
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
    process.off('unhandledRejection', onDefect);
  }
  return { seed, violation: world.violation(), commits: world.commits(), trace: world.trace.lines };
}

function createWorld(seed: number, { trace: traced, flavour }: SimulateOptions) {
  const plan = planOf(seed, flavour);
  const time = new SimulatedTime();
  const trace = new Trace(traced, () => time.nowMs);
  const streams = (part: string) => randomOf(seed, part);

  let violation: Violation | undefined;
  let commits = 0;
  const reportOf: ReportOf = (checker) => (message) => {
    trace.add(() => `!!! ${checker}: ${message}`);
    violation ??= { checker, message };
  };

  const durable = new Durable();
  const history = new History();
  const databaseMs = () => startOfTimeMs + time.nowMs;
  const convergence = new ConvergenceChecker(reportOf('convergence'), durable);
  const staleness = new StalenessChecker(reportOf('staleness'));
  const sessions = new SessionChecker(reportOf('sessions'));
  const checkers: readonly Checker[] = [
    new EpochChecker(reportOf('epochs')),
    new EffectChecker(reportOf('effects'), durable, history),
    new OutputGateChecker(reportOf('output-gate'), durable),
    new TimerChecker(reportOf('timers'), durable, databaseMs),
    staleness,
    convergence,
  ];

  const database = new WatchedDatabase(
    { nowMs: databaseMs },
    {
      activated: (address, epoch) => {
        trace.add(() => `  ${address.kind} ${address.id.slice(0, 4)} activated under ${epoch}`);
        for (const checker of checkers) checker.activated?.(address, epoch);
      },
      committed: (commit) => {
        commits += 1;
        trace.add(
          () =>
            `  ${commit.address.kind} ${commit.address.id.slice(0, 4)} committed ${commit.epoch}/${commit.version}`,
        );
        durable.committed(commit);
        for (const checker of checkers) checker.committed?.(commit);
      },
    },
  );
  const faults = new StorageFaults({
    time,
    random: streams('storage'),
    rates: plan.faults,
    trace,
    onCrash: (process) => nodes.crash(process),
    onPause: (process) => nodes.pauseLong(process),
  });
  const network = new Network({
    time,
    random: streams('network'),
    rates: plan.faults,
    trace,
    shardCount: plan.shardCount,
    ownerOf: (shard) => database.ownerOf(shard),
    watcher: {
      replied: (call, reply) => {
        trace.add(
          () =>
            `  ${call.address.kind} ${call.address.id.slice(0, 4)} ${call.command} ${call.callId} replied`,
        );
        for (const checker of checkers) checker.replied?.(call, reply);
      },
      woke: (tell) => {
        for (const checker of checkers) checker.woke?.(tell);
      },
    },
  });
  const settings = {
    ...defaultAccountSettings,
    accessTokenAgeMs: streams('settings').pick([8_000, 5_184_000_000]),
    plainAttemptsMax: 10_000,
    captchaAttemptsMax: 10_000,
  };
  const items = { contentLimitBytes: 1_000_000, transferLimitBytes: plan.pageBytes };
  const kinds = createKinds({ settings, items, tokens, signinKeys, hasher: cheapHasher });
  const nodes: Nodes = new Nodes({
    plan,
    time,
    random: streams('nodes'),
    trace,
    kinds: [...kinds, counterKind],
    database,
    faults,
    network,
    randomOf: streams,
  });
  const gateway = new Gateway(network, time);

  const { thinkMs, operationsMax, patienceMs } = plan;
  const shared = { gateway, time, staleness, thinkMs, operationsMax, patienceMs };
  const uuids = Array.from({ length: 6 }, () => streams('uuids').uuid());
  const foreignUuids = uuids.slice(0, 1);
  const accounts = ['one@example.org', 'two@example.org']
    .slice(0, plan.accounts)
    .map(
      (email, index) => new Account(email, uuids.slice(2 * index + 1, 2 * index + 3), reportOf('sessions')),
    );
  const devices = accounts.flatMap((account) =>
    ['20240226', '20200115', '20240226'].slice(0, plan.editors + 1).map((apiVersion, index) => {
      const follows = index === 0;
      const device = `${account.email.slice(0, 3)}-${follows ? 'follower' : index}`;
      const random = streams(device);
      const replicaReport = reportOf('replicas');
      return new Device({
        ...shared,
        account,
        device,
        follows,
        random,
        tokens,
        signinKeys,
        sessions,
        apiVersion,
        replicaReport,
        foreignUuids,
      });
    }),
  );
  const counters = ['c1', 'c2', 'c3', 'c4'].slice(0, plan.counters);
  const clients = ['p', 'q', 'r']
    .slice(0, plan.clients)
    .map((name) => new CounterClient({ ...shared, name, counters, random: streams(name), history }));

  async function run(): Promise<void> {
    let working = true;
    const work = [...devices, ...clients].map((client) => client.work(plan.workMs));
    void Promise.all([...work, nodes.disturb(plan.workMs)]).then(() => {
      working = false;
    });
    await time.run(plan.workMs, () => violation !== undefined);
    if (violation !== undefined) return;
    trace.add(() => '--- heal');
    faults.heal();
    network.heal();
    nodes.heal();
    const isOver = () =>
      violation !== undefined || (!working && nodes.isReady && convergence.pending() === undefined);
    await time.run(time.nowMs + restMs, isOver);
    if (violation !== undefined) return;
    const pending = convergence.pending() ?? (working ? 'a client still waits' : undefined);
    if (pending !== undefined) return convergence.stuck(pending);
    await rest();
  }

  async function rest(): Promise<void> {
    trace.add(() => '--- rest');
    let finished = false;
    const last = Promise.all([
      ...devices.map((device) => device.finish(durable)),
      ...clients.map((client) => client.finish()),
    ]);
    void last.then((hindrances) => {
      finished = true;
      for (const hindrance of hindrances) if (hindrance !== undefined) convergence.stuck(hindrance);
    });
    await time.run(time.nowMs + restMs, () => finished || violation !== undefined);
    if (!finished && violation === undefined) convergence.stuck('a last reading is not answered');
    if (violation === undefined) for (const checker of checkers) checker.atRest?.();
  }

  return { run, reportOf, trace, violation: () => violation, commits: () => commits };
}
