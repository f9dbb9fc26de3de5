/** The timers of a collection's history, for the contracts of the kinds that have one. */
import { z } from 'zod';
import { copyPayload } from './copy.ts';
import { forgetPayload } from './forget.ts';

export const revisionTimerShapes = {
  /** Removes the oldest revisions. */
  trimRevisions: z.null(),
  /** Keyed by the item that is a duplicate. */
  copyRevisions: copyPayload,
  /** Keyed by the item that was deleted. */
  forgetRevisions: forgetPayload,
};
