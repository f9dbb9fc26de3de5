/**
 * Who may open a share and when (docs/protocol/public-shares.md, "Opening").
 *
 *     terms                 first opening              later
 *     ------------------    -----------------------    ---------------------------------------------
 *     none                  given                      given
 *     one time              given, and noted by whom   given to the same call, to nobody else
 *     minutes, or both      given, and noted when      given to all until that many minutes have passed
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

/** `first`: may be opened, and that has to be noted. */
export type Standing = 'open' | 'first' | 'over';

/** Twice as long as any caller waits: no repeat of a call comes later. */
const repeatsMs = 120_000;

export function standingOf(terms: Terms, opened: Opening | null, { atMs: nowMs, by }: Opening): Standing {
  if (!isLimited(terms)) return 'open';
  if (opened === null) return 'first';
  if (nowMs >= keptUntilMs(terms, opened)) return 'over';
  return isOneTime(terms) && opened.by !== by ? 'over' : 'open';
}

/** When what was opened has to be gone. */
export const keptUntilMs = ({ viewExpiresMinutes }: Terms, opened: Opening): number =>
  opened.atMs + (viewExpiresMinutes === null ? repeatsMs : viewExpiresMinutes * 60_000);

/** From when on nobody else can open it. */
export const endedAtMs = (terms: Terms, opened: Opening): number =>
  isOneTime(terms) ? opened.atMs : keptUntilMs(terms, opened);

/** With both, the minutes win. */
export const isOneTime = ({ oneTimeView, viewExpiresMinutes }: Terms): boolean =>
  oneTimeView && viewExpiresMinutes === null;

const isLimited = ({ oneTimeView, viewExpiresMinutes }: Terms): boolean =>
  oneTimeView || viewExpiresMinutes !== null;
