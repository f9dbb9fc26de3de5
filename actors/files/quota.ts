/**
 * How much ciphertext of files somebody may keep. An owner has files; whose quota they count in is decided by the kind: a user's
 * own are in the user's, and those of a shared vault in that of the vault's owner.
 */
import { refuse } from '../reply.ts';

export interface Quota {
  /** Whether the upload may hold so many bytes, beside what all others of the owner hold. */
  hasRoom(upload: { readonly uploadUuid: string; readonly bytes: number }, othersBytes: number): boolean;
  /**
   * What is used grows or shrinks by this, with the commit of the turn; at most once in it. `closed` is the upload that has
   * become a file, and holds nothing any more.
   */
  grow(byBytes: number, closed?: string): void;
  /** The upload has ended without a file. */
  release(uploadUuid: string): void;
}

export const noSpace = refuse.forbidden('You have used all the space that you have for files.', 'no-space');
