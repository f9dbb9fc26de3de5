import type { Duties } from './ledger.ts';
import type { Quota } from './quota.ts';

/** Whose files: all that the functions here need to know of an owner. */
export interface Owner {
  readonly duties: Duties;
  readonly quota: Quota;
  readonly fileBytesMax: number;
  /** Of what is still to be removed from the store, before nothing more comes. */
  readonly garbageBytesMax: number;
}
