/**
 * Mails that their source told the queue to give back while a worker was sending them. What a relay has then is not called
 * back, but nothing of such a mail is tried again, nor is what it says kept once its fate is known.
 */
import { z } from 'zod';
import type { Turn } from '../../runtime/command.ts';
import { slice } from '../../runtime/slice.ts';

/** Their ids: no more than there are workers. */
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
