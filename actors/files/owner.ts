/**
 * The owner of files, as the functions of this folder need it, and the quota that its files count in. The kind decides whose
 * quota that is. A user's own files count in their own quota, and those of a shared vault in that of the vault's owner.
 */

import { refuse } from '../reply.ts';
import type { Cleanup } from './state.ts';

export interface FileOwner {
  readonly cleanup: Cleanup;
  readonly quota: Quota;
  readonly fileBytesMax: number;
  /** The most bytes of garbage. Beyond it new chunks and files are refused. */
  readonly garbageBytesMax: number;
}

export interface Quota {
  /** Whether the upload may hold so many bytes, on top of those that the owner's other uploads hold. */
  hasCapacity(upload: { readonly uploadUuid: string; readonly bytes: number }, othersBytes: number): boolean;
  /**
   * Adds to the used bytes, with the commit of the turn, once in it at most. `closed` is the upload that has become a file, and
   * holds nothing any more.
   */
  grow(byBytes: number, closed?: string): void;
  /** The upload has ended without a file. */
  release(uploadUuid: string): void;
}

export const noSpace = refuse.forbidden('You have used all the space that you have for files.', 'no-space');
