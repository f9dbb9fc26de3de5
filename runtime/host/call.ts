import type { Address } from '../address.ts';

/** One ask on its way to the owner of an actor. */
export interface AskCall {
  readonly address: Address;
  readonly command: string;
  readonly request: unknown;
  /** The same for every repeat of one call. */
  readonly callId: string;
  /** After this the caller no longer waits, in monotonic milliseconds of the host's clock. */
  readonly deadlineMs: number;
}
