/**
 * The path of a sign-in (design section 6, auth.md 5.3):
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
import { z } from 'zod';
import { type Flow, type FlowCommand, flow, lookup, type Turn } from '../../runtime/command.ts';
import { NotFoundError } from '../../runtime/errors.ts';
import type { AccountSettings, SigninServices } from '../services.ts';
import { type AccountRow, accountTable, addressKey } from '../user/account/account-table.ts';
import { fullKeyParams } from '../user/account/key-params.ts';
import { type OpenSessionReply, SessionOpener } from '../user/account/open-session.ts';
import { type SignInReply, signInReplySchema } from '../user/account/sign-in-reply.ts';
import { type Refusal, refusalSchema } from '../user/refusal.ts';
import { type Device, deviceSchema } from '../user/sessions/issue.ts';
import { attemptsSlice, debitAttempt, lockedOut, needsCaptcha, noAttempts } from './attempts.ts';
import { passesCaptcha } from './captcha.ts';
import { consumeChallenge } from './challenges.ts';
import { expireLater } from './expiry.ts';

export interface Login {
  /** Normalised. */
  readonly email: string;
  readonly workspace: string;
  readonly password: string;
  readonly codeVerifier: string;
  readonly apiVersion: string;
  readonly ephemeral: boolean;
  readonly hvmToken?: string | undefined;
  readonly device: Device;
}

/** `captchaRequired`: the next attempt has to come with a captcha, where one is configured. */
export interface LoginRefusal {
  readonly refused: Refusal;
  readonly captchaRequired: boolean;
}

const loginSchema: z.ZodType<Login> = z.object({
  email: z.string(),
  workspace: z.string(),
  password: z.string(),
  codeVerifier: z.string(),
  apiVersion: z.string(),
  ephemeral: z.boolean(),
  hvmToken: z.string().optional(),
  device: deviceSchema,
});

/** The same for an unmatched verifier, an unknown address and a wrong password. */
const wrongCredentials: Refusal = { status: 401, message: 'Invalid email or password' };
const captchaMissing: Refusal = { status: 401, message: 'Please solve the captcha and try again.' };

/** Errors: 401 and 423 of auth.md 5.3. */
export function loginCommand(services: SigninServices): FlowCommand<Login, SignInReply | LoginRefusal> {
  const { settings, hasher, captcha } = services;
  return flow({
    request: loginSchema,
    reply: z.union([signInReplySchema, z.object({ refused: refusalSchema, captchaRequired: z.boolean() })]),
    creates: true,
    run: async (flow, login) => {
      const captchaPassed = await passesCaptcha(captcha, login.hvmToken);
      const attempt = await flow.turn({
        recorded: true,
        turn: (turn) => beginAttempt(turn, settings, login.codeVerifier, captchaPassed),
      });
      if ('refused' in attempt) return attempt;
      const refused = { refused: wrongCredentials, captchaRequired: attempt.captchaRequired };
      const account = await flow.turn({
        reads: () => ({ account: lookup(accountTable, [addressKey(login)]) }),
        turn: (_turn, { account }) => account.rows[0],
      });
      const isRight = await hasher.verify(account?.password_hash, login.password);
      if (account === undefined || !isRight || !attempt.challengeMet) return refused;
      const opened = await openSessionAt(flow, account, login);
      if ('stale' in opened) return refused;
      await flow.turn({ turn: (turn) => turn.set(attemptsSlice, noAttempts) });
      return {
        ...opened.issued,
        key_params: fullKeyParams(account),
        user: { uuid: account.user_uuid, email: login.email, protocolVersion: opened.protocolVersion },
      };
    },
  });
}

type Attempt = { readonly challengeMet: boolean; readonly captchaRequired: boolean } | LoginRefusal;

function beginAttempt(
  turn: Turn,
  settings: AccountSettings,
  codeVerifier: string,
  captchaPassed: boolean,
): Attempt {
  const outcome = debitAttempt(turn, settings, captchaPassed);
  if (outcome === 'locked') return { refused: lockedOut, captchaRequired: true };
  if (outcome === 'captcha-missing') return { refused: captchaMissing, captchaRequired: true };
  expireLater(turn);
  const challengeMet = consumeChallenge(turn, codeVerifier);
  return { challengeMet, captchaRequired: needsCaptcha(turn.get(attemptsSlice), settings) };
}

async function openSessionAt(flow: Flow, account: AccountRow, login: Login): Promise<OpenSessionReply> {
  const { email, workspace, apiVersion, ephemeral, device } = login;
  const credentialsVersion = account.credentials_version;
  try {
    return await flow.actors
      .get(SessionOpener, account.user_uuid)
      .ask.openSession({ credentialsVersion, email, workspace, apiVersion, ephemeral, device });
  } catch (error) {
    // The account was deleted since its row was read.
    if (error instanceof NotFoundError) return { stale: true };
    throw error;
  }
}
