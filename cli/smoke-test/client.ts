/**
 * A minimal client for a test. It uses HTTP as apps do. It saves random bytes in place of ciphertext, which the server
 * cannot tell apart.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { newChallenge } from '../../actors/identity/client-sign-in.ts';
import { type ClientRequest, HttpClient, type ServerAddress } from '../http-client.ts';
import { ClientSocket } from './socket.ts';

/** The API version whose sessions use the Authorization header, not cookies. */
const sessionApi = '20200115';
const syncApi = '20240226';

export interface TestAccount {
  readonly email: string;
  /** The server password: what clients derive from the typed one. */
  readonly password: string;
}

export interface TestSession {
  readonly userUuid: string;
  readonly accessToken: string;
}

export interface Item {
  readonly uuid: string;
  readonly content: string;
}

/** An address that no mail reaches. */
export const newAccount = (): TestAccount => ({
  email: `smoke-test-${randomUUID()}@smoke-test.invalid`,
  password: randomBytes(32).toString('hex'),
});

export const newItem = (): Item => ({
  uuid: randomUUID(),
  content: `004:${randomBytes(48).toString('base64')}`,
});

export class SmokeTestClient {
  readonly #deadlineMs: number;
  readonly #http: HttpClient;

  constructor(server: ServerAddress) {
    this.#deadlineMs = server.deadlineMs;
    this.#http = new HttpClient(server);
  }

  async register({ email, password }: TestAccount): Promise<TestSession> {
    const nonce = randomBytes(32).toString('hex');
    const keyParams = { pw_nonce: nonce, version: '004', origination: 'registration' };
    return sessionOf(
      await this.#ask('POST', '/v1/users', { body: { email, password, ...keyParams, api: sessionApi } }),
    );
  }

  async signIn({ email, password }: TestAccount): Promise<TestSession> {
    const { verifier, challenge } = newChallenge(randomBytes(32));
    await this.#ask('POST', '/v2/login-params', {
      body: { email, code_challenge: challenge, api: sessionApi },
    });
    const body = { email, password, code_verifier: verifier, api: sessionApi };
    return sessionOf(await this.#ask('POST', '/v2/login', { body }));
  }

  async openSocket(session: TestSession, monotonicMs: () => number): Promise<ClientSocket> {
    const { token } = await this.#ask('POST', '/v1/sockets/tokens', { session });
    if (typeof token !== 'string') throw new Error('the server answered without a token');
    const url = this.#http.urlOf('/sockets');
    url.searchParams.set('authToken', token);
    return ClientSocket.open(url, this.#http.headers(session.accessToken), this.#deadlineMs, monotonicMs);
  }

  /** @throws Error unless the server confirms the save */
  async save(session: TestSession, { uuid, content }: Item): Promise<void> {
    const item = { uuid, content, content_type: 'Note', enc_item_key: '004:key', deleted: false };
    const { saved_items: saved } = await this.#ask('POST', '/v1/items', {
      session,
      body: { api: syncApi, items: [item] },
    });
    if (!listOf(saved).some((each) => each.uuid === uuid)) throw new Error('the server did not save it');
  }

  /** @throws Error unless the server returns the saved item */
  async expectItem(session: TestSession, { uuid, content }: Item): Promise<void> {
    const { retrieved_items: retrieved } = await this.#ask('POST', '/v1/items', {
      session,
      body: { api: syncApi },
    });
    const found = listOf(retrieved).find((each) => each.uuid === uuid);
    if (found === undefined) throw new Error('the item was not returned');
    if (found.content !== content) throw new Error('the item was returned with different content');
  }

  async deleteAccount(session: TestSession, { password }: TestAccount): Promise<void> {
    const headers = { 'x-server-password': password };
    await this.#ask('DELETE', `/v1/users/${session.userUuid}`, { session, headers });
  }

  #ask(method: string, path: string, { session, ...request }: SessionRequest) {
    return this.#http.ask(method, path, { bearer: session?.accessToken, ...request });
  }
}

interface SessionRequest extends Omit<ClientRequest, 'bearer'> {
  readonly session?: TestSession;
}

// biome-ignore lint/suspicious/noExplicitAny: responses are untyped, as for any client
function sessionOf(answer: any): TestSession {
  const { access_token: accessToken } = answer.session ?? {};
  const { uuid: userUuid } = answer.user ?? {};
  if (typeof accessToken !== 'string' || typeof userUuid !== 'string')
    throw new Error('the server answered without a session');
  return { accessToken, userUuid };
}

function listOf(items: unknown): readonly { readonly uuid: string; readonly content?: string }[] {
  return Array.isArray(items) ? items : [];
}
