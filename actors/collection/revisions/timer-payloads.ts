/** The timers of a collection's history, for the contracts of users and vaults. */
import { z } from 'zod';
import { copyPayload } from './copy.ts';
import { forgetPayload } from './forget.ts';

export const revisionTimerShapes = {
  /** Removes the oldest revisions when they take too much room. */
  trimRevisions: z.null(),
  /** Keyed by the item that is a duplicate. */
  copyRevisions: copyPayload,
  /** Keyed by the item that was deleted. */
  forgetRevisions: forgetPayload,
};
