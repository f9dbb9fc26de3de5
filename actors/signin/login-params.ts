/**
 * The first step of a sign-in (docs/protocol/authentication.md, "Login params", and docs/protocol/account.md, "The second
 * factor at sign-in"):
 *
 *     begin    turn of `signin`: a guess (a code, an app password, an assertion) counts as failed like a wrong password, and
 *              is refused if the address is locked for its origin
 *     check    workflow of `user`: which factor is on, and is it met? For an unknown address it asks a user who does not exist
 *     conclude turn of `signin`: if the factor is met, or if another device has approved, it stores the challenge and gives the
 *              attempt back; else it opens an approval
 *
 * No login succeeds without a stored challenge, so nobody gets past here without the factor. An unknown address takes the same
 * steps. About half of these have a made-up factor, always the same one.
 *
 * A repeat of the call finds `begin` and `check` recorded, and concludes again. If its challenge is stored already, it gives no
 * attempt back twice. An approval that it has used lets it pass again.
 */
import type { z } from 'zod';
import { type Turn, type Workflow, workflow } from '../../runtime/command.ts';
import { unlessAbsent } from '../../runtime/handles.ts';
import { type AccountRow, readAccount } from '../identity/account-table.ts';
import { type KeyParamsRow, publicKeyParams } from '../identity/key-params.ts';
import { SigninKeys } from '../identity/signin-keys.ts';
import { isMailConfigured } from '../mailer/outgoing.ts';
import { refuse } from '../reply.ts';
import { Factors } from '../user/factors/contract.ts';
import { requestApproval, takeApproved, withdrawApproval } from './approvals.ts';
import { takeAssertionChallenge } from './assertion-challenge.ts';
import { lockedOut } from './attempts.ts';
import { addChallenge, forgottenSlice, purposeOf } from './challenges.ts';
import { Signin } from './contract.ts';
import {
  type AttemptOrigin,
  asksForCaptcha,
  attemptOriginOf,
  debitAttempt,
  refusedAttempt,
  returnAttempt,
  type Source,
} from './counting.ts';
import { takeEmailedCode } from './emailed-codes.ts';
import { expireLater } from './expiry.ts';
import { auditFailedSignIn, takeTurnsOfUser } from './unknown-account.ts';

type ParamsRequest = z.infer<typeof Signin.commands.loginParams.request>;

type Unmet = {
  readonly factor: 'totp' | 'emailed-code' | 'security-key' | 'recovery-codes';
  readonly outcome: 'missing' | 'wrong' | 'used';
};
type FactorOutcome = { readonly passed: true } | Unmet;

const passed = { passed: true } as const;

const pseudoVersion = '004';

export const loginParams = workflow(Signin.commands.loginParams, {
  creates: true,
  run: async (workflow, request) => {
    const begun = await workflow.turn({
      // Other calls write nothing here, and looking for a record would cost a read.
      recorded: isGuess(request),
      turn: (turn) => begin(turn, request),
    });
    if ('refused' in begun) return begun;
    const account = await readAccount(workflow, request);
    const checked = await check(workflow, request, account, begun);
    return workflow.turn({
      turn: (turn) => {
        const isMet = 'passed' in checked || isLetIn(turn, request, account, workflow.callId);
        return conclude({ turn, request, account, outcome: isMet ? passed : checked, begun });
      },
    });
  },
});

/** Approved by another device of the account. A recovery still needs its codes, as its login uses them up. */
const isLetIn = (
  turn: Turn,
  request: ParamsRequest,
  account: AccountRow | undefined,
  callId: string,
): boolean =>
  account !== undefined && request.recoveryCodes === undefined && takeApproved(turn, request, callId);

interface StartedRequest {
  readonly assertionChallenge?: string | undefined;
  /** The code is the one that was mailed. */
  readonly hasEmailedCode: boolean;
  readonly forgotten: number;
}

const sourceOf = ({ device, cookieSessions }: ParamsRequest): Source => ({
  ipAddress: device.ipAddress,
  cookieSessions,
});

/** Proofs that can be guessed. Tokens of trusted devices are too long for that, and wrong ones are ignored. */
const isGuess = ({ code, appPassword, assertionResponse, recoveryCodes }: ParamsRequest): boolean =>
  [code, appPassword, assertionResponse, recoveryCodes].some((field) => field !== undefined);

function begin(turn: Turn, request: ParamsRequest) {
  if (isGuess(request)) {
    const origin = attemptOriginOf(turn, sourceOf(request));
    if (refusedAttempt(turn, origin, true) !== undefined) {
      return { refused: { ...lockedOut, captchaRequired: true } };
    }
    if (request.recoveryCodes === '') return wrongRecovery;
    debitAttempt(turn, origin);
    expireLater(turn);
  }
  const { assertionResponse, code } = request;
  const { ipAddress } = request.device;
  const begun: StartedRequest = {
    assertionChallenge: assertionResponse && takeAssertionChallenge(turn, assertionResponse),
    hasEmailedCode: code !== undefined && takeEmailedCode(turn, ipAddress, code),
    forgotten: turn.get(forgottenSlice),
  };
  return begun;
}

async function check(
  workflow: Workflow,
  request: ParamsRequest,
  account: AccountRow | undefined,
  begun: StartedRequest,
): Promise<FactorOutcome> {
  const outcome = await checkFactors(workflow, request, account, begun);
  if ('passed' in outcome || outcome.factor !== 'emailed-code') return outcome;
  // Known addresses make it too, so that both take the same time.
  const canMail = await isMailConfigured(workflow.actors);
  return account === undefined && !canMail ? { ...outcome, factor: 'totp' } : outcome;
}

/** `checkFactors` of the user's actor takes as many for an account. */
const turnsOfCheck = 2;

