/** Whether there is a vault. */
import { z } from 'zod';
import { slice } from '../../runtime/slice.ts';

/** `ended`: for everybody; its items are on their way to their owners, and then the actor is gone. */
export const statusSlice = slice<'none' | 'open' | 'ended'>({
  name: 'standing',
  format: 1,
  schema: z.enum(['none', 'open', 'ended']),
  initial: 'none',
});
