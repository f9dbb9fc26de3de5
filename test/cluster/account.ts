/** Accounts and sessions, opened and ended as clients do, and retried if there was no answer. */
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { headerSessions } from '../kit/account.ts';
import type { Client } from './client.ts';

export interface Account {
  readonly email: string;
  readonly password: string;
  readonly userUuid: string;
}

interface SessionBody {
  readonly user: { readonly uuid: string };
  readonly session: { readonly access_token: string };
}

const attemptsMax = 20;

/** A registration whose answer is lost leaves an account that nobody uses; the next one has another address. */
export async function register(client: Client): Promise<Account> {
  for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
    const email = `${randomUUID()}@cluster.test`;
    const password = randomBytes(32).toString('hex');
    const nonce = randomBytes(32).toString('hex');
    const body = { api: headerSessions, email, password, pw_nonce: nonce, version: '004' };
    const answer = await client.call({ method: 'POST', path: '/v1/users', body });
    if (answer.status === 200) {
      return { email, password, userUuid: (answer.body as SessionBody).user.uuid };
    }
  }
  throw new Error('no account could be registered');
}

/** Resolves to the access token. A challenge is good for one sign-in, so an unanswered sign-in starts again. */
export async function signIn(client: Client, { email, password }: Account): Promise<string> {
  for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
    const verifier = randomBytes(32).toString('hex');
    const digest = createHash('sha256').update(verifier).digest('hex');
    const who = { api: headerSessions, email };
    const challenge = { ...who, code_challenge: Buffer.from(digest).toString('base64url') };
    await client.call({ method: 'POST', path: '/v2/login-params', body: challenge });
    const proof = { ...who, password, code_verifier: verifier, ephemeral: false };
    const answer = await client.call({ method: 'POST', path: '/v2/login', body: proof });
    if (answer.status === 200) return (answer.body as SessionBody).session.access_token;
  }
  throw new Error('an account could not sign in');
}
