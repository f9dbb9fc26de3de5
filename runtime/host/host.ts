/**
 * A host runs the actors of the shards that it owns. It answers asks (`Dispatcher`), delivers due timers and pending tells,
 * runs jobs, keeps its lease, and drops idle actors from memory. This file has its life cycle and wires its parts together.
 * `start` makes it serve, `drain` ends it cleanly, and `abandon` ends it as a crash would.
 */
import { ActiveActors } from '../actor/active-actors.ts';
import type { ActorEnvironment } from '../actor/environment.ts';
import { removed } from '../actor/layers.ts';
import { BatchAnswers } from '../batches/batch-answers.ts';
import { sleep } from '../clock.ts';
import { Committer } from '../commit/committer.ts';
import type { DeliveryOptions } from '../delivery/delivery.ts';
import { TellDelivery } from '../delivery/tell-delivery.ts';
import { TimerDelivery } from '../delivery/timer-delivery.ts';
import { Dependencies, type Provided } from '../dependency.ts';
import { UnavailableError } from '../errors.ts';
import { Publisher } from '../events/publisher.ts';
import { Jobs } from '../jobs/jobs.ts';
import type { Kind } from '../kind.ts';
import { Lease, type LeaseOptions } from '../ownership/lease.ts';
import { Ownership } from '../ownership/ownership.ts';
import type { Random } from '../random.ts';
import { Reader } from '../read/reader.ts';
import { UnchangedSinceMarkers } from '../read/unchanged-since.ts';
import { SampledLog } from '../sampled-log.ts';
import { Semaphore } from '../semaphore.ts';
import { StoreError } from '../store/store.ts';
import type { Tracer } from '../tracing.ts';
import type { AskCall, Transport } from '../transport/transport.ts';
import { createActors, Retrier } from './actors.ts';
import { Dispatcher } from './dispatcher.ts';
import { HostCommands } from './host-commands.ts';
import { Housekeeping } from './housekeeping.ts';
import type { Limits } from './limits.ts';
import type { RuntimeMetrics } from './runtime-metrics.ts';

/** Repeated activations and barriers of locked rows at once: fewer than there are connections for them. */
const lockedConcurrencyMax = 1;

export interface HostOptions extends Omit<LeaseOptions, 'onLost' | 'onLapsed' | 'onRestored'> {
  readonly kinds: readonly Kind[];
  /** The dependencies of the kinds. */
  readonly provided?: readonly Provided[];
  readonly transport: Transport;
  readonly random: Random;
  readonly limits: Limits;
  readonly metrics: RuntimeMetrics;
  readonly shardCount: number;
  /** If absent, nothing is traced. */
  readonly tracer?: Tracer | undefined;
  /** Called when this incarnation was declared dead. It must not go on serving. */
  readonly onLeaseLost: () => void;
}

export class Host {
  readonly #options: HostOptions;
  readonly #actors: ActiveActors;
  readonly #environments = new Map<string, ActorEnvironment>();
  readonly #lease: Lease;
  readonly #ownership: Ownership;
  readonly #committer: Committer;
  readonly #reader: Reader;
  readonly #unchangedMarkers: UnchangedSinceMarkers;
  readonly #retrier: Retrier;
  readonly #failures: SampledLog;
  readonly #lockedRowSemaphore = new Semaphore(lockedConcurrencyMax);
  readonly #publisher: Publisher;
  readonly #jobs: Jobs;
  readonly #timers: TimerDelivery;
  readonly #tells: TellDelivery;
  readonly #housekeeping: Housekeeping;
  readonly #dispatcher: Dispatcher;
  #state: 'new' | 'serving' | 'draining' | 'ended' = 'new';

