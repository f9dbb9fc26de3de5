/**
 * Valet tokens that have done what they were for. They are remembered until they end by themselves; when they are too many,
 * those issued first are forgotten, and with them every token that was issued no later counts no more.
 */
import { z } from 'zod';
import type { Turn, View } from '../../runtime/command.ts';
import { sliceMap } from '../../runtime/slice.ts';
import type { ValetClaims } from '../identity/valet-tokens.ts';
import { change, filesSlice } from './ledger.ts';

/** Each is a file that was read, written or deleted within the age of a token. */
const spentMax = 2_000;
const keptShare = 3 / 4;

interface Spent {
  readonly on: 'read' | 'close' | 'delete' | 'move';
  /** The call that did: a repeat of it is no other use. */
  readonly by: string;
  readonly issuedMs: number;
  readonly endsMs: number;
}

/** By the id of the token. */
export const spentMap = sliceMap<Spent>({
  family: 'spent-valet-token',
  format: 1,
  entriesMax: spentMax,
  schema: z.object({
    on: z.enum(['read', 'close', 'delete', 'move']),
    by: z.string(),
    issuedMs: z.number(),
    endsMs: z.number(),
  }),
});

export const spentOn = (view: Pick<View, 'entry'>, { id }: ValetClaims): Spent | undefined =>
  view.entry(spentMap, id);

/** Whether it is too old to tell. */
export const isVoid = (view: Pick<View, 'get'>, { issuedMs }: ValetClaims): boolean =>
  issuedMs <= view.get(filesSlice).voidThroughMs;

export function spend(
  turn: Turn,
  { id, issuedMs, endsMs }: Pick<ValetClaims, 'id' | 'issuedMs' | 'endsMs'>,
  on: Spent['on'],
  by = '',
): void {
  for (const [other, spent] of turn.entries(spentMap)) {
    if (spent.endsMs <= turn.nowMs) turn.removeEntry(spentMap, other);
  }
  if (turn.entries(spentMap).size >= spentMax) forgetFirst(turn);
  turn.setEntry(spentMap, id, { on, by, issuedMs, endsMs });
}

function forgetFirst(turn: Turn): void {
  const byIssue = [...turn.entries(spentMap)].sort(([, one], [, other]) => one.issuedMs - other.issuedMs);
  const forgotten = byIssue.slice(0, spentMax * (1 - keptShare));
  const [, last] = forgotten.at(-1) ?? [];
  if (last === undefined) return;
  for (const [id] of forgotten) turn.removeEntry(spentMap, id);
  change(turn, { voidThroughMs: last.issuedMs });
}

export function forgetSpent(turn: Turn): void {
  for (const id of turn.entries(spentMap).keys()) turn.removeEntry(spentMap, id);
}
