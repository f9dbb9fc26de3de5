/** How much a request may multiply what was sent and stored, and the exceptions. */

/** Relative to the bytes sent with the request and those stored for it before. */
export const timesMax = 20;

/** The head of a request: its line, a bearer and the usual headers of programs. */
export const headBytes = 512;

/** A separate bound, in bytes beyond the general allowance. */
export interface Exception {
  readonly bytes: number;
  readonly reason: string;
}
