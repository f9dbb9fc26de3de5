import type { z } from 'zod';
import type { AnyCommand, Command, JobHandler, TellHandler, TimerHandler } from './command.ts';
import type { CommandShape, Contract } from './contract.ts';
import type { Dependency } from './dependency.ts';
import type { Slice, SliceMap } from './slice.ts';
import type { AnyTable } from './table.ts';

/** A kind of actor, with everything that the runtime needs to know. It is declared once and passed to the host. */
export interface Kind<C extends Commands = Commands> {
  readonly name: string;
  /** Whether a command or a tell that creates may bring a tombstone back to life with its initial state. */
  readonly revivable: boolean;
  readonly uses: readonly Dependency<unknown>[];
  // biome-ignore lint/suspicious/noExplicitAny: slices of any type
  readonly slices: readonly (Slice<any> | SliceMap<any>)[];
  /** The tables whose rows its actors own. Another kind declares the tables that it reads from other owners. */
  readonly tables: readonly AnyTable[];
  /** The table among them by which its actors authorize readers of their rows. No other kind writes to it. */
  readonly membershipTable?: AnyTable;
  readonly commands: C;
  // biome-ignore lint/suspicious/noExplicitAny: payloads and plans of any shape
  readonly timers: Readonly<Record<string, TimerHandler<any, any>>>;
  // biome-ignore lint/suspicious/noExplicitAny: payloads and plans of any shape
  readonly tells: Readonly<Record<string, TellHandler<any, any>>>;
  // biome-ignore lint/suspicious/noExplicitAny: payloads of any shape
  readonly jobs: Readonly<Record<string, JobHandler<any>>>;
}

export type Commands = Readonly<Record<string, AnyCommand>>;

/** A kind declared in one piece, for kinds that are not used outside their file. */
export function kind<const C extends Commands>(
  definition: Pick<Kind<C>, 'name' | 'commands'> & Partial<Kind<C>>,
): Kind<C> {
  return {
    revivable: false,
    uses: [],
    slices: [],
    tables: [],
    timers: {},
    tells: {},
    jobs: {},
    ...definition,
  };
}

/** A handler, of the right shape, for everything that the contract names. */
export type Implementation<K> =
  K extends Contract<infer C, infer T, infer M, unknown, infer J>
    ? {
        readonly commands: {
          readonly [Name in keyof C]: C[Name] extends CommandShape<infer Request, infer Reply>
            ? Command<Request, Reply>
            : never;
        };
        // biome-ignore lint/suspicious/noExplicitAny: plans of any shape
        readonly tells: { readonly [Name in keyof T]: TellHandler<z.infer<T[Name]>, any> };
        // biome-ignore lint/suspicious/noExplicitAny: plans of any shape
        readonly timers: { readonly [Name in keyof M]: TimerHandler<z.infer<M[Name]>, any> };
      } & JobsOf<J> &
        Pick<Kind, 'uses' | 'slices' | 'tables'> &
        Partial<Pick<Kind, 'revivable' | 'membershipTable'>>
    : never;

/** Few kinds have jobs. */
type JobsOf<J extends Readonly<Record<string, z.ZodType>>> = keyof J extends never
  ? { readonly jobs?: undefined }
  : { readonly jobs: { readonly [Name in keyof J]: JobHandler<z.infer<J[Name]>> } };

/** The kind of a contract. */
export function kindOf<K extends Contract>(contract: K, implementation: Implementation<K>): Kind {
  return { revivable: false, name: contract.name, ...implementation, jobs: implementation.jobs ?? {} };
}
