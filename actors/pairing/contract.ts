/**
 * The `pairing` kind: one actor for all subscriptions at a provider of the assistant that administrators have paired with this
 * server. There is one because its bounds and lists concern all of them.
 *
 *     attempt      pending -> claimed -> paired or gone      (`attempts.ts`, `complete.ts`)
 *     credential   paired, refreshed before it is used, until it is unpaired or needs repair      (`refresh.ts`)
 *
 * The commands of administrators are in `operator-contract.ts`.
 */
import { z } from 'zod';
import { contract } from '../../runtime/contract.ts';
import { answerSchema } from '../reply.ts';
import { isSubscriptionId } from './subscription-id.ts';

/** The id of the one actor. */
export const pairingId = 'pairing';

const nothing = z.object({});
const subscription = z.object({ subscriptionId: z.string().refine(isSubscriptionId) });
const tokenCount = z.int().nonnegative();
/** The fields that a browser brought, unchecked. */
const anything = z.unknown().optional();

export const Pairing = contract({
  name: 'pairing',
  commands: {
    /**
     * The provider sends its user back with these. The state names the attempt, and anyone who has it may complete it. Refusals:
     * 400 `invalid-pairing-state`, 400 `invalid-pairing-code`, 403 `admin-required`, 409 `pairing-superseded`, 502
     * `pairing-exchange-failed`, 503 `pairing-unavailable`, 503 `pairing-store-unreadable`.
     */
    callback: {
      request: z.object({ code: anything, state: anything, error: anything }),
      /** The caller logs a pairing for an operator, who has no audit trail. */
      reply: answerSchema(z.object({ pairedForOperator: z.string().nullable() })),
    },
    /**
     * Called by gateways, for one request to the provider. A token that is about to expire is refreshed first, once for all
     * callers.
     */
    use: {
      request: subscription,
      reply: z.discriminatedUnion('outcome', [
        z.object({ outcome: z.literal('token'), accessToken: z.string(), serial: z.int() }),
        /** There is no such pairing, or its record cannot be read or used. */
        z.object({ outcome: z.literal('unavailable') }),
        /** The provider could not refresh it just now. */
        z.object({ outcome: z.literal('later') }),
      ]),
    },
    /** Called by gateways when such a request is over. `isRejected`: the provider did not accept the token of this serial. */
    reportUse: {
      request: z.object({
        ...subscription.shape,
        serial: z.int(),
        isRejected: z.boolean(),
        promptTokens: tokenCount,
        completionTokens: tokenCount,
      }),
      reply: nothing,
    },
  },
  timers: {
    /** Removes attempts that have expired. */
    sweep: z.null(),
  },
  jobs: {
    /** Refreshes one subscription, unless it has another access token than that of this serial by then. */
    refresh: z.object({ ...subscription.shape, serial: z.int() }),
  },
});
