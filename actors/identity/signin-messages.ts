/** The messages that the kinds `user` and `signin` have in common. */
import { z } from 'zod';

/** A sign-in that waits for another device, as that device sees it. Times in milliseconds. */
export const approvalStatusSchema = z.object({
  status: z.enum(['pending', 'approved', 'denied', 'expired']),
});

export type ApprovalStatus = z.infer<typeof approvalStatusSchema>['status'];

export const approvalSchema = z.object({
  uuid: z.string(),
  userAgent: z.string().nullable(),
  ipAddress: z.string().nullable(),
  createdAtMs: z.number(),
  expiresAtMs: z.number(),
});
export type ApprovalRequest = z.infer<typeof approvalSchema>;

/** A code that a signing-in user wants mailed: from the `signin` actor of the address to the `user` actor that mails it. */
export const requestedCodeSchema = z.object({
  /** Normalised. */
  email: z.string(),
  workspace: z.string(),
  /** `SigninKeys` derives the code from this. */
  nonce: z.string(),
  expiresAtMs: z.number(),
});

/** Ciphertext that a client leaves with the server for the recovery of an account. */
export const escrowSchema = z.object({
  escrow: z.string(),
  /** The address of the account. */
  identifier: z.string(),
  workspace_identifier: z.string(),
});

/** The subscription that a conformance run gives to an account (docs/protocol/account.md, "Conformance runs"). */
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
