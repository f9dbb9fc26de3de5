/** All checkers of one simulation, and the first violation that any of them reports. */

import type { TellRow } from '../../../runtime/store/store.ts';
import type { AskCall } from '../../../runtime/transport/transport.ts';
import type { DatabaseClock, DatabaseWatcher } from '../database.ts';
import { simulatedKinds, simulatedRevisions } from '../domain.ts';
import type { OutputWatcher } from '../endpoint.ts';
import type { Plan } from '../plan.ts';
import type { SimulatedProcess } from '../process.ts';
import type { SimulatedTime } from '../time.ts';
import type { Trace } from '../trace.ts';
import { AvailabilityChecker } from './availability.ts';
import type { Checker, ReportOf } from './checker.ts';
import { CommandChecker } from './commands.ts';
import { ConvergenceChecker } from './convergence.ts';
import { Durable } from './durable.ts';
import { EffectChecker } from './effects.ts';
import { EpochChecker } from './epochs.ts';
import { History } from './history.ts';
import { JobChecker } from './jobs.ts';
import { MailChecker } from './mails.ts';
import { MessageChecker } from './messages.ts';
import { OutputGateChecker } from './output-gate.ts';
import { QuickJobChecker } from './quick-jobs.ts';
import { RevisionChecker } from './revisions.ts';
import { SessionChecker } from './sessions.ts';
import { ShareChecker } from './shares.ts';
import { StalenessChecker } from './staleness.ts';
import { SurvivorChecker } from './survivors.ts';
import { TimerChecker } from './timers.ts';
import { VaultChecker } from './vaults.ts';

/** The promises that rest on the database's clock. */
const answersFromMemory = ['staleness', 'sessions', 'replicas', 'leases'];

export interface Violation {
  readonly checker: string;
  readonly message: string;
}

export class Checkers implements DatabaseWatcher, OutputWatcher {
  readonly durable = new Durable();
  readonly history = new History();
  readonly jobs: JobChecker;
  readonly quickJobs: QuickJobChecker;
  readonly convergence: ConvergenceChecker;
  readonly staleness: StalenessChecker;
  readonly sessions: SessionChecker;
  readonly availability: AvailabilityChecker;
  readonly shares: ShareChecker;
  readonly mails: MailChecker | undefined;
  readonly messages: MessageChecker | undefined;
  readonly survivors: SurvivorChecker;
  readonly commands: CommandChecker;
  readonly vaults: VaultChecker | undefined;
  readonly #checkers: Checker[];
  readonly #muted: ReadonlySet<string>;
  readonly #trace: Trace;
  readonly #isOwner: (host: string, shard: number) => boolean;
  #violation: Violation | undefined;
  #commits = 0;

