/** The `sweeper` kind: one actor that looks through the store of files for what nobody names. */
import { z } from 'zod';
import { contract } from '../../runtime/contract.ts';

/** There is one. */
export const sweeperId = 'files';

export const Sweeper = contract({
  name: 'sweeper',
  tells: {
    /** From now on there may be something to find. */
    watch: z.null(),
  },
  timers: {
    sweep: z.null(),
  },
  jobs: {
    sweep: z.null(),
  },
});
