import type { z } from 'zod';
import type { AnyCommand, TellHandler, TimerHandler } from './command.ts';
import type { Slice, SliceMap } from './slice.ts';
import type { AnyTable } from './table.ts';

/** A kind of actor: everything the runtime needs to know of it. Declared once, passed to the host. */
export interface Kind<C extends Commands = Commands> {
  readonly name: string;
  /** Whether a creating command may bring a buried actor back to life with its initial state. */
  readonly revivable: boolean;
  // biome-ignore lint/suspicious/noExplicitAny: slices of any type
  readonly slices: readonly (Slice<any> | SliceMap<any>)[];
  readonly tables: readonly AnyTable[];
  readonly commands: C;
  // biome-ignore lint/suspicious/noExplicitAny: plans of any shape
  readonly timers: Readonly<Record<string, TimerHandler<any>>>;
  // biome-ignore lint/suspicious/noExplicitAny: payloads and plans of any shape
  readonly tells: Readonly<Record<string, TellHandler<any, any>>>;
}

export type Commands = Readonly<Record<string, AnyCommand>>;

export function kind<const C extends Commands>(
  definition: Pick<Kind<C>, 'name' | 'commands'> & Partial<Kind<C>>,
): Kind<C> {
  return { revivable: false, slices: [], tables: [], timers: {}, tells: {}, ...definition };
}

export interface AskOptions {
  /** Milliseconds from now after which the caller no longer waits. */
  readonly deadlineMs?: number;
  /** The same for every repeat of one call; made anew when absent. */
  readonly callId?: string;
}

type RequestOf<C extends AnyCommand> = z.input<C['request']>;
type ReplyOf<C extends AnyCommand> = z.output<C['reply']>;

/** `actors.get(User, id).ask.listSessions({ ... })`: a typed handle on one actor. */
export type Ask<C extends Commands> = {
  readonly [Name in keyof C]: (
    request: RequestOf<C[Name]>,
    options?: AskOptions,
  ) => Promise<ReplyOf<C[Name]>>;
};

/** What callers need of a kind: its name and, as a type only, its commands. A `Kind` is one. */
export interface KindRef<C extends Commands> {
  readonly name: string;
  readonly commands?: C;
}

export interface Actors {
  get<C extends Commands>(kind: KindRef<C>, id: string): { readonly ask: Ask<C> };
}
