/**
 * The path of a sign-in (docs/protocol/authentication.md, "Login"):
 *
 *     debit   turn of `signin`: is the address locked, is a captcha missing; debits the attempt, takes the challenge
 *     look    the account's row, if there is one; a hint
 *     hash    outside any turn; for an unknown address against nobody's hash
 *     open    turn of `user`: are the credentials still those that were read; opens the session
 *     settle  turn of `signin`: gives the attempts back
 *
 * A crash between steps costs the caller one debited attempt at most. A repeat of the call finds `debit` and `open`
 * recorded and goes through the others again.
 */
import { lookup, type Turn, type Workflow, workflow } from '../../runtime/command.ts';
import { NotFoundError } from '../../runtime/errors.ts';
import { type AccountRow, accountTable, addressKey } from '../identity/account-table.ts';
import { CaptchaVerifier } from '../identity/captcha.ts';
import { fullKeyParams } from '../identity/key-params.ts';
import { PasswordHasher } from '../identity/password-hasher.ts';
import type { Device } from '../identity/session.ts';
import type { Refusal, Refused } from '../reply.ts';
import { AccountSettings } from '../settings.ts';
import { User } from '../user/contract.ts';
import { attemptsSlice, debitAttempt, lockedOut, needsCaptcha, noAttempts } from './attempts.ts';
import { consumeChallenge } from './challenges.ts';
import { Signin } from './contract.ts';
import { expireLater } from './expiry.ts';

interface Login {
  readonly email: string;
  readonly workspace: string;
  readonly apiVersion: string;
  readonly ephemeral: boolean;
  readonly device: Device;
}

/** The same for an unmatched verifier, an unknown address and a wrong password. */
const wrongCredentials: Refusal = { status: 401, message: 'Invalid email or password' };
const captchaMissing: Refusal = { status: 401, message: 'Please solve the captcha and try again.' };

export const login = workflow({
  ...Signin.commands.login,
  creates: true,
  run: async (workflow, login) => {
    const captchaPassed = await workflow.use(CaptchaVerifier).passes(login.hvmToken);
    const attempt = await workflow.turn({
      recorded: true,
      turn: (turn) => beginAttempt(turn, login.codeVerifier, captchaPassed),
    });
    if ('refused' in attempt) return attempt;
    const refused = { refused: { ...wrongCredentials, captchaRequired: attempt.captchaRequired } };
    const account = await workflow.turn({
      reads: () => ({ account: lookup(accountTable, [addressKey(login)]) }),
      turn: (_turn, { account }) => account.rows[0],
    });
    const isRight = await workflow.use(PasswordHasher).verify(account?.password_hash, login.password);
    if (account === undefined || !isRight || !attempt.challengeMet) return refused;
    const opened = await openSessionAt(workflow, account, login);
    if ('stale' in opened) return refused;
    await workflow.turn({ turn: (turn) => turn.set(attemptsSlice, noAttempts) });
    const user = { uuid: account.user_uuid, email: login.email, protocolVersion: opened.protocolVersion };
    return { ok: { ...opened.issued, key_params: fullKeyParams(account), user } };
  },
});

type Attempt = { readonly challengeMet: boolean; readonly captchaRequired: boolean } | Refused;

function beginAttempt(turn: Turn, codeVerifier: string, captchaPassed: boolean): Attempt {
  const outcome = debitAttempt(turn, captchaPassed);
  if (outcome === 'locked') return { refused: { ...lockedOut, captchaRequired: true } };
  if (outcome === 'captcha-missing') return { refused: { ...captchaMissing, captchaRequired: true } };
  expireLater(turn);
  const challengeMet = consumeChallenge(turn, codeVerifier);
  const captchaRequired = needsCaptcha(turn.get(attemptsSlice), turn.use(AccountSettings));
  return { challengeMet, captchaRequired };
}

async function openSessionAt(workflow: Workflow, account: AccountRow, login: Login) {
  const { email, workspace, apiVersion, ephemeral, device } = login;
  const credentialsVersion = account.credentials_version;
  try {
    return await workflow.actors
      .get(User, account.user_uuid)
      .ask.openSession({ credentialsVersion, email, workspace, apiVersion, ephemeral, device });
  } catch (error) {
    // The account was deleted since its row was read.
    if (error instanceof NotFoundError) return { stale: true } as const;
    throw error;
  }
}
