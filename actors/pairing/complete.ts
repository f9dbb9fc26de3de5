/**
 * Exchanges a code for a credential. Two callers may do this: the callback, for anyone who has the state, and the administrator
 * who started the pairing.
 *
 *     check      is there a pending attempt of this state? Is the user who started it still an administrator?
 *     claim      from here on one call alone has the attempt, for two minutes
 *     exchange   of the code, at the provider, outside any turn
 *     conclude   if the claim is still there, one commit writes the credential and ends the attempt. If not, or if the exchange
 *                failed, nothing of the answer is kept
 *
 * A code is sent once. A crash after the claim leaves a claim, which expires. A repeat of the call does not exchange again, as it is
 * unknown whether the provider has seen the code. A repeat after the last commit gets its answer from the credential, which knows its
 * call.
 */
import { type Turn, type Workflow, workflow } from '../../runtime/command.ts';
import { unlessAbsent } from '../../runtime/handles.ts';
import { isRefused, type Refused, refuse } from '../reply.ts';
import { UserAdministration } from '../user/operator-contract.ts';
import { attemptOf, auditPairing, subscriptionIdOf } from './attempts.ts';
import { Pairing } from './contract.ts';
import { byOperator, PairingAdministration } from './operator-contract.ts';
import {
  type Credential,
  type OpenedRecords,
  type PairingAttempt,
  pruneAttempts,
  putAttempt,
  putCredential,
  readableRecords,
  removeAttempt,
  unavailable,
} from './records.ts';
import { stopRefresh } from './refresh.ts';
import { subscriptionViewOf } from './status.ts';
import { PairingTools, type ProviderGrant } from './tools.ts';

const claimMs = 2 * 60_000;

const statePattern = /^[A-Za-z0-9_-]{43}$/;
const codePattern = /^[\x21-\x7e]{1,4096}$/;

const invalidState = refuse.badRequest(
  'This pairing is not known. It may be used up, replaced or too old: please start another one.',
  'invalid-pairing-state',
);
const invalidCode = refuse.badRequest('This is not an authorization code.', 'invalid-pairing-code');
const ofAnother = refuse.forbidden(
  'Another administrator has started this pairing.',
  'pairing-admin-mismatch',
);
const noAdministrator = refuse.forbidden(
  'The administrator who started this pairing is no longer one.',
  'admin-required',
);
const failed = refuse.upstreamFailed(
  'The provider did not complete the pairing. Please start another one.',
  'pairing-exchange-failed',
);
const superseded = refuse.conflict(
  'This pairing was replaced, removed or too slow. Please start another one.',
  'pairing-superseded',
);

interface PairingRequest {
  readonly state: string;
  /** The subscription that an administrator has named, if any. */
  readonly subscriptionId: string | undefined;
  /** The administrator who completes it; undefined for a callback, which anyone who has the state may make. */
  readonly by: string | undefined;
}

interface ClaimedAttempt {
  readonly subscriptionId: string;
  readonly attempt: PairingAttempt;
}
interface Completion {
  readonly pairedId: string;
  /** Undefined if the call is a repeat. */
  readonly startedBy?: string;
}

export const complete = workflow(PairingAdministration.commands.complete, {
  creates: true,
  run: async (steps, { by, code, state, subscriptionId: idText }) => {
    const checked = checkedOf(code, state);
    if (isRefused(checked)) return checked;
    const subscriptionId = idText === undefined ? undefined : subscriptionIdOf(idText);
    if (isRefused(subscriptionId)) return subscriptionId;
    const request = { state: checked.state, subscriptionId, by };
    const claimed = await steps.turn({ turn: (turn) => claim(turn, steps, request) });
    const done = await exchanged(steps, claimed, checked);
    if (isRefused(done)) return done;
    return steps.turn({
      turn: (turn) => ({ ok: { subscription: subscriptionViewOf(turn, done.pairedId) } }),
    });
  },
});

export const callback = workflow(Pairing.commands.callback, {
  creates: true,
  run: async (steps, { code, state, error }) => {
    const checked = checkedOf(error === undefined ? code : 'none', state);
    if (isRefused(checked)) return checked;
    const request = { state: checked.state, subscriptionId: undefined, by: undefined };
    const found = await steps.turn({ turn: (turn) => check(turn, steps, request) });
    if (isRefused(found)) return found;
    if ('pairedId' in found) return pairedBy(found);
    if (error !== undefined) return drop(steps, request, failed);
    if (!(await isAdministrator(steps, found.attempt.startedBy)))
      return drop(steps, request, noAdministrator);
    const claimed = await steps.turn({ turn: (turn) => claim(turn, steps, request) });
    const done = await exchanged(steps, claimed, checked);
    return isRefused(done) ? done : pairedBy(done);
  },
});

