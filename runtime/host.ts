/**
 * A host: runs the actors of the shards it owns. It answers asks, delivers due timers and pending tells, keeps its
 * lease, and drops idle actors from memory. Everything it needs is passed in; `start` makes it serve, `drain` ends
 * it in order, `abandon` as a crash would.
 */
import { ActiveActors } from './actor/active-actors.ts';
import type { Actor } from './actor/actor.ts';
import type { ActorEnvironment } from './actor/environment.ts';
import { removed } from './actor/layers.ts';
import type { Message, Outcome } from './actor/message.ts';
import { joinAnswers, noAnswers, readFailure, sharedResults, splitReads } from './actor/reads.ts';
import { StateView } from './actor/turn.ts';
import { type TurnStep, turnMessage } from './actor/turn-message.ts';
import { createFlowActors } from './actors.ts';
import { type Address, shardOf } from './address.ts';
import type { AskCall } from './call.ts';
import { type Clock, sleep } from './clock.ts';
import type { AnyCommand, Flow, Plans, SharedCommand } from './command.ts';
import { Committer } from './commit/committer.ts';
import { Sweeper } from './delivery/sweeper.ts';
import { TellDelivery } from './delivery/tell-delivery.ts';
import { TimerDelivery } from './delivery/timer-delivery.ts';
import {
  ActorError,
  FencedError,
  MovedError,
  NotFoundError,
  OverloadedError,
  promisesNothing,
  RetryableError,
  TerminalError,
  UnavailableError,
} from './errors.ts';
import { Followers } from './events/followers.ts';
import { HostCommands, isHostCommand } from './host-commands.ts';
import type { Kind } from './kind.ts';
import type { Limits } from './limits.ts';
import type { HostCommand } from './operations.ts';
import { Lease } from './ownership/lease.ts';
import { Ownership } from './ownership/ownership.ts';
import type { Logger, RuntimeMetrics } from './ports.ts';
import type { Random } from './random.ts';
import { Repeating } from './repeating.ts';
import { type NodeRow, type Store, StoreError } from './store/store.ts';
import type { Transport } from './transport/transport.ts';

const pruneMax = 1_000;
const prunePauseMs = 60_000;
/** A call whose actor has moved is repeated soon: the next owner is on its way. */
const movedRetryMs = 100;

export interface HostOptions {
  readonly kinds: readonly Kind[];
  readonly store: Store;
  readonly transport: Transport;
  readonly clock: Clock;
  readonly random: Random;
  readonly limits: Limits;
  readonly metrics: RuntimeMetrics;
  readonly logger: Logger;
  readonly node: NodeRow;
  readonly shardCount: number;
  readonly leaseMs: number;
  /**
   * Whether no other process of this node id can be alive, as where this one holds the lock of the directory that
   * the database is in. Otherwise the former one's lease is waited out.
   */
  readonly isPredecessorDead: boolean;
  /** See `Lease`. */
  readonly verify?: () => Promise<void>;
  /** This incarnation was declared dead; the process should end. */
  readonly onLeaseLost: () => void;
}

interface DeclaredCommand {
  readonly command: AnyCommand;
  /** `kind.command`, as metrics name it. */
  readonly what: string;
}

export class Host {
  readonly #options: HostOptions;
  /** By kind and command. */
  readonly #commands: ReadonlyMap<string, ReadonlyMap<string, DeclaredCommand>>;
  readonly #actors: ActiveActors;
  readonly #environments = new Map<string, ActorEnvironment>();
  readonly #lease: Lease;
  readonly #ownership: Ownership;
  readonly #committer: Committer;
  readonly #followers: Followers;
  readonly #timers: TimerDelivery;
  readonly #tells: TellDelivery;
  readonly #pruning: Sweeper;
  readonly #hostCommands: HostCommands;
  readonly #repeating: Repeating;
  #flows = 0;
  #state: 'new' | 'serving' | 'draining' | 'ended' = 'new';

