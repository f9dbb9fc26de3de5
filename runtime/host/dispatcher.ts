/**
 * Runs each call that reaches a host as its command declares: as a turn of the actor, a workflow or a shared read. `HostCommands`
 * answers calls to the host itself. Before each call, the host's lease and ownership decide whether it may run here at all.
 */
import type { ActiveActors } from '../actor/active-actors.ts';
import { type MessageOutcome, type TurnStep, turnMessage } from '../actor/message.ts';
import { answerPlans, readFailure, sharedResults } from '../actor/reads.ts';
import { StateView } from '../actor/turn.ts';
import { shardOf } from '../address.ts';
import type { Clock } from '../clock.ts';
import type { AnyCommand, Plans, SharedCommand, TurnCommand } from '../command.ts';
import type { Dependencies } from '../dependency.ts';
import { MovedError, NotFoundError, promisesNothing, TerminalError } from '../errors.ts';
import type { Kind } from '../kind.ts';
import type { Lease } from '../ownership/lease.ts';
import type { Reader } from '../read/reader.ts';
import { StoreError, type StoreRead, type StoreRows } from '../store/store.ts';
import { endSpan, inSpan } from '../tracing.ts';
import { assertSameClaim } from '../transport/owner-epochs.ts';
import type { AskCall } from '../transport/transport.ts';
import type { Retrier } from './actors.ts';
import { type HostCommand, type HostCommands, isHostCommand } from './host-commands.ts';
import type { Limits } from './limits.ts';
import type { RuntimeMetrics } from './runtime-metrics.ts';
import { Workflows } from './workflows.ts';

export interface DispatcherOptions {
  readonly kinds: readonly Kind[];
  readonly shardCount: number;
  readonly clock: Clock;
  readonly limits: Limits;
  readonly metrics: RuntimeMetrics;
  readonly reader: Pick<Reader, 'share'>;
  readonly lease: Pick<Lease, 'isValid'>;
  readonly actors: Pick<ActiveActors, 'getOrActivate' | 'deliver'>;
  readonly hostCommands: Pick<HostCommands, 'run'>;
  /** Asks other actors for workflows. */
  readonly retrier: Pick<Retrier, 'ask'>;
  dependenciesOf(kind: string): Dependencies;
  isServing(): boolean;
  epochOf(shard: number): number | undefined;
}

interface DeclaredCommand {
  readonly command: AnyCommand;
  /** `kind.command`, as metrics name it. */
  readonly what: string;
  readonly dependencies: Dependencies;
}

export class Dispatcher {
  readonly #options: DispatcherOptions;
  /** Keyed by kind, then by command. */
  readonly #commands: ReadonlyMap<string, ReadonlyMap<string, DeclaredCommand>>;
  readonly #workflows: Workflows;