const pairedBy = ({ pairedId, startedBy }: Completion) => ({
  ok: { pairedForOperator: startedBy === byOperator ? pairedId : null },
});

/** Refuses a malformed request without reading anything. */
function checkedOf(code: unknown, state: unknown): { code: string; state: string } | Refused {
  if (typeof state !== 'string' || !statePattern.test(state)) return invalidState;
  return typeof code === 'string' && codePattern.test(code) ? { code, state } : invalidCode;
}

/** The pending attempt of this state, or the credential that this call has made before, whose answer was lost. */
function check(
  turn: Turn,
  { callId }: Workflow,
  request: PairingRequest,
): ClaimedAttempt | Completion | Refused {
  const records = readableRecords(turn);
  if (isRefused(records)) return records;
  if (turn.use(PairingTools).provider === undefined) return unavailable;
  const paired = [...records.credentials].find(([, { pairedBy }]) => pairedBy === callId);
  if (paired !== undefined) return { pairedId: paired[0] };
  return pendingOf(records, request, turn.nowMs);
}

function pendingOf(
  records: OpenedRecords,
  { state, subscriptionId: named, by }: PairingRequest,
  nowMs: number,
) {
  const found = attemptOf(records.attempts, state, nowMs);
  if (found === undefined || found[1].claim !== null) return invalidState;
  const [subscriptionId, attempt] = found;
  if (by !== undefined && by !== attempt.startedBy) return ofAnother;
  if (named !== undefined && named !== subscriptionId) return invalidState;
  return { subscriptionId, attempt };
}

/** Checks and claims in one turn, so that only one of two calls gets it. */
function claim(turn: Turn, steps: Workflow, request: PairingRequest): ClaimedAttempt | Completion | Refused {
  const found = check(turn, steps, request);
  if (!('attempt' in found)) return found;
  const attempt = { ...found.attempt, claim: steps.callId, endsAtMs: turn.nowMs + claimMs };
  putAttempt(turn, found.subscriptionId, attempt);
  return { ...found, attempt };
}

/** Uses the attempt up if the provider's user refused, or if the user is not an administrator any more. */
function drop(steps: Workflow, request: PairingRequest, because: Refused): Promise<Refused> {
  return steps.turn({
    turn: (turn) => {
      const found = check(turn, steps, request);
      if ('attempt' in found) removeAttempt(turn, found.subscriptionId);
      return because;
    },
  });
}

async function isAdministrator({ actors }: Workflow, by: string): Promise<boolean> {
  if (by === byOperator) return true;
  const account = await unlessAbsent(actors.get(UserAdministration, by).ask.operatorShow({}));
  const isActive = account?.state === 'active' && !account.banned;
  return isActive && account.roles.includes('INTERNAL_TEAM_USER');
}

async function exchanged(
  steps: Workflow,
  claimed: ClaimedAttempt | Completion | Refused,
  callback: { readonly code: string; readonly state: string },
): Promise<Completion | Refused> {
  if (!('attempt' in claimed)) return claimed;
  const { provider } = steps.use(PairingTools);
  if (provider === undefined) return unavailable;
  const { subscriptionId, attempt } = claimed;
  const result = await provider.exchange({ ...callback, verifier: attempt.verifier });
  return steps.turn({
    turn: (turn) => {
      const records = readableRecords(turn);
      if (isRefused(records)) return records;
      const living = pruneAttempts(turn, records);
      if (living.get(subscriptionId)?.claim !== steps.callId) return superseded;
      removeAttempt(turn, subscriptionId);
      if ('failure' in result) return failed;
      const serial = (records.credentials.get(subscriptionId)?.serial ?? 0) + 1;
      pair(turn, subscriptionId, result.granted, { serial, pairedBy: steps.callId });
      auditPairing(turn, attempt.startedBy, 'assistant-paired', subscriptionId);
      return { pairedId: subscriptionId, startedBy: attempt.startedBy };
    },
  });
}

function pair(
  turn: Turn,
  subscriptionId: string,
  granted: ProviderGrant,
  made: Pick<Credential, 'serial' | 'pairedBy'>,
): void {
  stopRefresh(turn, subscriptionId);
  const { lifetimeMs, ...rest } = granted;
  putCredential(turn, subscriptionId, {
    ...rest,
    ...made,
    expiresAtMs: turn.nowMs + lifetimeMs,
    repairReason: null,
    trouble: null,
    doubtedSerial: null,
  });
}
