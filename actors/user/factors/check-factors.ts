/**
 * The second factor at sign-in (docs/protocol/account.md, "The second factor at sign-in"). The `signin` actor asks before it
 * stores a challenge, and without a challenge no login succeeds.
 *
 *     stands in   an app password, or the token of a trusted device, passes any factor
 *     else        one factor counts: codes by e-mail before security keys, and these before the authenticator app
 *
 * A wrong token of a trusted device counts as none. The `signin` actor limits guesses, in the same way for unknown addresses.
 *
 * The time of an answer must not tell whether an account exists. So an unknown address is asked for too, as a user who does not
 * exist:
 *
 * - It is answered without an activation, like an account that is in memory.
 * - A wrong answer takes no statement. Only a right one is recorded, so that a repeat of the call finds it accepted and not
 *   used.
 * - Secrets, codes and assertions are compared as often as for an account, and a wrong secret is not compared again. The `signin`
 *   actor takes the turns that this one does not take.
 */
import type { z } from 'zod';
import { type ClockedView, type Turn, type View, type Workflow, workflow } from '../../../runtime/command.ts';
import { SigninKeys } from '../../identity/signin-keys.ts';
import { WebAuthnSettings } from '../../settings.ts';
import { profileSlice } from '../profile.ts';
import { acceptAppPassword, findAppPassword } from './app-passwords.ts';
import {
  authenticatorMap,
  descriptorOf,
  dummyAuthenticator,
  hasAuthenticators,
  noteAuthenticatorUse,
  verifyAssertion,
} from './authenticators.ts';
import { Factors } from './contract.ts';
import { areCodesEmailed } from './emailed-codes.ts';
import { areRecoveryCodes } from './recovery-codes.ts';
import { acceptTotp, compareDummyCode, isTotpCode, isTotpOn } from './totp.ts';
import { acceptTrustedDevice, findTrustedDevice } from './trusted-devices.ts';

type Factor = 'emailed-code' | 'totp' | 'security-key';

/** Undefined: the password is enough. */
function factorOf(view: View): Factor | undefined {
  if (areCodesEmailed(view)) return 'emailed-code';
  if (hasAuthenticators(view)) return 'security-key';
  return isTotpOn(view) ? 'totp' : undefined;
}

const passed = { passed: true } as const;

type FactorCheck = z.infer<typeof Factors.commands.checkFactors.request>;

export const checkFactors = workflow(Factors.commands.checkFactors, async (workflow, request) => {
  if (request.isNobody) {
    await makeDummyChecks(workflow, request);
    return { stale: true } as const;
  }
  const { isRight, secrets, stored } = await workflow.turn({
    turn: (turn) => {
      const secrets = isSecretRight(turn, request) ? request : noSecrets;
      const stored = [...turn.entries(authenticatorMap).values()];
      return { secrets, stored, isRight: secrets === request || isCodeRight(turn, request) };
    },
  });
  const proofs = { ...request, ...secrets };
  const first = await workflow.turn({ recorded: isRight, turn: (turn) => check(turn, proofs) });
  if (!('verify' in first)) return first;
  // Without a challenge, the assertion is too old or answers none of ours.
  const { assertion } = request;
  if (assertion === undefined) return wrongKey;
  const used = await verifyAssertion(stored, assertion, workflow.use(WebAuthnSettings));
  if (used === undefined) return wrongKey;
  return workflow.turn({
    recorded: true,
    turn: (turn) => (noteAuthenticatorUse(turn, used) ? passed : wrongKey),
  });
});

/** For an address that is unknown: what an account with its made-up factor is compared with. */
async function makeDummyChecks(workflow: Workflow, request: FactorCheck): Promise<void> {
  isSecretRight(undefined, request);
  const keys = workflow.use(SigninKeys);
  const factor = keys.pseudoFactor(request);
  const { code, assertion } = request;
  if (factor === 'totp' && code !== undefined) compareDummyCode(code);
  if (factor !== 'security-key' || assertion === undefined) return;
  const stored = keys.pseudoCredentials(request).map(dummyAuthenticator);
  await verifyAssertion(stored, assertion, workflow.use(WebAuthnSettings));
}

const noSecrets = { appPassword: undefined, trustedDeviceToken: undefined };

type MaybeView = ClockedView | undefined;

const isSecretRight = (view: MaybeView, { appPassword, trustedDeviceToken }: FactorCheck): boolean =>
  (appPassword !== undefined && findAppPassword(view, appPassword) !== undefined) ||
  (trustedDeviceToken !== undefined && findTrustedDevice(view, trustedDeviceToken) !== undefined);

const isCodeRight = (view: ClockedView, { code }: FactorCheck): boolean =>
  code !== undefined && isTotpCode(view, code);

function check(turn: Turn, { email, workspace, recoveryCodes, ...proofs }: FactorCheck) {
  const profile = turn.get(profileSlice);
  const isTheirs = profile.state === 'active' && profile.email === email && profile.workspace === workspace;
  if (!isTheirs) return { stale: true } as const;
  if (recoveryCodes !== undefined) {
    return areRecoveryCodes(turn, recoveryCodes) ? passed : wrongRecoveryCodes;
  }
  const { appPassword, trustedDeviceToken, code, hasAssertion, hasEmailedCode, device } = proofs;
  const factor = factorOf(turn);
  if (factor === undefined) return passed;
  if (appPassword !== undefined && acceptAppPassword(turn, appPassword, device)) return passed;
  if (trustedDeviceToken !== undefined && acceptTrustedDevice(turn, trustedDeviceToken, device))
    return passed;
  if (factor === 'security-key') return hasAssertion ? { verify: true as const } : missing(factor);
  if (code === undefined) return missing(factor);
  if (factor === 'emailed-code') return hasEmailedCode ? passed : { factor, outcome: 'wrong' as const };
  const outcome = acceptTotp(turn, code);
  return outcome === 'accepted' ? passed : { factor, outcome };
}

const wrongRecoveryCodes = { factor: 'recovery-codes', outcome: 'wrong' } as const;
const wrongKey = { factor: 'security-key', outcome: 'wrong' } as const;
const missing = (factor: Factor) => ({ factor, outcome: 'missing' }) as const;

/** The security keys that may make an assertion. None: the account has no such factor. */
export const authenticatorsOf = workflow(
  Factors.commands.authenticatorsOf,
  async (workflow, { email, workspace, isNobody }) => {
    if (isNobody) return { allowed: [] };
    const allowed = await workflow.turn({
      turn: (turn) => {
        const profile = turn.get(profileSlice);
        const isTheirs = profile.email === email && profile.workspace === workspace;
        return isTheirs ? [...turn.entries(authenticatorMap).values()].map(descriptorOf) : [];
      },
    });
    return { allowed };
  },
);
