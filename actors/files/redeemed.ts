/**
 * Redeemed valet tokens: those that were used for their purpose. They are remembered until they expire. When they are too many,
 * those issued first are forgotten, and every token that was issued no later than these is void.
 */
import { z } from 'zod';
import type { Turn, View } from '../../runtime/command.ts';
import { sliceMap } from '../../runtime/slice.ts';
import type { ValetClaims } from '../identity/valet-tokens.ts';
import { change, filesSlice } from './state.ts';

/** Each entry means that a file was read, written or deleted within the lifetime of a token. */
const redeemedMax = 2_000;
const retainedShare = 3 / 4;

const redeemedSchema = z.object({
  on: z.enum(['read', 'close', 'delete', 'move']),
  /** The call that redeemed it. A repeat of this call is not a second use. */
  by: z.string(),
  issuedMs: z.number(),
  endsMs: z.number(),
});
type RedeemedToken = z.infer<typeof redeemedSchema>;

/** Keyed by the id of the token. */
export const redeemedMap = sliceMap<RedeemedToken>({
  family: 'spent-valet-token',
  entriesMax: redeemedMax,
  schema: redeemedSchema,
});

export const redeemedOn = (view: Pick<View, 'entry'>, { id }: ValetClaims): RedeemedToken | undefined =>
  view.entry(redeemedMap, id);

/** Whether the token is so old that its redemption may be forgotten. */
export const isVoid = (view: Pick<View, 'get'>, { issuedMs }: ValetClaims): boolean =>
  issuedMs <= view.get(filesSlice).voidThroughMs;

export function redeem(
  turn: Turn,
  { id, issuedMs, endsMs }: Pick<ValetClaims, 'id' | 'issuedMs' | 'endsMs'>,
  on: RedeemedToken['on'],
  by = '',
): void {
  for (const [other, redeemed] of turn.entries(redeemedMap)) {
    if (redeemed.endsMs <= turn.nowMs) turn.removeEntry(redeemedMap, other);
  }
  if (turn.entries(redeemedMap).size >= redeemedMax) forgetFirst(turn);
  turn.setEntry(redeemedMap, id, { on, by, issuedMs, endsMs });
}

function forgetFirst(turn: Turn): void {
  const byIssue = [...turn.entries(redeemedMap)].sort(([, one], [, other]) => one.issuedMs - other.issuedMs);
  const forgotten = byIssue.slice(0, redeemedMax * (1 - retainedShare));
  const [, last] = forgotten.at(-1) ?? [];
  if (last === undefined) return;
  for (const [id] of forgotten) turn.removeEntry(redeemedMap, id);
  change(turn, { voidThroughMs: last.issuedMs });
}

export function forgetRedeemed(turn: Turn): void {
  for (const id of turn.entries(redeemedMap).keys()) turn.removeEntry(redeemedMap, id);
}
