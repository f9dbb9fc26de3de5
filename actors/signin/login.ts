/**
 * The path of a sign-in (docs/protocol/authentication.md, "Login"):
 *
 *     begin   turn of `signin`: is the address locked for the attempt's origin, is a captcha missing? Takes the challenge, and
 *             counts the attempt as failed if there was one: without a challenge no login can succeed
 *     captcha if one is needed, and only for a counted attempt, so that nobody can make the server ask for many
 *     look    reads the account's row as a hint
 *     hash    outside any turn; for an unknown address against a dummy hash. `open` replaces a hash of another server
 *     open    turn of `user`: are the credentials still those that were read? Opens the session
 *     accept  turn of `signin`: gives the attempts back, and remembers network and device
 *
 * A crash between steps costs the caller one attempt at most. A repeat of the call finds `begin` and `open` recorded and goes
 * through the others again. `accept` recognises the session, and gives nothing back twice.
 */
import type { z } from 'zod';
import { type Turn, type Workflow, workflow } from '../../runtime/command.ts';
import { unlessAbsent } from '../../runtime/handles.ts';
import { type AccountRow, readAccount } from '../identity/account-table.ts';
import { CaptchaVerifier } from '../identity/captcha.ts';
import { ImportedPasswords, isImportedHash } from '../identity/imported-password.ts';
import { keyOfKnown, keyOfUnknown, PasswordHasher } from '../identity/password-hasher.ts';
import { sessionApiVersions, sessionUuidOf } from '../identity/session.ts';
import { signInReply } from '../identity/sign-in-reply.ts';
import { Instance, instanceId } from '../instance/contract.ts';
import type { Refusal, Refused } from '../reply.ts';
import { Account } from '../user/account/contract.ts';
import { lockedOut } from './attempts.ts';
import { consumeChallenge, purposeOf } from './challenges.ts';
import { missingCredentials, Signin } from './contract.ts';
import {
  type AttemptOrigin,
  acceptAttempt,
  asksForCaptcha,
  attemptOriginOf,
  debitAttempt,
  type OpenedSession,
  refusedAttempt,
} from './counting.ts';
import { expireLater } from './expiry.ts';
import { auditFailedSignIn } from './unknown-account.ts';

type Login = z.infer<typeof Signin.commands.login.request>;

/** The one refusal for an unmatched verifier, an unknown address and a wrong password. */
const wrongCredentials: Refusal = { reason: 'unauthenticated', message: 'Invalid email or password' };
const captchaMissing: Refusal = {
  reason: 'unauthenticated',
  message: 'Please solve the captcha and try again.',
};

/** Only a caller who knows the password gets this answer. */
const banned: Refusal = { reason: 'unauthenticated', message: 'Your account has been suspended.' };

const unknownVersion: Refusal = {
  reason: 'unauthenticated',
  message: 'This version of the application is not supported. Please update it.',
};

export const login = workflow(Signin.commands.login, {
  creates: true,
  run: async (workflow, login) => {
    const captcha = workflow.use(CaptchaVerifier);
    const { hvmToken = '', device } = login;
    // A missing token fails without asking the captcha server.
    const captchaPassed = hvmToken !== '' || (await captcha.passes(undefined));
    const attempt = await workflow.turn({
      recorded: true,
      turn: (turn) => beginAttempt(turn, login, captchaPassed),
    });
    if ('refused' in attempt) return attempt;
    const { origin, challengeMet, captchaRequired } = attempt;
    if (attempt.asksForCaptcha && challengeMet && !(await captcha.passes(login.hvmToken))) {
      return { refused: { ...captchaMissing, captchaRequired } };
    }
    const refused = { refused: { ...wrongCredentials, captchaRequired } };
    const account = await readAccount(workflow, login);
    const key = (origin.isUnknown ? keyOfUnknown : keyOfKnown)(device.ipAddress);
    const hasher = workflow.use(PasswordHasher);
    const areLeft = await areImportedLeft(workflow);
    const isRight = await hasher.verify(account?.password_hash, login.password, key, areLeft);
    if (challengeMet && !isRight)
      await workflow.turn({ turn: (turn) => auditFailedSignIn(turn, account, login) });
    if (account === undefined || !isRight || !challengeMet) return refused;
    const isImported = isImportedHash(account.password_hash);
    const newHash = isImported ? await hasher.hash(login.password, key) : undefined;
    const opened = await openSessionAt(workflow, account, { ...login, newHash }, origin);
    if ('banned' in opened) return { refused: { ...banned, captchaRequired } };
    if ('stale' in opened) return refused;
    const sessionUuid = sessionUuidOf(opened.issued);
    await workflow.turn({
      turn: (turn) => accept(turn, origin, { ipAddress: device.ipAddress, sessionUuid }),
    });
    return { ok: signInReply(account, opened, opened.issued) };
  },
});

interface StartedLogin {
  readonly origin: AttemptOrigin;
  readonly challengeMet: boolean;
  readonly asksForCaptcha: boolean;
  /** Whether the attempt after this one needs a captcha, should this one fail. */
  readonly captchaRequired: boolean;
}

function beginAttempt(turn: Turn, login: Login, captchaPassed: boolean): StartedLogin | Refused {
  const origin = attemptOriginOf(turn, {
    ipAddress: login.device.ipAddress,
    cookieSessions: login.cookieSessions,
  });
  const why = refusedAttempt(turn, origin, captchaPassed);
  if (why === 'locked') return { refused: { ...lockedOut, captchaRequired: true } };
  const { password, codeVerifier, recoveryCodes } = login;
  if (password === '' || codeVerifier === '' || recoveryCodes === '') return { refused: missingCredentials };
  if (!sessionApiVersions.includes(login.apiVersion)) return { refused: unknownVersion };
  if (why === 'captcha-missing') return { refused: { ...captchaMissing, captchaRequired: true } };
  const needsCaptcha = asksForCaptcha(turn, origin);
  const challengeMet = consumeChallenge(turn, login.codeVerifier, purposeOf(login));
  if (challengeMet) {
    debitAttempt(turn, origin);
    expireLater(turn);
  }
  return {
    origin,
    challengeMet,
    asksForCaptcha: needsCaptcha,
    captchaRequired: asksForCaptcha(turn, origin),
  };
}

function accept(turn: Turn, origin: AttemptOrigin, opened: OpenedSession): void {
  acceptAttempt(turn, origin, opened);
  expireLater(turn);
}

/** The time of an answer must not show which addresses have a password that another server has hashed. */
const areImportedLeft = (workflow: Workflow): Promise<boolean> =>
  workflow.use(ImportedPasswords).areLeft(workflow.nowMs, async () => {
    const answer = workflow.actors.get(Instance, instanceId).ask.importedPasswords({});
    return ((await unlessAbsent(answer))?.left ?? 0) > 0;
  });

async function openSessionAt(
  workflow: Workflow,
  account: AccountRow,
  login: Login & { readonly newHash?: string | undefined },
  origin: AttemptOrigin,
) {
  const { email, workspace, apiVersion, ephemeral, recoveryCodes, device, newHash } = login;
  const credentialsVersion = account.credentials_version;
  const answer = workflow.actors.get(Account, account.user_uuid).ask.openSession({
    credentialsVersion,
    email,
    workspace,
    apiVersion,
    ephemeral,
    recoveryCodes,
    device,
    newHash,
    isNewDevice: origin.isUnknown,
  });
  // Absent: the account was deleted since its row was read.
  return (await unlessAbsent(answer)) ?? ({ stale: true } as const);
}
