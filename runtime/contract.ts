/**
 * What everybody else may know of a kind of actor: its name, what can be asked of it, told to it and heard from it, each
 * with its shapes. A contract holds no behaviour; the kind itself (`kindOf`) spreads each shape into its handler.
 */
import type { z } from 'zod';

export interface CommandShape<Request, Reply> {
  readonly request: z.ZodType<Request>;
  readonly reply: z.ZodType<Reply>;
}
// biome-ignore lint/suspicious/noExplicitAny: commands of any shape
export type CommandShapes = Readonly<Record<string, CommandShape<any, any>>>;

/** A timer or a tell: its name within the kind, and what it carries. */
export interface MessageShape<Payload> {
  readonly name: string;
  readonly payload: z.ZodType<Payload>;
}
type Payloads = Readonly<Record<string, z.ZodType>>;
type MessageShapes<P extends Payloads> = { readonly [Name in keyof P]: MessageShape<z.infer<P[Name]>> };

export interface Contract<
  C extends CommandShapes = CommandShapes,
  T extends Payloads = Payloads,
  M extends Payloads = Payloads,
  E = unknown,
> {
  readonly name: string;
  readonly commands: C;
  /** Durable messages from other actors, without a reply. */
  readonly tells: MessageShapes<T>;
  /** What the actor sets for itself. Here, as operators see and revive timers by name. */
  readonly timers: MessageShapes<M>;
  /** What the actor publishes to the gateways that follow it; a union where there are several. */
  readonly event: z.ZodType<E> | undefined;
}

export function contract<
  const C extends CommandShapes = Record<never, never>,
  T extends Payloads = Record<never, never>,
  M extends Payloads = Record<never, never>,
  E = never,
>(definition: {
  readonly name: string;
  readonly commands?: C;
  readonly tells?: T;
  readonly timers?: M;
  readonly event?: z.ZodType<E>;
}): Contract<C, T, M, E> {
  const { name, commands, tells, timers, event } = definition;
  return {
    name,
    commands: commands ?? ({} as C),
    tells: shapes(tells ?? ({} as T)),
    timers: shapes(timers ?? ({} as M)),
    event,
  };
}

function shapes<P extends Payloads>(payloads: P): MessageShapes<P> {
  const named = Object.entries(payloads).map(([name, payload]) => [name, { name, payload }] as const);
  return Object.fromEntries(named) as MessageShapes<P>;
}

/** One of several timers of one declaration, told apart by `key`: each has its own time and payload. */
export function keyed<Payload>(timer: MessageShape<Payload>, key: string): MessageShape<Payload> {
  return { ...timer, name: `${timer.name}:${key}` };
}

/** Sends a tell of this name; what carries nothing takes no argument. */
type Send<Payload> = null extends Payload ? (payload?: null) => void : (payload: Payload) => void;

/** `turn.tell(Signin, id).reset()`: one method for each tell of the contract. */
export type Tells<T> = {
  readonly [Name in keyof T]: T[Name] extends MessageShape<infer Payload> ? Send<Payload> : never;
};
