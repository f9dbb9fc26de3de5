/**
 * One simulation: the real runtime over the model database, with the real `user` and `signin` actors and the purpose-made
 * `counter`. The seed decides about every clock, message and store call.
 *
 *   work    clients work while hosts, messages and store calls fail as the seed's plan has it
 *   heal    nothing fails any more; whatever is in flight ends
 *   rest    no tell and no timer is pending; clients read once more, and the checkers judge
 */

import { MailSender } from '../../actors/mailer/sender.ts';
import { Messengers } from '../../actors/messengers/messengers.ts';
import { provide } from '../../runtime/dependency.ts';
import { noMetrics, type RuntimeMetrics } from '../../runtime/host/runtime-metrics.ts';
import { Checkers, type Violation } from './checkers/checkers.ts';
import { LeaseChecker } from './checkers/leases.ts';
import { OwnershipChecker } from './checkers/ownership.ts';
import { type Client, createClients } from './clients.ts';
import { DatabaseClock, WatchedDatabase } from './database.ts';
import { Messenger, whatsappProviders } from './delivery/messenger.ts';
import { Relay } from './delivery/relay.ts';
import { settingsOfDelivery, simulatedKinds, simulatedSettings, syncTicketKey } from './domain.ts';
import { FaultInjector } from './fault-injector.ts';
import { Gateway, type GatewayProcess } from './gateway.ts';
import { Health } from './health.ts';
import { LaneServers } from './lane/servers.ts';
import { Links } from './links.ts';
import { Machines, type Run } from './machines.ts';
import { Nemesis } from './nemesis.ts';
import { Network } from './network.ts';
import { type Flavour, planOf, randomOf } from './plan.ts';
import type { SimulatedProcess } from './process.ts';
import { StickyFaults } from './sticky-faults.ts';
import { StorageFaults } from './storage-faults.ts';
import { SimulatedTime } from './time.ts';
import { Trace } from './trace.ts';

export interface Simulated {
  readonly seed: number;
  readonly violation: Violation | undefined;
  readonly commits: number;
  readonly trace: readonly string[];
}

/** Copies of messages for which nobody waits any more still arrive for this long. */
const stragglersMs = 5_000;
/** The last copy of a call that was sent after the healing arrives within this time. */
const lastCopyMs = 500;
const checkPauseMs = 50;

export interface SimulateOptions {
  readonly trace: boolean;
  readonly flavour?: Flavour | undefined;
}

export async function simulate(seed: number, options: SimulateOptions): Promise<Simulated> {
  const { run, checkers, trace } = createWorld(seed, options);
  const report = checkers.reportOf('defect');
  const onDefect = (error: unknown) => report(error instanceof Error ? `${error.stack}` : `${error}`);
  process.on('unhandledRejection', onDefect);
  const { stackTraceLimit } = Error;
  // Every other answer here is an error, and nobody reads where it came from.
  if (!options.trace) Error.stackTraceLimit = 0;
  try {
    await run();
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
    process.off('unhandledRejection', onDefect);
  }
  const { violation, commits } = checkers;
  return { seed, violation, commits, trace: trace.lines };
}

