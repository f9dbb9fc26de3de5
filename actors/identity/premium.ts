/** The subscription that a conformance run gives to an account (docs/protocol/account.md, "Conformance runs"). */
import { z } from 'zod';

export const premiumSchema = z.object({
  subscriptionId: z.int(),
  planName: z.string(),
  /** Absent: a year from now. */
  endsAtMicros: z.int().optional(),
  uploadBytesLimit: z.int(),
  /** Cancels the invites that were sent under the previous subscription. */
  cancelPrevious: z.boolean(),
});

/** False if there is no such account, or if this server is not for conformance runs. */
export const activatedSchema = z.object({ activated: z.boolean() });
