/** Calls to actors, over any transport: typed handles, and the repetition of calls that met no owner. */
import { createHash } from 'node:crypto';
import { type Clock, sleep } from '../clock.ts';
import type { CommandShapes } from '../contract.ts';
import { FencedError, MovedError, promisesNothing, RetryableError, UnavailableError } from '../errors.ts';
import type { Actors, Ask, AskOptions, KindRef } from '../handles.ts';
import type { Random } from '../random.ts';
import { inSpan, type Span } from '../tracing.ts';
import type { AskCall, Transport } from '../transport/transport.ts';

export interface ActorsOptions extends RetrierOptions {
  readonly defaultDeadlineMs: number;
}

export function createActors(options: ActorsOptions): Actors {
  return createActorsBy(new Retrier(options), options);
}

/** Handles that make their calls by `asks`. */
export function createActorsBy(
  asks: Pick<Retrier, 'ask'>,
  { clock, random, defaultDeadlineMs }: Omit<ActorsOptions, 'transport'>,
): Actors {
  return handles(({ kind, id, command, request, options }) =>
    traced(asks, options?.span, {
      address: { kind, id },
      command,
      request,
      callId: options?.callId ?? random.uuid(),
      deadlineMs: clock.monotonicMs() + (options?.deadlineMs ?? defaultDeadlineMs),
    }),
  );
}

/** Asks as a step of the request, if that is sampled. */
function traced(asks: Pick<Retrier, 'ask'>, request: Span | undefined, call: AskCall): Promise<unknown> {
  if (request === undefined) return asks.ask(call);
  const span = request.child(`call ${call.address.kind}.${call.command}`);
  return inSpan(span, () => asks.ask({ ...call, span }));
}

/**
 * Handles for the steps of a workflow. They share its deadline. Their call ids follow from its call id, the target and the
 * order of asking, so that a repeat of the workflow repeats its asks.
 */
export function createWorkflowActors(
  retrier: Pick<Retrier, 'ask'>,
  workflow: Pick<AskCall, 'callId' | 'deadlineMs' | 'span'>,
): Actors {
  let asks = 0;
  return handles(({ kind, id, command, request, options }) => {
    asks += 1;
    const callId = options?.callId ?? derivedCallId(workflow.callId, `${kind}/${id}/${command}/${asks}`);
    const { deadlineMs, span } = workflow;
    return traced(retrier, span, { address: { kind, id }, command, request, callId, deadlineMs });
  });
}

function derivedCallId(callId: string, step: string): string {
  return createHash('sha256').update(`${callId}\u0000${step}`).digest('base64url');
}

interface OutgoingCall {
  readonly kind: string;
  readonly id: string;
  readonly command: string;
  readonly request: unknown;
  readonly options: AskOptions | undefined;
}

type Send = (sent: OutgoingCall) => Promise<unknown>;

function handles(send: Send): Actors {
  const kinds = new Map<string, HandleOfKind>();
  return {
    get<C extends CommandShapes>(kind: KindRef<C>, id: string) {
      let Handle = kinds.get(kind.name);
      if (Handle === undefined) {
        Handle = handleOf(kind.name, send);
        kinds.set(kind.name, Handle);
      }
      return { ask: new Handle(id) as Ask<C> };
    },
  };
}

const actorId = Symbol('actor id');

type HandleOfKind = new (id: string) => object;

/** The first use of a command makes it a method of its kind's handles. Later uses find it there. */
function handleOf(kind: string, send: Send): HandleOfKind {
  class Handle {
    readonly [actorId]: string;

    constructor(id: string) {
      this[actorId] = id;
    }
  }
  const methods = Handle.prototype as unknown as Record<PropertyKey, unknown>;
  const unknownCommands: ProxyHandler<object> = {
    get(_, command) {
      const method = function (this: Handle, request: unknown, options?: AskOptions) {
        return send({ kind, id: this[actorId], command: String(command), request, options });
      };
      methods[command] = method;
      return method;
    },
  };
  Object.setPrototypeOf(methods, new Proxy({}, unknownCommands));
  return Handle;
}

// --- repeats -----------------------------------------------------------------------------------------------

/*
 * Repeats calls. A call that met no owner, a fenced one or a lost answer is repeated under its call id until its deadline. What
 * took effect the first time does not take effect again: the command is repeatable by nature, or its reply is recorded. Nothing
 * else repeats a call.
 *
 * The number of calls that wait for an owner is bounded. While a whole cluster is down they would pile up without limit.
 */

const waitingMax = 10_000;
const fencedPauseMs = 100;
const movedPauseMinMs = 10;
const movedPauseMaxMs = 400;

export interface RetrierOptions {
  readonly transport: Pick<Transport, 'ask' | 'reachesOthers'>;
  readonly clock: Clock;
  readonly random: Random;
}

export class Retrier {
  readonly #options: RetrierOptions;
  #waiting = 0;

  constructor(options: RetrierOptions) {
    this.#options = options;
  }

  /** No call waits for a repeat. */
  get isIdle(): boolean {
    return this.#waiting === 0;
  }

  /** @throws ActorError, never `moved` */
  ask(call: AskCall): Promise<unknown> {
    return this.#options.transport.ask(call).catch((error) => this.#again(call, error));
  }

  async #again(call: AskCall, first: unknown): Promise<unknown> {
    const { transport, clock } = this.#options;
    let error = first;
    let mayHaveEffect = this.#mayHaveEffect(first);
    for (let attempt = 1; ; attempt += 1) {
      const pauseMs = this.#pauseMs(error, attempt);
      const isOver = pauseMs === undefined || clock.monotonicMs() + pauseMs >= call.deadlineMs;
      if (isOver || this.#waiting >= waitingMax) throw reported(error, mayHaveEffect);
      await this.#pause(pauseMs);
      try {
        return await transport.ask(call);
      } catch (failed) {
        error = failed;
        mayHaveEffect ||= this.#mayHaveEffect(failed);
      }
    }
  }

  /**
   * While a shard changes hands a call may reach both owners. The former owner answers that it did nothing, and cannot speak
   * for the new one.
   */
  #mayHaveEffect(error: unknown): boolean {
    if (error instanceof RetryableError) return error.outcome === 'unknown';
    if (!this.#options.transport.reachesOthers) return false;
    return error instanceof FencedError || (error instanceof MovedError && !error.reachedNobody);
  }

  /** Undefined if a repeat does not help. */
  #pauseMs(error: unknown, attempt: number): number | undefined {
    const { transport, random } = this.#options;
    // Callers that lost their owner together should not return together.
    const jitter = random.fraction();
    if (error instanceof RetryableError) return error.retryAfterMs * (1 + jitter / 4);
    if (error instanceof FencedError) return fencedPauseMs * (1 + jitter / 4);
    if (!(error instanceof MovedError) || !transport.reachesOthers) return undefined;
    return Math.min(movedPauseMaxMs, movedPauseMinMs * 1.5 ** (attempt - 1)) * (0.5 + jitter);
  }

  async #pause(pauseMs: number): Promise<void> {
    this.#waiting += 1;
    await sleep(this.#options.clock, pauseMs);
    this.#waiting -= 1;
  }
}

/** The error of the last attempt does not tell everything: an earlier attempt may have taken effect. */
function reported(error: unknown, mayHaveEffect: boolean): unknown {
  if (mayHaveEffect && promisesNothing(error))
    return new RetryableError('the call was not answered', { outcome: 'unknown' });
  if (error instanceof MovedError) return new UnavailableError('nobody serves this actor now');
  return error;
}
