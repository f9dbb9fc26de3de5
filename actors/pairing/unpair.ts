/** Removes pairings on this server alone: the provider is not told, and no profile falls back to another pairing. */
import { command, type Turn } from '../../runtime/command.ts';
import { AssistantPolicy } from '../assistant/policy.ts';
import { isRefused, type Refused, refuse } from '../reply.ts';
import { auditPairing, subscriptionIdOf } from './attempts.ts';
import { forgetMetered, meteredMap } from './metering.ts';
import { PairingAdministration, unpairAllConfirmation } from './operator-contract.ts';
import {
  clearRecords,
  openedRecords,
  readableRecords,
  removeAttempt,
  removeCredential,
  unavailable,
  unreadable,
} from './records.ts';
import { stopRefresh } from './refresh.ts';
import { profilesOfSubscription } from './status.ts';
import { PairingTools } from './tools.ts';

const idRequired = refuse.badRequest(
  'Say which subscription: its subscriptionId.',
  'subscription-id-required',
);
const notConfirmed = refuse.badRequest(
  `To remove all pairings, send the confirmation: ${unpairAllConfirmation}`,
  'confirmation-mismatch',
);

export const unpair = command(PairingAdministration.commands.unpair, {
  creates: true,
  turn: (turn, { by, subscriptionId: idText, confirmReferences }) => {
    if (idText === undefined || idText === null || idText === '') return idRequired;
    const subscriptionId = subscriptionIdOf(idText);
    if (isRefused(subscriptionId)) return subscriptionId;
    const records = readableRecords(turn);
    if (isRefused(records)) return records;
    const references = referencesTo(turn, subscriptionId);
    const isPaired = records.credentials.has(subscriptionId);
    const isThere = isPaired || records.attempts.has(subscriptionId);
    if (isThere && references.length > 0 && confirmReferences !== true) return unconfirmed(references);
    stopRefresh(turn, subscriptionId);
    removeAttempt(turn, subscriptionId);
    removeCredential(turn, subscriptionId);
    forgetMetered(turn, subscriptionId);
    if (isThere) auditPairing(turn, by, 'assistant-unpaired', subscriptionId);
    return {
      ok: { unpaired: isPaired, subscriptionId, referencesAffected: isThere ? references.length : 0 },
    };
  },
});

type Reference = { readonly kind: 'assistant' | 'backend'; readonly profileId: string };

/** `assistant`: it answers users who have no profile of their own. */
function referencesTo(turn: Turn, subscriptionId: string): readonly Reference[] {
  const byDefault = turn.use(AssistantPolicy).default?.id;
  return profilesOfSubscription(turn, subscriptionId).map(({ id }) => ({
    kind: id === byDefault ? 'assistant' : 'backend',
    profileId: id,
  }));
}

const unconfirmed = (references: readonly Reference[]): Refused =>
  refuse.conflict(
    'Profiles of the assistant use this pairing, and answer nobody without it.',
    'confirmation-required',
    { payload: { references } },
  );

export const unpairAll = command(PairingAdministration.commands.unpairAll, {
  creates: true,
  turn: (turn, { by, confirmation, onlyReadable }) => {
    if (confirmation !== unpairAllConfirmation) return notConfirmed;
    if (turn.use(PairingTools).seal === undefined) return unavailable;
    if (onlyReadable === true && openedRecords(turn) === 'unreadable') return unreadable;
    const paired = clearRecords(turn);
    for (const id of paired) stopRefresh(turn, id);
    for (const id of [...turn.entries(meteredMap).keys()]) forgetMetered(turn, id);
    auditPairing(turn, by, 'assistant-all-unpaired', null);
    return { ok: { unpaired: true as const, count: paired.length } };
  },
});
