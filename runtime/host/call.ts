import type { Address } from '../address.ts';

/** One ask on its way to the owner of an actor. */
export interface AskCall {
  readonly address: Address;
  readonly command: string;
  readonly request: unknown;
  /** The same for every repeat of one call. */
  readonly callId: string;
  /** Monotonic milliseconds of the host's clock after which nobody waits. */
  readonly deadlineMs: number;
}
