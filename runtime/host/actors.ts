/** Typed handles on actors, over any transport. */
import { createHash } from 'node:crypto';
import type { CommandShapes } from '../contract.ts';
import type { Actors, Ask, AskOptions, KindRef } from '../handles.ts';
import { inSpan, type Span } from '../tracing.ts';
import type { AskCall } from '../transport/transport.ts';
import { Retrier, type RetrierOptions } from './retrier.ts';

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
