/**
 * An administrator pairs a subscription: attempts from their start to their end.
 *
 *     pending     started; a call that brings its state within ten minutes claims it
 *     claimed     by one call, for two minutes: the code is exchanged meanwhile, outside any turn (`complete.ts`)
 *
 * A subscription has one attempt. A newer start replaces it, and the exchange of the older one then finds its claim gone. A timer
 * removes expired attempts, which have no effect before that. A crash before the commit of the start leaves nothing. A crash after it
 * leaves an attempt whose state no client knows, which expires.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import { command, type Turn, timer } from '../../runtime/command.ts';
import { isRefused, type Refused, refuse } from '../reply.ts';
import { type PairingEvent, UserPairing } from '../user/pairing/contract.ts';
import { Pairing } from './contract.ts';
import { byOperator, PairingAdministration } from './operator-contract.ts';
import {
  armSweep,
  attemptsPerAdministratorMax,
  openedRecords,
  type PairingAttempt,
  pruneAttempts,
  putAttempt,
  readableRecords,
  subscriptionsMax,
  unavailable,
} from './records.ts';
import { defaultSubscriptionId, isSubscriptionId } from './subscription-id.ts';
import { PairingTools } from './tools.ts';

const attemptMs = 10 * 60_000;
const stateBytes = 32;
const verifierBytes = 64;

const invalidId = refuse.badRequest(
  'A subscription id is 1 to 128 letters, digits, dots, underscores and hyphens, the first and last of them a letter or digit.',
  'invalid-subscription-id',
);
const full = refuse.tooMany(
  'Too many pairings have been started or made. Please complete or remove some.',
  attemptMs,
  { tag: 'pairing-capacity' },
);

/** The default subscription, if none is named. */
export function subscriptionIdOf(value: unknown): string | Refused {
  if (value === undefined || value === '') return defaultSubscriptionId;
  return isSubscriptionId(value) ? value : invalidId;
}

export const start = command(PairingAdministration.commands.start, {
  creates: true,
  turn: (turn, { by, subscriptionId: subscriptionIdText }) => {
    const subscriptionId = subscriptionIdOf(subscriptionIdText);
    if (isRefused(subscriptionId)) return subscriptionId;
    const { provider } = turn.use(PairingTools);
    if (provider === undefined) return unavailable;
    const records = readableRecords(turn);
    if (isRefused(records)) return records;
    const living = new Map(pruneAttempts(turn, records));
    // A newer one takes its place.
    living.delete(subscriptionId);
    const ofStarter = [...living.values()].filter(({ startedBy }) => startedBy === by).length;
    const known = new Set([...living.keys(), ...records.credentials.keys(), subscriptionId]);
    if (ofStarter >= attemptsPerAdministratorMax || known.size > subscriptionsMax) return full;

    const state = turn.random.bytes(stateBytes).toString('base64url');
    const verifier = turn.random.bytes(verifierBytes).toString('base64url');
    const endsAtMs = turn.nowMs + attemptMs;
    const attempt = { stateHash: hashOf(state), verifier, startedBy: by, endsAtMs, claim: null };
    putAttempt(turn, subscriptionId, attempt);
    armSweep(turn, [...living.values(), attempt]);
    auditPairing(turn, by, 'assistant-pairing-started', subscriptionId);
    return {
      ok: {
        subscriptionId,
        state,
        redirectUri: provider.redirectUri,
        authorizationUrl: provider.authorizationUrl({ state, verifier }),
        expiresAt: new Date(endsAtMs).toISOString(),
      },
    };
  },
});

/** Records that cannot be read stay. The next start removes them once they can be read. */
export const sweep = timer(Pairing.timers.sweep, (turn) => {
  const records = openedRecords(turn);
  if (typeof records === 'string') return;
  armSweep(turn, pruneAttempts(turn, records).values());
});

const hashOf = (state: string): string => createHash('sha256').update(state).digest('hex');

/** The attempt with this state, if it has not expired. */
export function attemptOf(
  attempts: ReadonlyMap<string, PairingAttempt>,
  state: string,
  nowMs: number,
): readonly [subscriptionId: string, attempt: PairingAttempt] | undefined {
  const hash = Buffer.from(hashOf(state));
  return [...attempts].find(
    ([, { stateHash, endsAtMs }]) => endsAtMs > nowMs && timingSafeEqual(Buffer.from(stateHash), hash),
  );
}

/** Notes the operation in the administrator's audit trail, in the same commit. */
export function auditPairing(
  turn: Turn,
  by: string,
  event: PairingEvent,
  subscriptionId: string | null,
): void {
  if (by !== byOperator) turn.tell(UserPairing, by).pairingNoted({ event, subscriptionId });
}
