/** A sign-in that waits for another device, as that device is told of it. Times in milliseconds. */
import { z } from 'zod';

export const approvalSchema = z.object({
  uuid: z.string(),
  userAgent: z.string().nullable(),
  ipAddress: z.string().nullable(),
  createdAtMs: z.number(),
  expiresAtMs: z.number(),
});
export type ApprovalRequest = z.infer<typeof approvalSchema>;
