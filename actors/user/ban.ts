/** Whether an account is banned (docs/protocol/authentication.md, "Banned accounts"). */
import { z } from 'zod';
import type { View } from '../../runtime/command.ts';
import { slice } from '../../runtime/slice.ts';

interface Ban {
  readonly atMs: number;
  readonly reason: string | null;
}

export const banReasonCharactersMax = 1_024;

export const banSlice = slice<Ban | null>({
  name: 'ban',
  format: 1,
  schema: z.object({ atMs: z.number(), reason: z.string().nullable() }).nullable(),
  initial: null,
});

export const isBanned = (view: View): boolean => view.get(banSlice) !== null;
