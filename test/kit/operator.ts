/** The operators' command line, in the test's own process, against the internal API of its server. */
import { runCommandLine } from '../../cli/program.ts';
import type { ApiWorld } from './internal-api.ts';

const nothing = () => Promise.reject(new Error('no database here'));
const tools = {
  version: 'test',
  migrate: { plan: nothing, apply: nothing },
  reshard: nothing,
  examine: nothing,
  backups: { create: nothing, list: nothing, verify: nothing, restore: nothing },
};
const unset = { token: undefined, ca: undefined, cert: undefined, key: undefined };

export interface Operated {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

interface Operator extends Pick<ApiWorld, 'address' | 'server'> {
  /** The input for a command that asks for it, or the input for each question. */
  readonly typed?: string | ((prompt: string) => string | Promise<string>) | undefined;
  /** Happens while a command waits. */
  readonly meanwhile?: (() => Promise<void>) | undefined;
  /** Hears each answer at once, for a command that ends only when it is interrupted. */
  readonly seen?: ((text: string) => void) | undefined;
}

/** Runs one command line to its end. */
export async function operate(
  { address, server, typed, meanwhile, seen }: Operator,
  ...args: readonly string[]
): Promise<Operated> {
  return server.answered(runTyped(args, { address, typed, meanwhile, seen }));
}

/** The same, if nothing waits for the clock of a server in the test's own process. */
export async function runTyped(
  args: readonly string[],
  { address, typed, meanwhile = nothing, seen }: Omit<Operator, 'server'>,
): Promise<Operated> {
  const written = { out: '', err: '' };
  const terminal = {
    out: (text: string) => {
      written.out += text;
      seen?.(text);
    },
    err: (text: string) => {
      written.err += text;
    },
    askSecret: async (prompt: string) => {
      if (typed === undefined) throw new Error('nobody types here');
      written.err += prompt;
      return typeof typed === 'string' ? typed : typed(prompt);
    },
    nowMs: () => Date.now(),
    monotonicMs: () => performance.now(),
    sleep: meanwhile,
  };
  const code = await runCommandLine(args, { ...unset, address }, terminal, tools);
  return { code, ...written };
}