  constructor(options: HostOptions) {
    this.#options = options;
    const dependencies = allDependencies(options);
    this.#lease = new Lease({
      ...options,
      onLost: () => this.#leaseLost(),
      onLapsed: () => this.#ownership.lapsed(),
      onRestored: () => this.#ownership.restored(),
    });
    this.#failures = new SampledLog(options.clock);
    this.#committer = new Committer({ ...options, failures: this.#failures });
    this.#reader = new Reader(options);
    this.#retrier = new Retrier(options);
    this.#publisher = new Publisher({ ...options, host: options.node.incarnation });
    const delivery: DeliveryOptions = {
      ...options,
      deliver: (address, message) => this.#actors.deliver(address, message),
      shards: () => this.#ownership.shards,
    };
    const dependenciesOf = (kind: string) => dependencies.get(kind) ?? Dependencies.none;
    const { defaultDeadlineMs } = options.limits;
    const actors = createActors({ ...options, defaultDeadlineMs });
    const epochOf = (shard: number) => this.#ownership.epochOf(shard);
    this.#jobs = new Jobs({ ...delivery, ...options, actors, dependenciesOf, epochOf });
    this.#timers = new TimerDelivery({ ...delivery, jobs: this.#jobs });
    this.#tells = new TellDelivery(delivery);
    this.#housekeeping = new Housekeeping({ ...options, shards: () => this.#ownership.shards });
    this.#ownership = new Ownership({
      ...options,
      isClockRight: () => this.#lease.isClockRight,
      quiesce: (shards, withinMs) => this.#quiesce(shards, withinMs),
      onClaimed: () => {
        this.#timers.claimed();
        this.#tells.claimed();
      },
    });
    this.#unchangedMarkers = new UnchangedSinceMarkers({ epochOf });
    this.#actors = new ActiveActors({
      ...options,
      lease: this.#lease,
      lockedRowSemaphore: this.#lockedRowSemaphore,
      epochOf,
      environmentOf: (kind) => this.#environments.get(kind),
    });
    this.#dispatcher = new Dispatcher({
      ...options,
      lease: this.#lease,
      reader: this.#reader,
      actors: this.#actors,
      hostCommands: new HostCommands({
        ...options,
        actors: this.#actors,
        tells: this.#tells,
        publisher: this.#publisher,
        batches: new BatchAnswers({
          clock: options.clock,
          ask: (call) => this.#dispatcher.askFromRemote(call),
        }),
        epochOf,
      }),
      retrier: this.#retrier,
      dependenciesOf,
      isServing: () => this.#state === 'serving',
      epochOf,
    });
    for (const kind of options.kinds) {
      this.#environments.set(kind.name, this.#environment(kind, dependenciesOf(kind.name)));
    }
  }

  /** Registers, claims and serves. @throws StoreError | UnavailableError */
  async start(): Promise<void> {
    const { transport } = this.#options;
    await this.#lease.start();
    this.#assertNotEnded();
    transport.serve({
      ask: (call) => this.ask(call),
      askFromRemote: (call) => this.#dispatcher.askFromRemote(call),
      epochOf: (shard) => this.#ownership.epochOf(shard),
      wake: (tell) => this.#tells.offer([tell]),
      hinted: (hint) => this.#ownership.hinted(hint),
    });
    this.#state = 'serving';
    this.#actors.start();
    await this.#ownership.start();
    this.#assertNotEnded();
    this.#timers.start();
    this.#tells.start();
    this.#housekeeping.start();
  }

  #assertNotEnded(): void {
    if (this.#state === 'ended') throw new UnavailableError('this host was ended during its start');
  }

  /** True if the lease is valid, every shard that belongs here has been here, and the host takes the shards that become free. */
  get isReady(): boolean {
    return this.#state === 'serving' && this.#lease.isValid() && this.#ownership.isComplete;
  }

  /** Whether the database takes writes, as far as commits have shown. */
  get areWritesGood(): boolean {
    return this.#committer.areWritesGood;
  }

  /** Whether the clock is close enough to the database's for serving. */
  get isClockRight(): boolean {
    return this.#lease.isClockRight;
  }

  /** See `Lease.clockSkewMs`. */
  get clockSkewMs(): number {
    return this.#lease.clockSkewMs;
  }

  get hasLease(): boolean {
    return this.#lease.isValid();
  }

  get shardCount(): number {
    return this.#ownership.shards.length;
  }

  /** Shards that this host no longer serves and has not released yet. */
  get leavingShardCount(): number {
    return this.#ownership.leavingCount;
  }

  /** Live hosts that cannot be reached from here. */
  get unreachableHostCount(): number {
    return this.#ownership.unreachableHostCount;
  }

  /** Milliseconds since this host last read who holds each shard. */
  get reconciliationAgeMs(): number {
    return this.#ownership.reconciliationAgeMs;
  }

  /** Jobs that run here or wait for room. */
  get jobCount(): number {
    return this.#jobs.size;
  }

  /** Actors in memory, for metrics. */
  get actorCount(): number {
    return this.#actors.size;
  }

  /** No call, turn, read or commit is in flight. */
  get isIdle(): boolean {
    const parts = [this.#committer, this.#reader, this.#retrier, this.#lockedRowSemaphore];
    const areAllIdle = parts.every(({ isIdle }) => isIdle) && this.#actors.areAllIdle;
    return areAllIdle && this.#dispatcher.workflowsInFlight === 0;
  }

  /** Runs one command. @throws ActorError */
  ask(call: AskCall): Promise<unknown> {
    return this.#dispatcher.ask(call);
  }

  /**
   * Hands over its shards, finishes the work in flight within `withinMs`, and gives the lease back. Unfinished calls fail as moved
   * or as unknown. Nothing acknowledged is lost. A host that is still starting has nothing to hand over, but may have a lease.
   * Shards that belong to it would stay unserved until that lease ends.
   */
  async drain(withinMs: number): Promise<void> {
    if (this.#state === 'draining' || this.#state === 'ended') return this.abandon();
    this.#timers.stop();
    this.#tells.stop();
    const { clock } = this.#options;
    if (this.#state === 'serving') await Promise.race([this.#leave(withinMs), sleep(clock, withinMs)]);
    this.#stop();
    try {
      await this.#lease.leave();
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      this.#options.logger.warn(
        { failure: error.failure },
        'the lease could not be given back; it will expire',
      );
    }
    this.#options.transport.hint({ hint: 'nodes' });
  }

  async #leave(withinMs: number): Promise<void> {
    await this.#jobs.drain(withinMs / 2);
    await this.#ownership.leave();
    this.#state = 'draining';
    await this.#finished();
  }

  /** Stops at once without notifying anyone, as a crash would. */
  abandon(): void {
    this.#lease.abandon();
    this.#timers.stop();
    this.#tells.stop();
    this.#stop();
  }

  async #finished(): Promise<void> {
    do await sleep(this.#options.clock, 1);
    while (!this.isIdle);
  }

  async #quiesce(shards: ReadonlySet<number>, withinMs: number): Promise<void> {
    this.#jobs.dropShards(shards);
    await this.#actors.quiesce(shards, withinMs);
    this.#publisher.dropShards(shards);
  }

  #stop(): void {
    this.#state = 'ended';
    this.#jobs.stop();
    this.#housekeeping.stop();
    this.#options.transport.stop();
    this.#ownership.stop();
    this.#actors.stop();
    this.#publisher.stop();
  }

  #leaseLost(): void {
    this.abandon();
    this.#options.onLeaseLost();
  }

  // --- actors -----------------------------------------------------------------------------------------------

  #environment(kind: Kind, dependencies: Dependencies): ActorEnvironment {
    return {
      ...this.#options,
      kind,
      dependencies,
      lease: this.#lease,
      committer: this.#committer,
      reader: this.#reader,
      unchangedMarkers: this.#unchangedMarkers,
      kindOf: (membershipTable) =>
        this.#options.kinds.find((each) => each.membershipTable === membershipTable)?.name,
      lockedRowSemaphore: this.#lockedRowSemaphore,
      failures: this.#failures,
      publisher: this.#publisher,
      gone: (actor) => this.#actors.remove(actor),
      unreadable: (actor) => this.#release(actor),
      timersCommitted: (timers) => {
        for (const timer of timers) if (timer !== removed) this.#timers.armed(timer.due_at);
      },
      jobsCommitted: (address, changes) => this.#jobs.committed(address, changes),
      tellsCommitted: (tells) => {
        for (const tell of tells) this.#options.transport.wake(tell);
      },
    };
  }

  /** If there is no other host, the shard stays here. */
  #release({ shard }: { readonly shard: number }): void {
    if (this.#options.transport.reachesOthers) this.#ownership.release(shard);
  }
}

/** Keyed by kind. @throws if one of them is not provided */
function allDependencies({ kinds, provided = [] }: HostOptions): ReadonlyMap<string, Dependencies> {
  return new Map(kinds.map(({ name, uses }) => [name, new Dependencies(name, uses, provided)]));
}
