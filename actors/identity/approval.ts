/** A sign-in that waits for another device, as that device sees it. Times in milliseconds. */
import { z } from 'zod';

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
