/**
 * What everyone else may know of a kind of actor: its name, its commands, tells, timers, jobs and events, each with its
 * schemas. A contract holds no behaviour. Each handler is declared with its shape.
 */
import type { z } from 'zod';

export interface CommandShape<Request, Reply> {
  readonly request: z.ZodType<Request>;
  readonly reply: z.ZodType<Reply>;
}
// biome-ignore lint/suspicious/noExplicitAny: commands of any shape
export type CommandShapes = Readonly<Record<string, CommandShape<any, any>>>;

/** A command knows its own name, so the declaration of a route needs nothing but the command. */
export type NamedCommands<C extends CommandShapes> = {
  readonly [Name in keyof C]: C[Name] & { readonly name: string };
};

/** A timer or a tell: its name within the kind, and its payload. */
export interface MessageShape<Payload> {
  readonly name: string;
  readonly payload: z.ZodType<Payload>;
  readonly isJob?: undefined;
}
/** Work that goes on outside turns until it is done: its name within the kind, and its payload. */
export interface JobShape<Payload> {
  readonly name: string;
  readonly payload: z.ZodType<Payload>;
  /** A job is started and stopped. It cannot be armed like a timer, and a timer cannot be started. */
  readonly isJob: true;
}
type Payloads = Readonly<Record<string, z.ZodType>>;
export type MessageShapes<P extends Payloads> = {
  readonly [Name in keyof P]: MessageShape<z.infer<P[Name]>>;
};
type JobShapes<P extends Payloads> = { readonly [Name in keyof P]: JobShape<z.infer<P[Name]>> };

export interface Contract<
  C extends CommandShapes = CommandShapes,
  T extends Payloads = Payloads,
  M extends Payloads = Payloads,
  E = unknown,
  J extends Payloads = Payloads,
> {
  readonly name: string;
  readonly commands: C;
  /** Durable messages from other actors, without a reply. */
  readonly tells: MessageShapes<T>;
  /** The timers that the actor sets for itself. They are here because operators see and revive timers by name. */
  readonly timers: MessageShapes<M>;
  /** Slow work that its turns start. It is here for the same reason. */
  readonly jobs: JobShapes<J>;
  /** The events that the actor publishes to subscribed gateways: a union if there are several. */
  readonly event: z.ZodType<E> | undefined;
}

export function contract<
  const C extends CommandShapes = Record<never, never>,
  T extends Payloads = Record<never, never>,
  M extends Payloads = Record<never, never>,
  E = never,
  J extends Payloads = Record<never, never>,
>(definition: {
  readonly name: string;
  readonly commands?: C;
  readonly tells?: T;
  readonly timers?: M;
  readonly jobs?: J;
  readonly event?: z.ZodType<E>;
}): Contract<NamedCommands<C>, T, M, E, J> {
  const { name, commands, tells, timers, jobs, event } = definition;
  return {
    name,
    commands: namedCommands(commands ?? ({} as C)),
    tells: shapes(tells ?? ({} as T)),
    timers: shapes(timers ?? ({} as M)),
    jobs: jobShapes(jobs ?? ({} as J)),
    event,
  };
}

function namedCommands<C extends CommandShapes>(commands: C): NamedCommands<C> {
  const named = Object.entries(commands).map(([name, shape]) => [name, { ...shape, name }] as const);
  return Object.fromEntries(named) as NamedCommands<C>;
}

function shapes<P extends Payloads>(payloads: P): MessageShapes<P> {
  const named = Object.entries(payloads).map(([name, payload]) => [name, { name, payload }] as const);
  return Object.fromEntries(named) as MessageShapes<P>;
}

function jobShapes<P extends Payloads>(payloads: P): JobShapes<P> {
  const named = Object.entries(payloads).map(
    ([name, payload]) => [name, { name, payload, isJob: true }] as const,
  );
  return Object.fromEntries(named) as JobShapes<P>;
}

/** One of several timers or jobs of one declaration, told apart by `key`. Each has its own payload and is independent. */
export function keyed<Shape extends { readonly name: string }>(shape: Shape, key: string): Shape {
  return { ...shape, name: `${shape.name}:${key}` };
}

/** Sends a tell of this name. A tell without a payload takes no argument. */
type Send<Payload> = null extends Payload ? (payload?: null) => void : (payload: Payload) => void;

/** `turn.tell(Signin, id).reset()`: one method for each tell of the contract. */
export type Tells<T> = {
  readonly [Name in keyof T]: T[Name] extends MessageShape<infer Payload> ? Send<Payload> : never;
};
