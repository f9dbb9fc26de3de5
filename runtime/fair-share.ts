/**
 * Whether one of many may take one more of what all of them share.
 *
 * Each may hold a part of what is still free, so a share shrinks as the rest does: the more of them take all they may, the less
 * the next one gets, and some is always left for those who hold little. No list of holders is walked, and nothing is taken away.
 */
export interface Share {
  /** Anyone may hold this many while any is free. */
  readonly least: number;
  /** Beyond that: so many hundredths of what is free. */
  readonly percentOfFree: number;
}

export const mayTakeOneMore = (held: number, free: number, { least, percentOfFree }: Share): boolean =>
  free > 0 && (held < least || held < (free * percentOfFree) / 100);
