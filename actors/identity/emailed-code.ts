/** A code that a signing-in user wants mailed: from the `signin` actor of the address to the `user` actor that mails it. */
import { z } from 'zod';

export const requestedCodeSchema = z.object({
  /** Normalised. */
  email: z.string(),
  workspace: z.string(),
  /** `SigninKeys` derives the code from this. */
  nonce: z.string(),
  expiresAtMs: z.number(),
});
