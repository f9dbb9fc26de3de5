/**
 * Tells come in no order, so what is told to be gone may come only after that. Until then its uuid is remembered here,
 * as long as there is room: what has come before is remembered too, where that cannot be told apart.
 */
import { z } from 'zod';
import type { Turn, View } from '../../../runtime/command.ts';
import { slice } from '../../../runtime/slice.ts';

const remembered = 200;

/** The oldest first. */
export const goneSlice = slice<{ readonly uuids: readonly string[] }>({
  name: 'inbox-gone',
  format: 1,
  schema: z.object({ uuids: z.array(z.string()).readonly() }),
  initial: { uuids: [] },
});

export const isGone = (view: View, uuid: string): boolean => view.get(goneSlice).uuids.includes(uuid);

export function rememberGone(turn: Turn, uuids: readonly string[]): void {
  if (uuids.length === 0) return;
  const all = new Set([...turn.get(goneSlice).uuids, ...uuids]);
  turn.set(goneSlice, { uuids: [...all].slice(-remembered) });
}
