/**
 * Whether one of many holders may take one more of something that all of them share.
 *
 * Each may hold a part of what is still free, so a share shrinks as the rest does. The more holders take all they may, the less
 * the next one gets, and some is always left for holders of little. Nothing walks a list of holders, and nothing is taken away.
 */
export interface FairShare {
  /** Every holder may have this many while any are free. */
  readonly least: number;
  /** Beyond that, this percentage of what is free. */
  readonly percentOfFree: number;
}

export const mayTakeOneMore = (held: number, free: number, { least, percentOfFree }: FairShare): boolean =>
  free > 0 && (held < least || held < (free * percentOfFree) / 100);
