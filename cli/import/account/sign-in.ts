/** Signs in to another server as an app does: with the typed password, and a code if the account has a second factor. */
import { randomBytes } from 'node:crypto';
import { newChallenge } from '../../../actors/identity/client-sign-in.ts';
import { CommandFailure } from '../../failure.ts';
import { type ClientRequest, type HttpClient, RefusedError } from '../../http-client.ts';
import type { Terminal } from '../../session.ts';
import { isEasyToGuess, type ReceivedKeyParams, serverPasswordOf } from './server-password.ts';

/** The API version whose sessions use the Authorization header, not cookies. */
const sessionApi = '20200115';

export interface LoginCredentials {
  readonly email: string;
  readonly password: string;
  /** Also sign in to an account of protocol 001 or 002. */
  readonly acceptsOldProtocol: boolean;
}

export interface RemoteSession {
  readonly userUuid: string;
  readonly keyParams: ReceivedKeyParams;
  readonly serverPassword: string;
  readonly bearer: string;
}

export type AskServer = (
  method: string,
  path: string,
  request?: ClientRequest,
) => ReturnType<HttpClient['ask']>;
type Prompt = Pick<Terminal, 'askSecret'>;

export const loginPath = '/v2/login';

/** Undefined if the answer of a sign-in opens no session. Accounts below 004 get a token instead of a session. */
export const bearerOf = ({ session, token }: Awaited<ReturnType<AskServer>>): unknown =>
  session?.access_token ?? token;

/** @throws CommandFailure or UnreachableError */
export async function signIn(
  ask: AskServer,
  { email, password, acceptsOldProtocol }: LoginCredentials,
  prompt: Prompt,
): Promise<RemoteSession> {
  const { verifier, challenge } = newChallenge(randomBytes(32));
  const request = { email, code_challenge: challenge, api: sessionApi };
  const keyParams = sameAddress(await keyParamsOf(ask, request, prompt), email);
  // A server that lies about the protocol gets a password that is easier to guess, so a person has to confirm it.
  if (isEasyToGuess(keyParams) && !acceptsOldProtocol) {
    throw CommandFailure.refused(
      `The other server says that the account is of protocol ${keyParams.version}, which apps no longer make. ` +
        'A server that lies about it can guess a weak password. If the account is that old, add --old-protocol.',
    );
  }
  const serverPassword = await serverPasswordOf(password, keyParams);
  const body = { email, password: serverPassword, code_verifier: verifier, ephemeral: true, api: sessionApi };
  const answer = await ask('POST', loginPath, { body }).catch(passwordRefused);
  const userUuid = answer.user?.uuid;
  const bearer = bearerOf(answer);
  if (typeof userUuid !== 'string' || typeof bearer !== 'string') {
    throw CommandFailure.refused(
      'The other server has answered the sign-in with nothing that apps understand.',
    );
  }
  return { userUuid, keyParams, serverPassword, bearer };
}

/** As servers compare addresses: without case, and without space at either end. */
export const isSameAddress = (one: string, other: string): boolean =>
  one.trim().toLowerCase() === other.trim().toLowerCase();

/**
 * Refuses key params for another address than the user's. The imported account gets the address that the other server names, so a
 * server that lies could otherwise take a stranger's address here.
 */
function sameAddress(keyParams: ReceivedKeyParams, email: string): ReceivedKeyParams {
  const identifier = String(keyParams.identifier ?? email);
  if (isSameAddress(identifier, email)) return { ...keyParams, identifier };
  throw CommandFailure.refused(
    `The other server answers for ${identifier}, which is not the address that was asked for. Nothing was written.`,
  );
}

interface ParamsRequest {
  readonly email: string;
  readonly code_challenge: string;
  readonly api: string;
}

async function keyParamsOf(
  ask: AskServer,
  body: ParamsRequest,
  { askSecret }: Prompt,
): Promise<ReceivedKeyParams> {
  try {
    return await ask('POST', '/v2/login-params', { body });
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    if (error.tag === 'u2f-required') {
      throw CommandFailure.refused(
        'The account asks for a security key, which cannot be used here. Remove it with an app for the time of the import.',
      );
    }
    if (error.tag !== 'mfa-required') throw error;
    const code = (await askSecret(await codePrompt(ask, body.email, error.reason))).trim();
    if (code === '') throw CommandFailure.usage('No code was given. Nothing was written.');
    return ask('POST', '/v2/login-params', { body: { ...body, mfa_code: code } }).catch(codeRefused);
  }
}

/** Only the wording of the refusal shows whether the code was mailed or comes from an authenticator app. */
async function codePrompt(ask: AskServer, email: string, reason: string): Promise<string> {
  if (!/e-?mail/i.test(reason)) return 'Code of the second factor: ';
  await ask('POST', '/v1/mfa/magic-link/request', { body: { email } });
  return `Code that the other server has mailed to ${email}: `;
}

function codeRefused(error: unknown): never {
  if (!(error instanceof RefusedError) || error.status !== 401) throw error;
  throw CommandFailure.refused(
    `The other server does not accept the code of the second factor: ${error.reason} Nothing was written. ` +
      'Run the command again with the next code. An unknown address is asked for a code, too, so check the address.',
  );
}

function passwordRefused(error: unknown): never {
  if (!(error instanceof RefusedError) || (error.status !== 401 && error.status !== 423)) throw error;
  throw CommandFailure.refused(
    `The other server refuses the sign-in: ${error.reason} Nothing was written. ` +
      (error.status === 423
        ? 'Wait as it asks, and run the command again.'
        : 'Check the address and the password.'),
  );
}
