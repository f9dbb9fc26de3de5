/**
 * The commands of administrators for pairings. Their own `user` actors check the session, and then ask. The fields of the request come
 * unchecked, as the caller's rights have to be decided before anything in the request.
 */
import { z } from 'zod';
import { contract } from '../../runtime/contract.ts';
import { answerSchema } from '../reply.ts';

export const repairReasons = [
  'invalid-grant',
  'invalid-token',
  'missing-refresh-token',
  'credential-rejected',
] as const;
export const transientFailures = ['network', 'rate-limited', 'provider-unavailable'] as const;

/** Times as ISO text. It contains nothing that could be used at the provider. */
const subscriptionView = z.object({
  subscriptionId: z.string(),
  /** This node has what pairing needs. */
  available: z.boolean(),
  paired: z.boolean(),
  readable: z.boolean(),
  /** The records were sealed under another key, or altered, so no pairing can be read. */
  storeUnreadable: z.boolean(),
  accountLabel: z.string().nullable(),
  accountId: z.string().nullable(),
  expiresAt: z.string().nullable(),
  /** Why the subscription has to be paired again. */
  repairReason: z.enum(repairReasons).nullable(),
  transientFailure: z.enum(transientFailures).nullable(),
  retryAt: z.string().nullable(),
  pendingAttempt: z.boolean(),
  /** The ids of the profiles of the assistant that name it. */
  backendProfiles: z.array(z.string()),
});
export type SubscriptionView = z.infer<typeof subscriptionView>;

export const statusView = z.object({ subscription: subscriptionView });
export const listView = z.object({ subscriptions: z.array(subscriptionView) });
export const startView = z.object({
  subscriptionId: z.string(),
  authorizationUrl: z.string(),
  /** Shown once; kept as a hash. */
  state: z.string(),
  expiresAt: z.string(),
  redirectUri: z.string(),
});
export const unpairView = z.object({
  unpaired: z.boolean(),
  subscriptionId: z.string(),
  referencesAffected: z.int(),
});
export const unpairAllView = z.object({ unpaired: z.literal(true), count: z.int() });
export const usageView = z.object({
  subscriptionId: z.string(),
  requests: z.int(),
  promptTokens: z.int(),
  completionTokens: z.int(),
  totalTokens: z.int(),
  since: z.string().nullable(),
  updatedAt: z.string().nullable(),
});

const anything = z.unknown().optional();
/** If it is absent, the default subscription is meant, except by a removal. */
export const subscriptionFields = { subscriptionId: anything };
export const completeFields = { code: anything, state: anything, subscriptionId: anything };
export const unpairFields = { subscriptionId: anything, confirmReferences: anything };
export const unpairAllFields = { confirmation: anything };
/** Has to match exactly. */
export const unpairAllConfirmation = 'UNPAIR ALL SUBSCRIPTIONS';

/** Stands for an operator of the server, who has no account, in place of the uuid of an administrator. */
export const byOperator = 'operator';
const by = z.string().max(64);

const answering = <Fields extends z.ZodRawShape, Ok extends z.ZodType>(fields: Fields, ok: Ok) => ({
  request: z.object({ by, ...fields }),
  reply: answerSchema<z.infer<Ok>>(ok as z.ZodType<z.infer<Ok>>),
});

/** All may be refused with 400 `invalid-subscription-id`, 503 `pairing-unavailable` and `pairing-store-unreadable`. */
export const PairingAdministration = contract({
  name: 'pairing',
  commands: {
    /** Shows the state for which the others refuse with 503. */
    status: answering(subscriptionFields, statusView),
    list: answering({}, listView),
    /** Refusals: 429 `pairing-capacity`. */
    start: answering(subscriptionFields, startView),
    /**
     * Refusals: 400 `invalid-pairing-state`, 400 `invalid-pairing-code`, 403 `pairing-admin-mismatch`, 409
     * `pairing-superseded`, 502 `pairing-exchange-failed`.
     */
    complete: answering(completeFields, statusView),
    /** Refusals: 400 `subscription-id-required`, 409 `confirmation-required` with `references`. */
    unpair: answering(unpairFields, unpairView),
    /** Refusals: 400 `confirmation-mismatch`. Removes records that cannot be read too, unless `onlyReadable`. */
    unpairAll: answering({ ...unpairAllFields, onlyReadable: z.boolean().optional() }, unpairAllView),
    usage: answering(subscriptionFields, usageView),
  },
});
