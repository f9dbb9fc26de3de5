/**
 * The second factor at sign-in (docs/protocol/account.md, "The second factor at sign-in"), asked by the
 * `signin` actor before it stores a challenge: without one no login succeeds.
 *
 *     stands in   an app password, or the token of a trusted device, passes any factor
 *     else        the one factor that counts: security keys before the authenticator app
 *
 * A wrong token of a trusted device counts as none. Guesses are limited by the `signin` actor, which counts
 * them for known and unknown addresses alike.
 */
import { sharedRead, type View, workflow } from '../../../runtime/command.ts';
import { WebAuthnSettings } from '../../settings.ts';
import { User } from '../contract.ts';
import { profileSlice } from '../profile.ts';
import { acceptAppPassword } from './app-passwords.ts';
import {
  authenticatorMap,
  descriptorOf,
  hasAuthenticators,
  noteUse,
  verifyAssertion,
} from './authenticators.ts';
import { areRecoveryCodes } from './recovery-codes.ts';
import { acceptTotp, isTotpOn } from './totp.ts';
import { acceptTrustedDevice } from './trusted-devices.ts';

export type Factor = 'totp' | 'security-key';

/** Undefined: the account needs only a password. */
function factorOf(view: View): Factor | undefined {
  if (hasAuthenticators(view)) return 'security-key';
  return isTotpOn(view) ? 'totp' : undefined;
}

const passed = { passed: true } as const;

export const checkFactors = workflow({
  ...User.commands.checkFactors,
  run: async (
    workflow,
    {
      email,
      workspace,
      appPassword,
      trustedDeviceToken,
      code,
      assertion,
      hasAssertion,
      recoveryCodes,
      device,
    },
  ) => {
    const given = [appPassword, trustedDeviceToken, code, assertion];
    const first = await workflow.turn({
      // Nothing is written otherwise, and to look for a record costs a read.
      recorded: given.some((each) => each !== undefined),
      turn: (turn) => {
        const profile = turn.get(profileSlice);
        const isTheirs =
          profile.state === 'active' && profile.email === email && profile.workspace === workspace;
        if (!isTheirs) return { stale: true } as const;
        if (recoveryCodes !== undefined) {
          return areRecoveryCodes(turn, recoveryCodes) ? passed : wrongRecoveryCodes;
        }
        const factor = factorOf(turn);
        if (factor === undefined) return passed;
        if (appPassword !== undefined && acceptAppPassword(turn, appPassword, device)) return passed;
        if (trustedDeviceToken !== undefined && acceptTrustedDevice(turn, trustedDeviceToken, device))
          return passed;
        if (factor === 'security-key') return hasAssertion ? { verify: true as const } : missing(factor);
        if (code === undefined) return missing(factor);
        const outcome = acceptTotp(turn, code);
        return outcome === 'accepted' ? passed : { factor, outcome };
      },
    });
    if (!('verify' in first)) return first;
    // Its challenge is too old, or never existed.
    if (assertion === undefined) return wrongKey;
    const stored = await workflow.turn({ turn: (turn) => [...turn.entries(authenticatorMap).values()] });
    const used = await verifyAssertion(stored, assertion, workflow.use(WebAuthnSettings));
    if (used === undefined) return wrongKey;
    return workflow.turn({ recorded: true, turn: (turn) => (noteUse(turn, used) ? passed : wrongKey) });
  },
});

const wrongRecoveryCodes = { factor: 'recovery-codes', outcome: 'wrong' } as const;
const wrongKey = { factor: 'security-key', outcome: 'wrong' } as const;
const missing = (factor: Factor) => ({ factor, outcome: 'missing' }) as const;

/** The security keys that an assertion may be made with; none if the account has no such factor. */
export const authenticatorsOf = sharedRead({
  ...User.commands.authenticatorsOf,
  answer: (view, { email, workspace }) => {
    const profile = view.get(profileSlice);
    const isTheirs = profile.email === email && profile.workspace === workspace;
    const known = isTheirs ? [...view.entries(authenticatorMap).values()] : [];
    return { allowed: known.map(descriptorOf) };
  },
});
