import type { Quota } from './quota.ts';
import type { Cleanup } from './state.ts';

/** Whose files: all that the functions here need to know of an owner. */
export interface Owner {
  readonly cleanup: Cleanup;
  readonly quota: Quota;
  readonly fileBytesMax: number;
  /** The most that may wait for its removal from the store. With more, nothing new comes. */
  readonly garbageBytesMax: number;
}
