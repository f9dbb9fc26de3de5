/** Typed handles on actors, over whatever transport leads to them. */
import { createHash } from 'node:crypto';
import type { Clock } from './clock.ts';
import type { Actors, Ask, AskOptions, Commands, KindRef } from './kind.ts';
import type { Random } from './random.ts';
import type { Transport } from './transport/transport.ts';

export interface ActorsOptions {
  readonly transport: Pick<Transport, 'ask'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly defaultDeadlineMs: number;
}

export function createActors(options: ActorsOptions): Actors {
  const { transport, clock, random, defaultDeadlineMs } = options;
  return handles((kind, id, command, request, asked) =>
    transport.ask({
      address: { kind, id },
      command,
      request,
      callId: asked?.callId ?? random.uuid(),
      deadlineMs: clock.monotonicMs() + (asked?.deadlineMs ?? defaultDeadlineMs),
    }),
  );
}

/**
 * Handles for the steps of a flow: they share its deadline, and their call ids follow from its call id, the target
 * and the order of asking, so that a repeat of the flow repeats its asks.
 */
export function createFlowActors(
  transport: Pick<Transport, 'ask'>,
  flow: { readonly callId: string; readonly deadlineMs: number },
): Actors {
  let asks = 0;
  return handles((kind, id, command, request, asked) => {
    asks += 1;
    const callId = asked?.callId ?? derivedCallId(flow.callId, `${kind}/${id}/${command}/${asks}`);
    return transport.ask({ address: { kind, id }, command, request, callId, deadlineMs: flow.deadlineMs });
  });
}

function derivedCallId(callId: string, step: string): string {
  return createHash('sha256').update(`${callId}\u0000${step}`).digest('base64url');
}

type Send = (
  kind: string,
  id: string,
  command: string,
  request: unknown,
  options: AskOptions | undefined,
) => Promise<unknown>;

function handles(send: Send): Actors {
  const prototypes = new Map<string, object>();
  return {
    get<C extends Commands>(kind: KindRef<C>, id: string) {
      let prototype = prototypes.get(kind.name);
      if (prototype === undefined) {
        prototype = askPrototype(kind.name, send);
        prototypes.set(kind.name, prototype);
      }
      const ask = Object.create(prototype) as { [actorId]: string } & Ask<C>;
      ask[actorId] = id;
      return { ask };
    },
  };
}

const actorId = Symbol('actor id');

/** What all handles of a kind share. A command becomes a method when it is first asked for, and is found as such. */
function askPrototype(kind: string, send: Send): object {
  const methods: Record<PropertyKey, unknown> = Object.create(
    new Proxy(
      {},
      {
        get(_, command) {
          const method = function (this: { [actorId]: string }, request: unknown, options?: AskOptions) {
            return send(kind, this[actorId], String(command), request, options);
          };
          methods[command] = method;
          return method;
        },
      },
    ),
  );
  return methods;
}
