/** The status of pairings for administrators. It has nothing that could be used at the provider. */
import { type ClockedView, command, type View } from '../../runtime/command.ts';
import { AssistantPolicy } from '../assistant/policy.ts';
import { isRefused } from '../reply.ts';
import { isoTimeOrNull } from '../times.ts';
import { subscriptionIdOf } from './attempts.ts';
import { PairingAdministration, type SubscriptionView } from './operator-contract.ts';
import { type Credential, openedRecords, readableRecords } from './records.ts';
import { PairingTools } from './tools.ts';

/** The profiles of the assistant that name it. */
export const profilesOfSubscription = (view: View, subscriptionId: string) =>
  [...view.use(AssistantPolicy).profiles.values()].filter((each) => each.subscriptionId === subscriptionId);

export function subscriptionViewOf(view: ClockedView, subscriptionId: string): SubscriptionView {
  const records = openedRecords(view);
  const isReadable = typeof records !== 'string';
  const attempt = isReadable ? records.attempts.get(subscriptionId) : undefined;
  return {
    subscriptionId,
    available: records !== 'unavailable' && view.use(PairingTools).provider !== undefined,
    readable: isReadable,
    storeUnreadable: records === 'unreadable',
    ...credentialResponse(isReadable ? records.credentials.get(subscriptionId) : undefined),
    pendingAttempt: attempt !== undefined && attempt.endsAtMs > view.nowMs,
    backendProfiles: profilesOfSubscription(view, subscriptionId).map(({ id }) => id),
  };
}

const credentialResponse = (credential: Credential | undefined) => ({
  paired: credential !== undefined,
  accountLabel: credential?.accountLabel ?? null,
  accountId: credential?.accountId ?? null,
  expiresAt: isoTimeOrNull(credential?.expiresAtMs),
  repairReason: credential?.repairReason ?? null,
  transientFailure: credential?.trouble?.failure ?? null,
  retryAt: isoTimeOrNull(credential?.trouble?.retryAtMs),
});

export const status = command(PairingAdministration.commands.status, {
  creates: true,
  turn: (turn, { subscriptionId: idText }) => {
    const subscriptionId = subscriptionIdOf(idText);
    if (isRefused(subscriptionId)) return subscriptionId;
    return { ok: { subscription: subscriptionViewOf(turn, subscriptionId) } };
  },
});

export const listPairings = command(PairingAdministration.commands.list, {
  creates: true,
  turn: (turn) => {
    const records = readableRecords(turn);
    if (isRefused(records)) return records;
    const ids = [...records.credentials.keys()].toSorted();
    return { ok: { subscriptions: ids.map((id) => subscriptionViewOf(turn, id)) } };
  },
});