function createWorld(seed: number, options: SimulateOptions) {
  const plan = planOf(seed, options.flavour);
  const time = new SimulatedTime();
  const trace = new Trace(options.trace, () => time.nowMs);
  const streams = (part: string) => randomOf(seed, part);
  const databaseClock = new DatabaseClock(time);
  const isOwner = (host: string, shard: number) => {
    const run = machines.runs.find(({ process }) => process.name === host);
    const owner = database.shards().find((row) => row.shard === shard)?.incarnation;
    return run !== undefined && owner === run.store.incarnation;
  };
  const checkers = new Checkers(trace, databaseClock, time, plan, isOwner);
  const database = new WatchedDatabase(databaseClock, checkers);
  const rates = plan.faults;
  const crash = (process: SimulatedProcess) => machines.crash(process);
  const pause = (process: SimulatedProcess) => machines.pauseLong(process);
  const faultInjector = new FaultInjector({ random: streams('mishaps'), rates, crash, pause });
  const shared = { plan, time, trace, rates, faultInjector, randomOf: streams };
  const faults = new StorageFaults({
    ...shared,
    random: streams('storage'),
    wording: streams('wording'),
    onCrash: crash,
    onPause: pause,
  });
  const links = new Links(time);
  const network = new Network({
    ...shared,
    links,
    random: streams('network'),
    shardCount: plan.shardCount,
    watcher: checkers,
  });
  const accessTokenAgeMs = streams('settings').pick([8_000, 5_184_000_000]);
  const provided = [
    ...simulatedSettings(accessTokenAgeMs, plan.pageBytes),
    ...(plan.delivery === undefined ? [] : settingsOfDelivery(accessTokenAgeMs)),
  ];
  const relay =
    plan.delivery === undefined || checkers.mails === undefined
      ? undefined
      : new Relay({
          plan: plan.delivery,
          random: streams('relay'),
          time,
          mails: checkers.mails,
          crash,
          pause,
        });
  const stickyFaults = new StickyFaults(time, database);
  const messenger =
    plan.delivery === undefined || checkers.messages === undefined
      ? undefined
      : new Messenger({
          plan: plan.delivery,
          random: streams('messenger'),
          time,
          messages: checkers.messages,
          crash,
          pause,
          whatsapp: streams('whatsapp').pick(whatsappProviders),
        });
  const ports = { ...shared, database, faults, stickyFaults, network };
  const { availability, convergence } = checkers;
  const metrics: RuntimeMetrics = {
    ...noMetrics,
    // Commits of a host that was cut off beyond its lease are, and nobody waits for them.
    commit: (outcome) => outcome === 'fenced' && !plan.isTroubled && availability.fenced(),
  };
  const machines: Machines = new Machines({
    ...ports,
    kinds: simulatedKinds,
    provided,
    metrics,
    jobBegan: (self, job) => {
      trace.add(() => `  ${self.kind} ${self.id} begins ${job.op}`);
      checkers.jobs.began(self, job);
    },
    random: streams('machines'),
    providedTo: (process) => [
      ...(relay === undefined ? [] : [provide(MailSender, relay.senderOf(process))]),
      ...(messenger === undefined ? [] : [provide(Messengers, messenger.of(process))]),
    ],
  });
  const nemesis = new Nemesis({ ...ports, machines, links, databaseClock, random: streams('nemesis') });
  const gatewayProcesses = () => machines.runs.filter(isEntrance);
  const health = new Health({ plan, machines, faults, stickyFaults, database });
  const healthyHostsFor = health.healthyHostsFor.bind(health);
  const gateway = new Gateway({
    time,
    random: streams('gateway'),
    gatewayProcesses,
    availability,
    healthyHostsFor,
  });
  checkers.quickJobs.watch((counter) => health.healthyHostOf(counter));
  const lane =
    plan.lane === undefined
      ? undefined
      : new LaneServers({
          plan: plan.lane,
          shardCount: plan.shardCount,
          key: syncTicketKey,
          random: streams('lane'),
          time,
          trace,
          checker: checkers.commands,
          crash,
          gatewayProcesses,
          hosts: () => machines.runs,
        });
  const clients = createClients({ plan, time, gateway, checkers, randomOf: streams, lane });
  const ownership = new OwnershipChecker({
    database,
    machines,
    shardCount: plan.shardCount,
    leaseMs: plan.leaseMs,
    report: checkers.reportOf('ownership'),
  });
  checkers.join(ownership);
  checkers.join(new LeaseChecker(checkers.reportOf('leases'), () => machines.runs));

  async function run(): Promise<void> {
    const work = started([
      ...clients.map((client) => client.work(plan.workMs)),
      nemesis.disturb(plan.workMs),
    ]);
    await time.run(plan.workMs, () => checkers.violation !== undefined);
    trace.add(() => '--- heal');
    for (const part of [faultInjector, faults, stickyFaults, nemesis, machines, relay, messenger, lane])
      part?.heal();
    let stragglersUntilMs = time.nowMs + stragglersMs;
    await until(() => {
      if (gateway.isWaiting) stragglersUntilMs = Math.max(stragglersUntilMs, time.nowMs + lastCopyMs);
      if (time.nowMs < stragglersUntilMs || !work.done) return 'a client still waits';
      return ownership.incomplete() ?? ownership.misplaced(true) ?? machines.busy ?? checkers.pending();
    });
    trace.add(() => '--- rebalance');
    machines.runs[0]?.endpoint.hint({ hint: 'rebalance' });
    await until(() => ownership.incomplete() ?? ownership.misplaced(false));
    if (checkers.violation === undefined) await rest();
  }

  /** Lets time pass until there are no more obstacles to an end. */
  async function until(hindrance: () => string | undefined): Promise<void> {
    let checkAtMs = 0;
    let hindered: string | undefined = 'nothing was looked at';
    await time.run(time.nowMs + plan.restMs, () => {
      if (checkers.violation !== undefined) return true;
      if (time.nowMs >= checkAtMs) {
        checkAtMs = time.nowMs + checkPauseMs;
        ownership.watch(time.nowMs);
        hindered = hindrance();
      }
      return hindered === undefined;
    });
    stopIf(hindered);
  }

  function stopIf(hindrance: string | undefined): void {
    if (hindrance !== undefined) convergence.stuck(hindrance);
  }

  async function rest(): Promise<void> {
    trace.add(() => '--- rest');
    network.eventsLost = plan.lane?.lastEventsLost ?? 0;
    await last('a last save', async (client) => client.lastSave?.());
    network.eventsLost = 0;
    await last('a last reading', (client) => client.finish());
    if (checkers.violation === undefined) checkers.atRest();
  }

  async function last(what: string, run: (client: Client) => Promise<string | undefined>): Promise<void> {
    const acting = started(
      clients.map(async (client) => {
        const hindrance = await run(client);
        if (hindrance !== undefined) convergence.stuck(hindrance);
      }),
    );
    await time.run(time.nowMs + plan.restMs, () => acting.done || checkers.violation !== undefined);
    if (!acting.done) convergence.stuck(`${what} is not answered`);
  }

  return { run, checkers, trace };
}

const isEntrance = (run: Run): run is Run & GatewayProcess => run.actors !== undefined;

/** Resolves when all of it is done. The process notices its failures. */
function started(all: readonly Promise<void>[]): { readonly done: boolean } {
  const state = { done: false };
  void Promise.all(all).then(() => {
    state.done = true;
  });
  return state;
}
