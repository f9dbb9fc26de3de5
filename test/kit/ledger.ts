/** A kind that counts, for tests of the runtime. */
import { z } from 'zod';
import { command, sharedRead, type Turn } from '../../runtime/command.ts';
import { kind } from '../../runtime/kind.ts';
import { slice } from '../../runtime/slice.ts';

export const count = slice({ name: 'count', format: 1, schema: z.number(), initial: 0 });

const number = { request: z.number(), reply: z.number() };
const adding = {
  creates: true,
  turn: (turn: Turn, by: number) => {
    turn.set(count, turn.get(count) + by);
    return turn.get(count);
  },
};

/** A repeat of the call adds again. */
export const addAnew = command(number, adding);

export const ledgerCommands = {
  add: command(number, { ...adding, repeat: 'recorded' }),
  get: command({ request: z.null(), reply: z.number() }, (turn) => turn.get(count)),
  peek: sharedRead({ request: z.null(), reply: z.number() }, (view) => view.get(count)),
};

export const ledger = kind({ name: 'ledger', slices: [count], commands: ledgerCommands });
