/** Typed handles on actors: `actors.get(User, id).ask.listSessions({ … })`, wherever the actor is. */
import type { z } from 'zod';
import type { CommandShape, CommandShapes } from './contract.ts';
import { NotFoundError } from './errors.ts';
import type { Span } from './tracing.ts';

export interface AskOptions {
  /** Milliseconds from now after which the caller no longer waits. */
  readonly deadlineMs?: number;
  /** The same for every repeat of one call. If absent, a new one is made. */
  readonly callId?: string;
  /** The step of a request that asks, if that request is sampled. */
  readonly span?: Span | undefined;
}

// biome-ignore lint/suspicious/noExplicitAny: a command of any shape
type AnyShape = CommandShape<any, any>;
type RequestOf<C extends AnyShape> = z.input<C['request']>;
type ReplyOf<C extends AnyShape> = z.output<C['reply']>;

/** The commands of one actor as functions. */
export type Ask<C extends CommandShapes> = {
  readonly [Name in keyof C]: (
    request: RequestOf<C[Name]>,
    options?: AskOptions,
  ) => Promise<ReplyOf<C[Name]>>;
};

/** What callers need of a kind. A `Contract` has it, and so does a `Kind`. */
export interface KindRef<C extends CommandShapes> {
  readonly name: string;
  readonly commands: C;
}

export interface Actors {
  get<C extends CommandShapes>(kind: KindRef<C>, id: string): { readonly ask: Ask<C> };
}

/** The answer of an actor; undefined if there is no such actor. */
export async function unlessAbsent<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof NotFoundError) return undefined;
    throw error;
  }
}
