/** Speaks to the server as any client does. The token of the session is in this object alone. */
import { newChallenge, serverPassword } from '../../../../actors/identity/client-sign-in.ts';
import { argon2idInBrowser } from './argon2id.ts';

/** Sessions whose tokens are in headers. */
const api = '20200115';

interface RefusedAnswer {
  readonly status: number;
  readonly tag: string;
  readonly message: string;
}

type Json = Readonly<Record<string, unknown>>;
export type ServerAnswer<T> = { readonly ok: T } | { readonly refused: RefusedAnswer };

const unreachable: RefusedAnswer = { status: 0, tag: 'unreachable', message: 'The server does not answer.' };

export class Server {
  /** The key of a server that lets in only those who have it. */
  accessKey = '';
  #accessToken: string | undefined;
  /** Called when the session is over. */
  onSignedOut = (): void => {};

  async signIn(email: string, password: string, code: string): Promise<ServerAnswer<null>> {
    const identifier = email.trim().toLowerCase();
    const { verifier, challenge } = newChallenge(crypto.getRandomValues(new Uint8Array(32)));
    const params = await this.call<Json>('POST', 'v2/login-params', {
      email: identifier,
      code_challenge: challenge,
      ...(code !== '' && { mfa_code: code }),
    });
    if ('refused' in params) return params;
    const { version, pw_nonce: nonce } = params.ok;
    if (version !== '004' || typeof nonce !== 'string') return { refused: tooOld };
    const signedIn = await this.call<{ readonly session: { readonly access_token: string } }>(
      'POST',
      'v2/login',
      {
        email: identifier,
        password: await serverPassword({ password, identifier, nonce }, argon2idInBrowser),
        code_verifier: verifier,
        api,
        ephemeral: true,
      },
    );
    if ('refused' in signedIn) return signedIn;
    this.#accessToken = signedIn.ok.session.access_token;
    return { ok: null };
  }

  async signOut(): Promise<void> {
    if (this.#accessToken !== undefined) await this.call('POST', 'v1/logout');
    this.#end();
  }

  /** The inner body of an answer, with or without the envelope. */
  async call<T>(method: string, path: string, body?: object): Promise<ServerAnswer<T>> {
    const hadSession = this.#accessToken !== undefined;
    try {
      const answer = await fetch(path, {
        method,
        credentials: 'omit',
        redirect: 'error',
        headers: {
          ...(this.accessKey !== '' && { 'x-shared-server-key': this.accessKey }),
          ...(hadSession && { authorization: `Bearer ${this.#accessToken}` }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const whole = answer.status === 204 ? {} : ((await answer.json()) as Json);
      const inner = (whole['data'] ?? whole) as Json;
      if (answer.ok) return { ok: inner as T };
      if (hadSession && (answer.status === 401 || answer.status === 498)) this.#end();
      return { refused: refusedBy(answer.status, inner) };
    } catch {
      return { refused: unreachable };
    }
  }

  #end(): void {
    this.#accessToken = undefined;
    this.onSignedOut();
  }
}

const tooOld: RefusedAnswer = {
  status: 0,
  tag: 'too-old',
  message:
    'This page signs in accounts of version 004 only. Sign in with an app, which upgrades the account.',
};

function refusedBy(status: number, body: Json): RefusedAnswer {
  const { message, tag } = (body['error'] ?? {}) as Partial<Record<string, unknown>>;
  return {
    status,
    tag: typeof tag === 'string' ? tag : '',
    message: typeof message === 'string' ? message : `The server answered with ${status}.`,
  };
}
