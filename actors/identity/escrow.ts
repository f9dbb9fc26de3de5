/** Ciphertext that a client leaves with the server for the recovery of an account. */
import { z } from 'zod';

export const escrowSchema = z.object({
  escrow: z.string(),
  /** The address of the account. */
  identifier: z.string(),
  workspace_identifier: z.string(),
});
