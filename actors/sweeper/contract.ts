/** The `sweeper` kind: one actor that searches the store of files for blobs that no row names. */
import { z } from 'zod';
import { contract } from '../../runtime/contract.ts';

/** There is one. */
export const sweeperId = 'files';

export const Sweeper = contract({
  name: 'sweeper',
  tells: {
    /** The first upload of an owner: from now on there may be something to find. */
    watch: z.null(),
  },
  timers: {
    sweep: z.null(),
  },
  jobs: {
    sweep: z.null(),
  },
});
