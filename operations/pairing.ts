/** `scriptorium.v1.Pairing`: the assistant's subscriptions, the same as for administrators in a client. */
import { pairingId } from '../actors/pairing/contract.ts';
import {
  byOperator as by,
  PairingAdministration,
  type SubscriptionView,
  unpairAllConfirmation,
} from '../actors/pairing/operator-contract.ts';
import type { PairingService, Subscription } from '../proto/generated/scriptorium/v1/pairing.ts';
import type { Handlers } from './calls.ts';
import { okOrThrow, timeOf } from './errors.ts';
import type { InternalApiOptions } from './internal-api-options.ts';

type Options = Pick<InternalApiOptions, 'actors' | 'logger'>;

/** The actor records an administrator's actions in their audit trail. An operator has none, so the log records them. */
export function pairingHandlers({ actors, logger }: Options): Handlers<PairingService> {
  const pairing = actors.get(PairingAdministration, pairingId).ask;
  return {
    async status({ subscriptionId }, ask) {
      const { subscription } = okOrThrow(await pairing.status({ by, subscriptionId }, ask));
      return { subscription: subscriptionView(subscription) };
    },

    async list(_request, ask) {
      const { subscriptions } = okOrThrow(await pairing.list({ by }, ask));
      return { subscriptions: subscriptions.map(subscriptionView) };
    },

    async start({ subscriptionId }, ask) {
      const { expiresAt, ...started } = okOrThrow(await pairing.start({ by, subscriptionId }, ask));
      logger.info(
        { subscriptionId: started.subscriptionId },
        'an operator has begun to pair a subscription of the assistant',
      );
      return { ...started, expires: timeOf(expiresAt) };
    },

    async complete({ code, state }, ask) {
      const { subscription } = okOrThrow(await pairing.complete({ by, code, state }, ask));
      logger.info(
        { subscriptionId: subscription.subscriptionId },
        'an operator has paired a subscription of the assistant',
      );
      return { subscription: subscriptionView(subscription) };
    },

    async unpair({ subscriptionId, confirmReferences }, ask) {
      const answer = okOrThrow(await pairing.unpair({ by, subscriptionId, confirmReferences }, ask));
      logger.info(answer, 'an operator has unpaired a subscription of the assistant');
      return answer;
    },

    async unpairAll({ unreadableToo }, ask) {
      const request = { by, confirmation: unpairAllConfirmation, onlyReadable: !unreadableToo };
      const { count } = okOrThrow(await pairing.unpairAll(request, ask));
      logger.info({ count }, 'an operator has unpaired all subscriptions of the assistant');
      return { count };
    },

    async usage({ subscriptionId }, ask) {
      const answer = okOrThrow(await pairing.usage({ by, subscriptionId }, ask));
      const { totalTokens: _, since, updatedAt, ...counted } = answer;
      return { ...counted, since: timeOf(since), updated: timeOf(updatedAt) };
    },
  };
}

function subscriptionView({ readable: _, expiresAt, retryAt, ...view }: SubscriptionView): Subscription {
  return {
    ...view,
    accountLabel: view.accountLabel ?? '',
    accountId: view.accountId ?? '',
    repairReason: view.repairReason ?? '',
    transientFailure: view.transientFailure ?? '',
    expires: timeOf(expiresAt),
    retry: timeOf(retryAt),
  };
}
