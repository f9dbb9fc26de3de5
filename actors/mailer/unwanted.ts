/**
 * Mails that their source has recalled while a worker was sending them. A relay that has the mail keeps it. But no further attempt
 * is made, and the content is removed once the result is known.
 */
import { z } from 'zod';
import type { Turn } from '../../runtime/command.ts';
import { slice } from '../../runtime/slice.ts';

/** Their ids, one for each worker at most. */
export const unwantedSlice = slice<readonly string[]>({
  name: 'unwanted',
  format: 1,
  schema: z.array(z.string()),
  initial: [],
});

export const isUnwanted = (turn: Turn, id: string): boolean => turn.get(unwantedSlice).includes(id);

export function markUnwanted(turn: Turn, id: string): void {
  if (!isUnwanted(turn, id)) turn.set(unwantedSlice, [...turn.get(unwantedSlice), id]);
}

/** No worker is sending it any more. */
export function forgetUnwanted(turn: Turn, id: string): void {
  if (!isUnwanted(turn, id)) return;
  turn.set(
    unwantedSlice,
    turn.get(unwantedSlice).filter((each) => each !== id),
  );
}
