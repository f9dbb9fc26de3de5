/**
 * The workflows in flight on a host: commands of several steps. Each step is a turn. Between steps the mailbox is free, and the
 * workflow may ask other actors.
 *
 * The effect of a step stays even if the next one fails. So once a workflow has taken a step or asked another actor, its error
 * never says that nothing took effect. After a crash between two steps nothing goes on by itself. The caller repeats the call
 * under its call id, and every step is repeatable.
 */
import type { TurnStep } from '../actor/message.ts';
import type { Clock } from '../clock.ts';
import type { Workflow } from '../command.ts';
import type { Dependencies } from '../dependency.ts';
import { FencedError, MovedError, OverloadedError, promisesNothing, RetryableError } from '../errors.ts';
import type { AskCall } from '../transport/transport.ts';
import { createWorkflowActors, type Retrier } from './actors.ts';
import type { Limits } from './limits.ts';
import type { RuntimeMetrics } from './runtime-metrics.ts';

/** A call whose actor has moved is repeated soon, because the next owner is on its way. */
const movedRetryMs = 100;

export interface WorkflowsOptions {
  readonly clock: Clock;
  readonly limits: Limits;
  readonly metrics: RuntimeMetrics;
  readonly retrier: Pick<Retrier, 'ask'>;
  /** Runs one turn of a call. */
  turn(call: AskCall, creates: boolean, step: TurnStep): Promise<unknown>;
}

export interface WorkflowOptions {
  readonly creates: boolean;
  readonly dependencies: Dependencies;
}

interface WorkflowProgress {
  mayHaveEffect: boolean;
}

export class Workflows {
  readonly #options: WorkflowsOptions;
  #inFlight = 0;

  constructor(options: WorkflowsOptions) {
    this.#options = options;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  /** @throws what `run` throws | OverloadedError */
  async run(
    call: AskCall,
    { creates, dependencies }: WorkflowOptions,
    run: (workflow: Workflow) => Promise<unknown>,
  ): Promise<unknown> {
    if (this.#inFlight >= this.#options.limits.workflowsMax) {
      this.#options.metrics.overloaded(`${call.address.kind}.${call.command}`);
      throw new OverloadedError('too many calls are in flight');
    }
    this.#inFlight += 1;
    const progress: WorkflowProgress = { mayHaveEffect: false };
    try {
      return await run(this.#workflow(call, creates, dependencies, progress));
    } catch (error) {
      throw progress.mayHaveEffect ? afterFirstStep(error) : error;
    } finally {
      this.#inFlight -= 1;
    }
  }

  #workflow(
    call: AskCall,
    creates: boolean,
    dependencies: Dependencies,
    progress: WorkflowProgress,
  ): Workflow {
    const turn: Workflow['turn'] = async (step) => {
      const result = await this.#options.turn(call, creates, {
        reads: step.reads as TurnStep['reads'],
        turn: step.turn as TurnStep['turn'],
        recorded: step.recorded ?? false,
      });
      progress.mayHaveEffect = true;
      return result as never;
    };
    const ask = async (call: AskCall) => {
      try {
        const reply = await this.#options.retrier.ask(call);
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
      use: (dependency) => dependencies.use(dependency),
      turn,
      actors: createWorkflowActors({ ask }, call),
    };
  }
}

/**
 * The failed step had no effect, but its workflow has taken other steps or asked other actors. A repeat under the same call id
 * finds the effects of those. "Unknown" asks the caller for that repeat.
 */
function afterFirstStep(error: unknown): unknown {
  if (!promisesNothing(error)) return error;
  const isMoved = error instanceof MovedError || error instanceof FencedError;
  return new RetryableError('a later step of this call could not be taken', {
    outcome: 'unknown',
    ...(isMoved ? { retryAfterMs: movedRetryMs } : {}),
  });
}
