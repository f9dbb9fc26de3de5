/** What is asked of an account about the assistant (docs/protocol/assistant.md). No conversation reaches the actor. */
import { z } from 'zod';
import { contract } from '../../../runtime/contract.ts';
import { providerIds } from '../../assistant/profiles.ts';
import { openToBridges, reads, writes } from '../../signed-in.ts';

const nothing = z.object({});

export const AssistantBudget = contract({
  name: 'user',
  commands: openToBridges({
    getAssistantUsage: reads({
      bearerSuffices: true,
      /** A `limit` of 0 is none. `resetsAt` is ISO text. */
      ok: z.object({ used: z.int(), limit: z.int(), resetsAt: z.string() }),
    }),
    /**
     * Counts one answer, and reserves a stream until the answer ends or its time is over. Refusals, in this order: 403
     * `ai-disabled`, 400 `invalid-request`, 503 `assistant-unavailable`, 429 `assistant-busy`, 429 `ai-rate-limited`.
     */
    beginAssistantStream: writes({
      bearerSuffices: true,
      /** False: the request is malformed. Whether the account may ask at all is answered first. */
      fields: z.object({ isValid: z.boolean() }),
      ok: z.object({
        streamUuid: z.string(),
        sessionUuid: z.string(),
        provider: z.enum(providerIds),
        model: z.string(),
        subscriptionId: z.string().optional(),
        maxOutputTokens: z.number().optional(),
        temperature: z.number().optional(),
      }),
    }),
    /** Sent by the gateway of the stream. `isRefunded`: no provider has heard of the request, so it does not count. */
    endAssistantStream: {
      request: z.object({ streamUuid: z.string(), isRefunded: z.boolean() }),
      reply: nothing,
    },
  }),
});
