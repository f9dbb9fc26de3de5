/** What a client leaves with the server for the recovery of an account: ciphertext, and whose it is. */
import { z } from 'zod';

export const escrowSchema = z.object({
  escrow: z.string(),
  /** The address that the account is signed in to with. */
  identifier: z.string(),
  workspace_identifier: z.string(),
});