  constructor(
    trace: Trace,
    databaseClock: DatabaseClock,
    time: SimulatedTime,
    plan: Plan,
    isOwner: (host: string, shard: number) => boolean,
  ) {
    this.#isOwner = isOwner;
    const { durable, history, reportOf } = this;
    const { skewMs } = plan.delivery ?? {};
    this.#trace = trace;
    this.#muted = new Set(plan.isDatabaseClockSound ? [] : answersFromMemory);
    this.availability = new AvailabilityChecker(reportOf('availability'), plan.isPlanned);
    this.convergence = new ConvergenceChecker(reportOf('convergence'), durable);
    this.staleness = new StalenessChecker(reportOf('staleness'));
    this.jobs = new JobChecker(reportOf('jobs'), durable);
    this.quickJobs = new QuickJobChecker(reportOf('quick jobs'), durable, time);
    this.sessions = new SessionChecker(reportOf('sessions'));
    this.shares = new ShareChecker(reportOf('shares'), durable);
    this.mails =
      skewMs === undefined
        ? undefined
        : new MailChecker({ report: reportOf('mails'), durable, time, skewMs });
    this.messages =
      skewMs === undefined
        ? undefined
        : new MessageChecker({ report: reportOf('messages'), durable, time, skewMs });
    this.commands = new CommandChecker(reportOf('commands'), time);
    this.survivors = new SurvivorChecker(reportOf('survivors'), durable);
    this.vaults =
      plan.vaults === undefined ? undefined : new VaultChecker(reportOf('vaults'), durable, this.survivors);
    this.#checkers = [
      new EpochChecker(reportOf('epochs')),
      new EffectChecker(reportOf('effects'), durable, history),
      new OutputGateChecker(reportOf('output-gate'), durable),
      new TimerChecker(reportOf('timers'), durable, () => databaseClock.latestMs()),
      this.jobs,
      this.staleness,
      this.convergence,
      this.shares,
      this.commands,
      new RevisionChecker(reportOf('revisions'), durable, simulatedRevisions.bytesMax),
      ...(this.mails === undefined ? [] : [this.mails]),
      ...(this.messages === undefined ? [] : [this.messages]),
      // The second asks the first.
      ...(this.vaults === undefined ? [] : [this.survivors, this.vaults]),
    ];
  }

  get violation(): Violation | undefined {
    return this.#violation;
  }

  get commits(): number {
    return this.#commits;
  }

  readonly reportOf: ReportOf = (checker) => (message) => {
    if (this.#muted.has(checker)) return;
    this.#trace.add(() => `!!! ${checker}: ${message}`);
    this.#violation ??= { checker, message };
  };

  readonly activated: DatabaseWatcher['activated'] = (address, epoch) => {
    this.#trace.add(() => `  ${address.kind} ${address.id.slice(0, 4)} activated under ${epoch}`);
    for (const checker of this.#checkers) checker.activated?.(address, epoch);
  };

  readonly committed: DatabaseWatcher['committed'] = (commit) => {
    const { address, epoch, version } = commit;
    this.#commits += 1;
    this.durable.committed(commit);
    this.#trace.add(() => {
      const last = this.durable.slice<readonly string[]>(address, 'journal')?.slice(-4).join(' ') ?? '';
      return `  ${address.kind} ${address.id.slice(0, 4)} committed ${epoch}/${version} ${last}`;
    });
    for (const checker of this.#checkers) checker.committed?.(commit);
  };

  readonly registered: DatabaseWatcher['registered'] = (incarnation) => {
    this.#trace.add(() => `  ${incarnation.slice(0, 4)} registered`);
    for (const checker of this.#checkers) checker.registered?.(incarnation);
  };

  readonly claimed: DatabaseWatcher['claimed'] = (incarnation, epoch, shards) => {
    this.#trace.add(() => `  ${incarnation.slice(0, 4)} claimed ${shards.join(' ')} under ${epoch}`);
    for (const checker of this.#checkers) checker.claimed?.(incarnation, shards);
  };

  readonly freed: DatabaseWatcher['freed'] = (shards) => {
    this.#trace.add(() => `  freed ${shards.join(' ')}`);
    for (const checker of this.#checkers) checker.freed?.(shards);
  };

  /** The obstacles to coming to rest. */
  pending(): string | undefined {
    const { convergence, mails, messages, survivors, vaults } = this;
    const ofVaults = () => survivors.pending() ?? vaults?.pending();
    return convergence.pending() ?? mails?.pending() ?? messages?.pending() ?? ofVaults();
  }

  /** A checker that needs the machines, which are made after the checkers. */
  join(checker: Checker): void {
    this.#checkers.push(checker);
  }

  replied(call: AskCall, reply: unknown, process: SimulatedProcess): void {
    const { address, command, callId } = call;
    this.#trace.add(() => `  ${address.kind} ${address.id.slice(0, 4)} ${command} ${callId} replied`);
    for (const checker of this.#checkers) checker.replied?.(call, reply, process);
  }

  /**
   * A former owner may finish a workflow that it began as the owner. Each step is a turn of its own, and the database refuses
   * those that come too late.
   */
  mayAnswer(host: string, shard: number, { address, command }: AskCall): () => boolean {
    const kind = simulatedKinds.find(({ name }) => name === address.kind);
    const isWorkflow = kind?.commands[command]?.type === 'workflow';
    const mayFinish = isWorkflow && this.#isOwner(host, shard);
    return () => mayFinish || this.#isOwner(host, shard);
  }

  answeredUnserved(host: string, shard: number): void {
    this.reportOf('intake')(`${host} answered a call of shard ${shard}, which it does not serve`);
  }

  woke(tell: TellRow): void {
    for (const checker of this.#checkers) checker.woke?.(tell);
  }

  atRest(): void {
    for (const checker of this.#checkers) checker.atRest?.();
  }
}
