/** The `sweeper` kind: one actor that searches the store of files for blobs that no row names. */
import { z } from 'zod';
import { contract } from '../../runtime/contract.ts';

/** The id of the only sweeper. */
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
