/** A kind that counts, for tests of the runtime. */
import { z } from 'zod';
import { command, sharedRead, type Turn } from '../../runtime/command.ts';
import { kind } from '../../runtime/kind.ts';
import { slice } from '../../runtime/slice.ts';

export const count = slice({ name: 'count', format: 1, schema: z.number(), initial: 0 });

const adding = {
  request: z.number(),
  reply: z.number(),
  creates: true,
  turn: (turn: Turn, by: number) => {
    turn.set(count, turn.get(count) + by);
    return turn.get(count);
  },
} as const;

/** A repeat of the call adds again. */
export const addAnew = command(adding);

export const ledgerCommands = {
  add: command({ ...adding, repeat: 'recorded' }),
  get: command({ request: z.null(), reply: z.number(), turn: (turn) => turn.get(count) }),
  peek: sharedRead({ request: z.null(), reply: z.number(), answer: (view) => view.get(count) }),
};

export const ledger = kind({ name: 'ledger', slices: [count], commands: ledgerCommands });
