/** A code that somebody who signs in wants mailed: from the `signin` actor of the address to the `user` that mails it. */
import { z } from 'zod';

export const requestedCodeSchema = z.object({
  /** Normalised. */
  email: z.string(),
  workspace: z.string(),
  /** What the code is derived from, by `SigninKeys`. */
  nonce: z.string(),
  expiresAtMs: z.number(),
});