async function checkFactors(
  workflow: Workflow,
  request: ParamsRequest,
  account: AccountRow | undefined,
  { assertionChallenge, hasEmailedCode }: StartedRequest,
): Promise<FactorOutcome> {
  const { email, workspace, code, appPassword, trustedDeviceToken, assertionResponse, recoveryCodes } =
    request;
  const keys = workflow.use(SigninKeys);
  // What stands for an unknown address is derived for a known one too, so that both take the same time.
  const pseudoUser = keys.pseudoUser(request);
  const pseudo = pseudoOutcome(workflow, request);
  const userUuid = account?.user_uuid ?? pseudoUser;
  const assertion =
    assertionResponse && assertionChallenge !== undefined
      ? { response: assertionResponse, challenge: assertionChallenge }
      : undefined;
  const answer = workflow.actors.get(Factors, userUuid).ask.checkFactors({
    email,
    workspace,
    code,
    appPassword,
    trustedDeviceToken,
    assertion,
    recoveryCodes,
    hasAssertion: assertionResponse !== undefined,
    device: request.device,
    hasEmailedCode,
    isNobody: account === undefined,
  });
  const checked = await unlessAbsent(answer);
  if (checked === undefined) return pseudo;
  if (account === undefined) await takeTurnsOfUser(workflow, turnsOfCheck);
  return 'stale' in checked ? pseudo : checked;
}

function pseudoOutcome(workflow: Workflow, request: ParamsRequest): FactorOutcome {
  if (request.recoveryCodes !== undefined) return { factor: 'recovery-codes', outcome: 'wrong' };
  const factor = workflow.use(SigninKeys).pseudoFactor(request);
  if (factor === undefined) return passed;
  const proof = factor === 'security-key' ? request.assertionResponse : request.code;
  return { factor, outcome: proof === undefined ? 'missing' : 'wrong' };
}

function conclude({
  turn,
  request,
  account,
  outcome,
  begun: { forgotten },
}: {
  readonly turn: Turn;
  readonly request: ParamsRequest;
  readonly account: AccountRow | undefined;
  readonly outcome: FactorOutcome;
  readonly begun: StartedRequest;
}) {
  const origin = attemptOriginOf(turn, sourceOf(request));
  if (!('passed' in outcome)) return refusalOf({ turn, request, account, unmet: outcome, origin });
  // The check did not ask for a factor that was turned on meanwhile.
  const mayStore = turn.get(forgottenSlice) === forgotten;
  const isStored = mayStore && addChallenge(turn, request.codeChallenge, origin, purposeOf(request));
  if (isStored && isGuess(request)) returnAttempt(turn, origin);
  withdrawApproval(turn, request);
  expireLater(turn);
  // Made for a known address too, and read in the same way, so that both take the same time.
  const pseudo = pseudoParams(turn, request);
  return { ok: publicKeyParams(account ?? pseudo) };
}

/** For an account that does not exist: always the newest protocol, always the same nonce. */
function pseudoParams(turn: Turn, request: ParamsRequest): KeyParamsRow {
  const pw_nonce = turn.use(SigninKeys).pseudoNonce(request);
  return { identifier: request.email, key_params: JSON.stringify({ pw_nonce, version: pseudoVersion }) };
}

const codeMissing = refuse.unauthenticated(
  'Please enter your two-factor authentication code.',
  'mfa-required',
);
const codeWrong = refuse.unauthenticated(
  'The two-factor authentication code is not right. Please try again.',
  'mfa-invalid',
);
const codeUsed = refuse.unauthenticated(
  'This two-factor authentication code was used already. Please wait for the next one.',
  'mfa-invalid',
);
/** The word `email` is needed: clients look for it in the message, and then ask for the mail. */
const mailedMissing = refuse.unauthenticated(
  'Please enter the code that was sent to you by email.',
  'mfa-required',
);
const mailedWrong = refuse.unauthenticated(
  'The code is not that of the newest email, or it is too old. Please try again.',
  'mfa-invalid',
);
const keyMissing = refuse.unauthenticated('Please authenticate with your security key.', 'u2f-required');
const keyWrong = refuse.unauthenticated(
  'The security key could not be verified. Please try again.',
  'mfa-invalid',
);

/** The refusal of every failed recovery, whether or not there is such an account. */
const wrongRecovery = refuse.unauthenticated('Invalid login credentials.');

const refusals = {
  totp: { missing: codeMissing, wrong: codeWrong, used: codeUsed },
  'emailed-code': { missing: mailedMissing, wrong: mailedWrong, used: mailedWrong },
  'security-key': { missing: keyMissing, wrong: keyWrong, used: keyWrong },
};

function refusalOf({
  turn,
  request,
  account,
  unmet: { factor, outcome },
  origin,
}: {
  readonly turn: Turn;
  readonly request: ParamsRequest;
  readonly account: AccountRow | undefined;
  readonly unmet: Unmet;
  readonly origin: AttemptOrigin;
}) {
  if (outcome !== 'missing') auditFailedSignIn(turn, account, request);
  const counted = isGuess(request) && { captchaRequired: asksForCaptcha(turn, origin) };
  if (factor === 'recovery-codes') return { refused: { ...wrongRecovery.refused, ...counted } };
  const { refused } = refusals[factor][outcome];
  const userUuid = account?.user_uuid ?? turn.use(SigninKeys).pseudoUser(request);
  const approvalId = requestApproval(turn, request.device, userUuid, request);
  expireLater(turn);
  const payload = {
    ...(factor !== 'security-key' && { mfa_key: request.codeName ?? `mfa_${turn.random.uuid()}` }),
    mfa_approval_challenge_id: approvalId,
  };
  return { refused: { ...refused, ...counted, payload } };
}
