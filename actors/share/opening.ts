/**
 * The rules for opening a share (docs/protocol/public-shares.md, "Opening").
 *
 *     terms                 first opening              later
 *     ------------------    -----------------------    ---------------------------------------------
 *     none                  given                      given
 *     one time              given, and the call noted  given to a repeat of that call only
 *     minutes, or both      given, and the time noted  given to all until that many minutes have passed
 */
export interface Terms {
  readonly oneTimeView: boolean;
  readonly viewExpiresMinutes: number | null;
}

export interface Opening {
  readonly atMs: number;
  /** A digest of the call, so that its repeat is known. */
  readonly by: string;
}

/** `first`: it may be opened, and the opening has to be noted. */
export type OpeningStatus = 'open' | 'first' | 'over';

/** Twice as long as any caller waits: no repeat of a call comes later. */
const repeatsMs = 120_000;

export function openingStatus(
  terms: Terms,
  opened: Opening | null,
  { atMs: nowMs, by }: Opening,
): OpeningStatus {
  if (!isLimited(terms)) return 'open';
  if (opened === null) return 'first';
  if (nowMs >= keptUntilMs(terms, opened)) return 'over';
  return isOneTime(terms) && opened.by !== by ? 'over' : 'open';
}

/** When the viewer has to remove the opened text. */
export const keptUntilMs = ({ viewExpiresMinutes }: Terms, opened: Opening): number =>
  opened.atMs + (viewExpiresMinutes === null ? repeatsMs : viewExpiresMinutes * 60_000);

/** The time from which nobody can open it any more. */
export const endedAtMs = (terms: Terms, opened: Opening): number =>
  isOneTime(terms) ? opened.atMs : keptUntilMs(terms, opened);

/** If both are set, the minutes win. */
export const isOneTime = ({ oneTimeView, viewExpiresMinutes }: Terms): boolean =>
  oneTimeView && viewExpiresMinutes === null;

const isLimited = ({ oneTimeView, viewExpiresMinutes }: Terms): boolean =>
  oneTimeView || viewExpiresMinutes !== null;
