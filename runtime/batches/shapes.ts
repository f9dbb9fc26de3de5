/** What a batch asks of a host, and what the host answers. */
import { z } from 'zod';

/** Asks in one batch. */
export const batchMax = 64;

export const batchRequestSchema = z.object({
  asks: z
    .array(
      z.object({
        kind: z.string(),
        id: z.string(),
        command: z.string(),
        request: z.unknown(),
        /** The call id that a single ask has. */
        callId: z.string(),
      }),
    )
    .max(batchMax)
    .readonly(),
});
export type BatchRequest = z.infer<typeof batchRequestSchema>;

export const batchReplySchema = z.object({
  /** By the position of each ask. Null: ask for it by itself. */
  replies: z.array(z.object({ value: z.unknown() }).nullable()).readonly(),
});
export type BatchReply = z.infer<typeof batchReplySchema>;