  constructor(options: HostOptions) {
    this.#options = options;
    this.#commands = new Map(options.kinds.map((kind) => [kind.name, declaredCommands(kind)]));
    this.#lease = new Lease({ ...options, onLost: () => this.#leaseLost() });
    this.#committer = new Committer(options);
    this.#followers = new Followers({ ...options, host: options.node.incarnation });
    const delivery = { ...options, deliver: this.deliver.bind(this), shards: () => this.#ownership.shards };
    this.#timers = new TimerDelivery(delivery);
    this.#tells = new TellDelivery(delivery);
    this.#pruning = new Sweeper(options, () => this.#pruneCalls());
    this.#repeating = new Repeating(options);
    this.#ownership = new Ownership({
      ...options,
      quiesce: (shards, withinMs) => this.#quiesce(shards, withinMs),
      onClaimed: () => {
        this.#timers.sweepWithin(0);
        this.#tells.sweepWithin(0);
      },
    });
    this.#actors = new ActiveActors({
      ...options,
      lease: this.#lease,
      epochOf: (shard) => this.#ownership.epochOf(shard),
      environmentOf: (kind) => this.#environments.get(kind),
    });
    this.#hostCommands = new HostCommands({
      ...options,
      actors: this.#actors,
      tells: this.#tells,
      epochOf: (shard) => this.#ownership.epochOf(shard),
      deliver: this.deliver.bind(this),
    });
    for (const kind of options.kinds) this.#environments.set(kind.name, this.#environment(kind));
  }

  /** Registers, claims and serves. @throws StoreError | UnavailableError */
  async start(): Promise<void> {
    const { transport } = this.#options;
    await this.#lease.start();
    this.#assertNotEnded();
    transport.serve({
      ask: (call) => this.ask(call),
      askFromElsewhere: (call) => this.#askFromElsewhere(call),
      wake: (tell) => this.#tells.offer([tell]),
      hinted: (hint) => this.#ownership.hinted(hint),
    });
    this.#state = 'serving';
    this.#actors.start();
    await this.#ownership.start();
    this.#assertNotEnded();
    this.#timers.start();
    this.#tells.start();
    this.#pruning.start();
  }

  #assertNotEnded(): void {
    if (this.#state === 'ended') throw new UnavailableError('this host was ended during its start');
  }

  /** The lease is valid, every shard that should be here has been here, and what becomes free is taken. */
  get isReady(): boolean {
    return this.#state === 'serving' && this.#lease.isValid() && this.#ownership.isComplete;
  }

  get hasLease(): boolean {
    return this.#lease.isValid();
  }

  get shardCount(): number {
    return this.#ownership.shards.length;
  }

  /** Shards that are on their way out: neither served here nor free yet. */
  get leavingShardCount(): number {
    return this.#ownership.leavingCount;
  }

  /** Other hosts that are there and cannot be heard. */
  get unheardHostCount(): number {
    return this.#ownership.unheardHostCount;
  }

  /** Milliseconds since this host last saw whose every shard is. */
  get lookAgeMs(): number {
    return this.#ownership.lookAgeMs;
  }

  /** Actors in memory, for metrics. */
  get actorCount(): number {
    return this.#actors.size;
  }

  /**
   * Hands over what it owns, finishes what is under way, for at most `withinMs`, and gives the lease back. What could
   * not be finished fails as moved or as unknown; nothing acknowledged is lost.
   */
  async drain(withinMs: number): Promise<void> {
    if (this.#state !== 'serving') return this.abandon();
    this.#timers.stop();
    this.#tells.stop();
    const { clock } = this.#options;
    const leaving = this.#ownership.leave().then(() => {
      this.#state = 'draining';
      return this.#finished();
    });
    await Promise.race([leaving, sleep(clock, withinMs)]);
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

  /** Stops at once without a word to anybody, as a crash would. */
  abandon(): void {
    this.#lease.abandon();
    this.#timers.stop();
    this.#tells.stop();
    this.#stop();
  }

  async #finished(): Promise<void> {
    do {
      await this.#committer.idle();
      await sleep(this.#options.clock, 1);
    } while (this.#flows > 0 || !this.#actors.areAllIdle);
  }

  async #quiesce(shards: ReadonlySet<number>, withinMs: number): Promise<void> {
    await this.#actors.quiesce(shards, withinMs);
    this.#followers.dropShards(shards);
  }

  #stop(): void {
    this.#state = 'ended';
    this.#pruning.stop();
    this.#options.transport.stop();
    this.#ownership.stop();
    this.#actors.stop();
    this.#followers.stop();
  }

  #leaseLost(): void {
    this.#options.logger.error({}, 'another incarnation has taken over this node');
    this.abandon();
    this.#options.onLeaseLost();
  }

  // --- asks -------------------------------------------------------------------------------------------------

  /** Runs one command. @throws ActorError */
  ask(call: AskCall): Promise<unknown> {
    const declared = this.#commands.get(call.address.kind)?.get(call.command);
    if (isHostCommand(call.command)) return this.#runHostCommand(call.command, call);
    if (declared === undefined) {
      return Promise.reject(new TerminalError(`unknown command ${call.address.kind}.${call.command}`));
    }
    if (this.#state !== 'serving') return Promise.reject(new MovedError('this host does not serve'));
    return this.#dispatch(call, declared);
  }

  /** @throws ActorError */
  async #askFromElsewhere(call: AskCall): Promise<unknown> {
    const declared = this.#commands.get(call.address.kind)?.get(call.command);
    if (declared === undefined) return this.ask(call);
    const request = declared.command.request.safeParse(call.request);
    if (!request.success) throw new TerminalError(`the request of ${declared.what} does not fit`);
    const shard = shardOf(call.address, this.#options.shardCount);
    const epoch = this.#ownership.epochOf(shard);
    try {
      return await this.ask({ ...call, request: request.data });
    } catch (error) {
      throw this.#isOwnedStill(shard, epoch) ? error : withoutPromise(error);
    }
  }

  #isOwnedStill(shard: number, epoch: number | undefined): boolean {
    return epoch !== undefined && epoch === this.#ownership.epochOf(shard) && this.#lease.isValid();
  }

  async #runHostCommand(command: HostCommand, call: AskCall): Promise<unknown> {
    this.#assertLease();
    try {
      return await this.#hostCommands.run(command, call);
    } catch (error) {
      throw error instanceof StoreError ? readFailure(error) : error;
    }
  }

  #dispatch(call: AskCall, { command, what }: DeclaredCommand): Promise<unknown> {
    switch (command.type) {
      case 'shared':
        return this.#share(call, command, what);
      case 'flow':
        return this.#runFlow(call, command.creates ?? false, (flow) => command.run(flow, call.request));
      case 'turn':
        return this.#turn(call, command.creates ?? false, {
          reads:
            command.reads === undefined ? undefined : (view) => command.reads?.(view, call.request) ?? {},
          turn: (turn, reads) => command.turn(turn, call.request, reads),
          recorded: command.repeat === 'recorded',
        });
    }
  }

  #turn(call: AskCall, creates: boolean, step: TurnStep): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const settle = (outcome: Outcome) =>
        'error' in outcome ? reject(outcome.error) : resolve(outcome.value);
      const what = `${call.address.kind}.${call.command}`;
      const shard = shardOf(call.address, this.#options.shardCount);
      this.deliver(
        call.address,
        turnMessage(
          { address: call.address, callId: call.callId, deadlineMs: call.deadlineMs, what, creates, shard },
          step,
          settle,
        ),
      );
    });
  }

  async #runFlow(call: AskCall, creates: boolean, run: (flow: Flow) => Promise<unknown>): Promise<unknown> {
    if (this.#flows >= this.#options.limits.flowsMax) {
      this.#options.metrics.overloaded(`${call.address.kind}.${call.command}`);
      throw new OverloadedError('too many calls are under way');
    }
    this.#flows += 1;
    const progress = { mayHaveEffect: false };
    try {
      return await run(this.#flow(call, creates, progress));
    } catch (error) {
      throw progress.mayHaveEffect ? afterFirstStep(error) : error;
    } finally {
      this.#flows -= 1;
    }
  }

  #flow(call: AskCall, creates: boolean, progress: { mayHaveEffect: boolean }): Flow {
    const turn: Flow['turn'] = async (step) => {
      const result = await this.#turn(call, creates, {
        reads: step.reads as TurnStep['reads'],
        turn: step.turn as TurnStep['turn'],
        recorded: step.recorded ?? false,
      });
      progress.mayHaveEffect = true;
      return result as never;
    };
    const ask = async (asked: AskCall) => {
      try {
        const reply = await this.#repeating.ask(asked);
        progress.mayHaveEffect = true;
        return reply;
      } catch (error) {
        progress.mayHaveEffect ||= !promisesNothing(error);
        throw error;
      }
    };
    return {
      self: call.address,
      callId: call.callId,
      nowMs: this.#options.clock.nowMs(),
      turn,
      actors: createFlowActors({ ask }, call),
    };
  }

  /**
   * Answers from what is durable, without the mailbox. Where rows must be read, the slices are those of the moment
   * the read began: the answer is bounded by the durable head of that moment, whatever is committed meanwhile.
   */
  async #share(call: AskCall, command: SharedCommand<unknown, unknown>, what: string): Promise<unknown> {
    const actor = this.#actors.at(call.address);
    if (actor.phase === 'activating') await actor.active(call.deadlineMs);
    this.#assertLease();
    if (actor.isBuried) throw new NotFoundError('this actor is no more');
    const { clock, metrics } = this.#options;
    actor.lastUsedMs = clock.monotonicMs();
    const time = { nowMs: clock.nowMs(), nowMicros: clock.nowMicros() };
    let view = new StateView(call.address, time, actor.durableSlices);
    const plans: Plans = command.reads?.(view, call.request) ?? {};
    const split = splitReads(plans, call.address.id, undefined);
    let answers = noAnswers;
    if (split.reads.length > 0) {
      view = new StateView(call.address, time, new Map(actor.durableSlices));
      answers = joinAnswers(split, await this.#read(split.reads));
      this.#assertLease();
    }
    metrics.turn(what, 'ok');
    return command.answer(view, call.request, sharedResults(plans, answers));
  }

  async #read(reads: Parameters<Store['read']>[0]): ReturnType<Store['read']> {
    try {
      return await this.#options.store.read(reads);
    } catch (error) {
      throw readFailure(error);
    }
  }

  #assertLease(): void {
    if (!this.#lease.isValid()) throw new MovedError('this host may not serve now');
  }

  // --- actors -----------------------------------------------------------------------------------------------

  /** Hands a message to its actor, activating it where needed. Every refusal is an outcome of the message. */
  deliver(address: Address, message: Message): void {
    try {
      this.#actors.at(address, (actor) => actor.deliver(message));
    } catch (error) {
      if (!(error instanceof ActorError)) throw error;
      message.settle({ error });
    }
  }

  #environment(kind: Kind): ActorEnvironment {
    return {
      ...this.#options,
      kind,
      lease: this.#lease,
      committer: this.#committer,
      followers: this.#followers,
      read: (reads) => this.#options.store.read(reads),
      gone: (actor) => this.#actors.gone(actor),
      unreadable: (actor) => this.#giveBack(actor),
      timersCommitted: (timers) => {
        for (const timer of timers) if (timer !== removed) this.#timers.armed(timer.due_at);
      },
      tellsCommitted: (tells) => {
        for (const tell of tells) this.#options.transport.wake(tell);
      },
    };
  }

  /** Where nobody else is, there is nobody to give it to. */
  #giveBack({ shard }: Actor): void {
    if (this.#options.transport.reachesOthers) this.#ownership.giveBack(shard);
  }

  // --- housekeeping -----------------------------------------------------------------------------------------

  /** Forgets recorded calls whose repeats can no longer come. Resolves to the pause until the next time. */
  async #pruneCalls(): Promise<number> {
    const { store, limits } = this.#options;
    const beforeMs = (await store.timeMs()) - limits.recordedCallMs;
    const pruned = await store.pruneCalls(this.#ownership.shards, beforeMs, pruneMax);
    return pruned < pruneMax ? prunePauseMs : prunePauseMs / 60;
  }
}

function declaredCommands({ name, commands }: Kind): ReadonlyMap<string, DeclaredCommand> {
  return new Map(
    Object.entries(commands).map(([each, command]) => [each, { command, what: `${name}.${each}` }]),
  );
}

/**
 * That nothing took effect is true of the step that failed and no longer of its flow, which has taken other steps or
 * asked other actors. A repeat under the same call id finds what those did; that is what "unknown" tells the caller to do.
 */
function afterFirstStep(error: unknown): unknown {
  if (!promisesNothing(error)) return error;
  const isMoved = error instanceof MovedError || error instanceof FencedError;
  return new RetryableError('a later step of this call could not be taken', {
    outcome: 'unknown',
    ...(isMoved ? { retryAfterMs: movedRetryMs } : {}),
  });
}

/**
 * That nothing took effect here is not the whole truth when another host may own the actor: the call may have reached
 * that one too.
 */
function withoutPromise(error: unknown): unknown {
  return promisesNothing(error) ? new MovedError('this host does not own the actor now') : error;
}