  constructor(options: DispatcherOptions) {
    this.#options = options;
    const { kinds, dependenciesOf } = options;
    this.#commands = new Map(
      kinds.map((kind) => [kind.name, declaredCommands(kind, dependenciesOf(kind.name))]),
    );
    this.#workflows = new Workflows({ ...options, turn: this.#turn.bind(this) });
  }

  get workflowsInFlight(): number {
    return this.#workflows.inFlight;
  }

  /** Runs one command. @throws ActorError */
  ask(call: AskCall): Promise<unknown> {
    const declared = this.#commands.get(call.address.kind)?.get(call.command);
    if (declared === undefined) {
      if (isHostCommand(call.command)) return this.#runHostCommand(call.command, call);
      return Promise.reject(new TerminalError(`unknown command ${call.address.kind}.${call.command}`));
    }
    if (!this.#options.isServing()) return Promise.reject(new MovedError('this host does not serve'));
    return this.#dispatch(call, declared);
  }

  /**
   * Runs a call of another process. That may be of another release, so its request is checked first.
   * @throws ActorError
   */
  async askFromRemote(call: AskCall): Promise<unknown> {
    const shard = shardOf(call.address, this.#options.shardCount);
    const epoch = this.#options.epochOf(shard);
    if (epoch !== undefined) assertSameClaim(epoch, call.epoch);
    const declared = this.#commands.get(call.address.kind)?.get(call.command);
    if (declared === undefined) return this.ask(call);
    const request = declared.command.request.safeParse(call.request);
    if (!request.success) throw new TerminalError(`the request of ${declared.what} does not fit`);
    try {
      return await this.ask({ ...call, request: request.data });
    } catch (error) {
      throw this.#isOwnedStill(shard, epoch) ? error : withoutPromise(error);
    }
  }

  #isOwned({ address }: AskCall): boolean {
    const { epochOf, lease, shardCount } = this.#options;
    return epochOf(shardOf(address, shardCount)) !== undefined && lease.isValid();
  }

  #isOwnedStill(shard: number, epoch: number | undefined): boolean {
    const { epochOf, lease } = this.#options;
    return epoch !== undefined && epoch === epochOf(shard) && lease.isValid();
  }

  async #runHostCommand(command: HostCommand, call: AskCall): Promise<unknown> {
    this.#assertLease();
    try {
      return await this.#options.hostCommands.run(command, call);
    } catch (error) {
      throw error instanceof StoreError ? readFailure(error) : error;
    }
  }

  #dispatch(call: AskCall, { command, what, dependencies }: DeclaredCommand): Promise<unknown> {
    const { creates = false } = command;
    switch (command.type) {
      case 'choice':
        return this.#dispatch(call, {
          command: command.choose(call.request, dependencies),
          what,
          dependencies,
        });
      case 'shared':
        return inSpan(call.span?.child(`read ${what}`), () => this.#share(call, command, what, dependencies));
      case 'workflow':
        // The command may answer without a turn.
        if (!this.#isOwned(call)) return Promise.reject(new MovedError('this host does not own the shard'));
        return this.#workflows.run(call, { creates, dependencies }, (workflow) =>
          command.run(workflow, call.request),
        );
      case 'turn':
        return this.#turn(call, creates, stepOf(command, call.request), what);
    }
  }

  #turn(
    call: AskCall,
    creates: boolean,
    step: TurnStep,
    what = `${call.address.kind}.${call.command}`,
  ): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const span = call.span?.child(`turn ${what}`);
      const answer = (outcome: MessageOutcome) => {
        if (span !== undefined) endSpan(span, outcome);
        if ('error' in outcome) reject(outcome.error);
        else resolve(outcome.value);
      };
      this.#options.actors.deliver(
        call.address,
        turnMessage(
          {
            address: call.address,
            callId: call.callId,
            deadlineMs: call.deadlineMs,
            span,
            what,
            creates,
            shardCount: this.#options.shardCount,
          },
          step,
          answer,
        ),
      );
    });
  }

  /**
   * Answers from durable state, without the mailbox. If it must read rows, it takes the slices of the moment when the read
   * began. So the durable head of that moment bounds the answer, whatever is committed meanwhile.
   */
  async #share(
    call: AskCall,
    command: SharedCommand<unknown, unknown>,
    what: string,
    dependencies: Dependencies,
  ): Promise<unknown> {
    const { actors, clock, metrics } = this.#options;
    const actor = actors.getOrActivate(call.address);
    if (actor.phase === 'activating') await actor.active(call.deadlineMs);
    this.#assertLease();
    if (actor.isTombstone) throw new NotFoundError('this actor is no more');
    actor.lastUsedMs = clock.monotonicMs();
    const time = { nowMs: clock.nowMs(), nowMicros: clock.nowMicros() };
    let view = new StateView({
      self: call.address,
      activation: actor.activation,
      time,
      slices: actor.durableSlices,
      dependencies,
    });
    const known = command.known?.(view, call.request);
    if (known !== undefined) {
      metrics.turn(what, 'ok');
      return known;
    }
    const plans: Plans = command.reads?.(view, call.request) ?? {};
    const ask = (reads: readonly StoreRead[]) => this.#read(call, reads);
    let answers = answerPlans(plans, call.address.id, { negativeCache: actor.negativeCache }, ask);
    if (answers instanceof Promise) {
      view = new StateView({
        self: call.address,
        activation: actor.activation,
        time,
        slices: new Map(actor.durableSlices),
        dependencies,
      });
      answers = await answers;
      this.#assertLease();
    }
    metrics.turn(what, 'ok');
    return command.answer(view, call.request, sharedResults(plans, answers));
  }

  async #read({ address }: AskCall, reads: readonly StoreRead[]): Promise<readonly StoreRows[]> {
    try {
      return await this.#options.reader.share(address, reads);
    } catch (error) {
      throw readFailure(error);
    }
  }

  #assertLease(): void {
    if (!this.#options.lease.isValid()) throw new MovedError('this host may not serve now');
  }
}

const stepOf = ({ reads, turn, repeat }: TurnCommand<unknown, unknown>, request: unknown): TurnStep => ({
  reads: reads && ((view) => reads(view, request)),
  turn: (running, rows) => turn(running, request, rows),
  recorded: repeat === 'recorded',
});

function declaredCommands(
  { name, commands }: Kind,
  dependencies: Dependencies,
): ReadonlyMap<string, DeclaredCommand> {
  return new Map(
    Object.entries(commands).map(([each, command]) => [
      each,
      { command, what: `${name}.${each}`, dependencies },
    ]),
  );
}

/** If another host may own the actor by now, the caller should ask that one rather than give up. */
function withoutPromise(error: unknown): unknown {
  return promisesNothing(error) ? new MovedError('this host does not own the actor now') : error;
}
