/** Whether the vault is there, and open. */
import { z } from 'zod';
import { slice } from '../../runtime/slice.ts';

/** `ended`: nobody has access any more, and the tear-down has begun. The stored name of the slice is `standing`. */
export const statusSlice = slice<'none' | 'open' | 'ended'>({
  name: 'standing',
  format: 1,
  schema: z.enum(['none', 'open', 'ended']),
  initial: 'none',
});
