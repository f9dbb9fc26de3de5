/**
 * The `signin` kind. An unknown address takes the same turns, commits and hash work as a known one, and gets answers of the same
 * form. Once all of its state has expired the actor becomes a tombstone; the next request revives it.
 */
import { command, tell } from '../../runtime/command.ts';
import { kindOf } from '../../runtime/kind.ts';
import { CalendarTokenHasher } from '../identity/calendar-tokens.ts';
import { CaptchaVerifier } from '../identity/captcha.ts';
import { ImportedPasswords } from '../identity/imported-password.ts';
import { PasswordHasher } from '../identity/password-hasher.ts';
import { SigninKeys } from '../identity/signin-keys.ts';
import { AccountSettings, WebAuthnSettings } from '../settings.ts';
import { activatePremium } from './activate-premium.ts';
import { approvalMap, approvalStatus, pendingApprovals, resolveApproval } from './approvals.ts';
import { assertionChallengeMap } from './assertion-challenge.ts';
import { attemptsMap, lockedOut } from './attempts.ts';
import { addChallenge, challengeMap, forgetChallenges, forgottenSlice } from './challenges.ts';
import { Signin } from './contract.ts';
import { debitAttempt, forgetAttempts, recognise, refusedAttempt, signedInOrigin } from './counting.ts';
import { codeRequestsSlice, emailedCodeMap } from './emailed-codes.ts';
import { expireLater, expireTimer, forgetPending } from './expiry.ts';
import { forgetKnown, knownDeviceMap, knownNetworkMap } from './known.ts';
import { login } from './login.ts';
import { loginParams } from './login-params.ts';
import { lookUpEscrow } from './look-up-escrow.ts';
import { offerAssertion } from './offer-assertion.ts';
import { proveCalendarToken } from './prove-calendar-token.ts';
import { codeRequested, mailSubscriptionToken, requestCode } from './requested-mails.ts';
import { unknownFailuresSlice } from './unknown-origins.ts';

/** The `user` actor of the address sends this command, and `debit`. */
const storeChallenge = command(Signin.commands.storeChallenge, {
  creates: true,
  turn: (turn, { codeChallenge }) => {
    addChallenge(turn, codeChallenge, signedInOrigin, 'factor');
    expireLater(turn);
    return {};
  },
});

const debit = command(Signin.commands.debit, {
  creates: true,
  repeat: 'recorded',
  turn: (turn) => {
    if (refusedAttempt(turn, signedInOrigin, true) !== undefined) return { refused: lockedOut };
    debitAttempt(turn, signedInOrigin);
    expireLater(turn);
    return { ok: {} };
  },
});

export const signin = kindOf(Signin, {
  revivable: true,
  uses: [
    AccountSettings,
    SigninKeys,
    PasswordHasher,
    ImportedPasswords,
    CalendarTokenHasher,
    CaptchaVerifier,
    WebAuthnSettings,
  ],
  slices: [
    attemptsMap,
    unknownFailuresSlice,
    knownNetworkMap,
    knownDeviceMap,
    challengeMap,
    forgottenSlice,
    assertionChallengeMap,
    emailedCodeMap,
    codeRequestsSlice,
    approvalMap,
  ],
  tables: [],
  commands: {
    loginParams,
    login,
    requestCode,
    lookUpEscrow,
    offerAssertion,
    approvalStatus,
    pendingApprovals,
    resolveApproval,
    storeChallenge,
    debit,
    mailSubscriptionToken,
    activatePremium,
    proveCalendarToken,
  },
  timers: { expire: expireTimer },
  tells: {
    reset: tell(Signin.tells.reset, forgetAttempts),
    recognise: tell(Signin.tells.recognise, {
      creates: true,
      turn: (turn, opened) => {
        recognise(turn, opened);
        expireLater(turn);
      },
    }),
    codeRequested,
    forgetChallenges: tell(Signin.tells.forgetChallenges, forgetChallenges),
    forget: tell(Signin.tells.forget, (turn) => {
      forgetPending(turn);
      forgetKnown(turn, 'all');
      // The timer may be set to when the last of them would have been known no more.
      expireLater(turn);
    }),
  },
});
