import type { Quota } from './quota.ts';
import type { Cleanup } from './state.ts';

/** The owner of files, as the functions of this folder need it. */
export interface Owner {
  readonly cleanup: Cleanup;
  readonly quota: Quota;
  readonly fileBytesMax: number;
  /** Bytes of garbage, at most. With more, new chunks and files are refused. */
  readonly garbageBytesMax: number;
}
