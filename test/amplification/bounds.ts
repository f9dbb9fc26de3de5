/** What a request may make of what was sent and stored, and where it may be more. */

/** Of what was sent with the request and what was stored before for it. */
export const timesMax = 20;

/** The head of a request: its line, a bearer and what programs send along. */
export const headBytes = 512;

/** A bound of its own, in bytes beyond what is allowed everywhere. */
export interface Exception {
  readonly bytes: number;
  readonly reason: string;
}
