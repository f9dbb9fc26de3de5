/**
 * A minimal client for a test. It uses HTTP as apps do, and its saved items are as opaque to the server as encrypted
 * ones.
 */
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { ClientSocket } from './socket.ts';

/** Header style, which needs no cookies. */
const sessionApi = '20200115';
const syncApi = '20240226';

export interface ClientOptions {
  /** The URL of the server; a path in it is kept. */
  readonly url: URL;
  readonly accessKey: string | undefined;
  readonly deadlineMs: number;
}

export interface Account {
  readonly email: string;
  /** The value that clients derive from a typed password. */
  readonly password: string;
}

export interface Device {
  readonly userUuid: string;
  readonly accessToken: string;
}

export interface Item {
  readonly uuid: string;
  readonly content: string;
}

/** The server was unreachable, or broke off. */
export class UnreachableError extends Error {}

/** An address that no mail reaches. */
export const newAccount = (): Account => ({
  email: `smoke-test-${randomUUID()}@smoke-test.invalid`,
  password: randomBytes(32).toString('hex'),
});

export const newItem = (): Item => ({
  uuid: randomUUID(),
  content: `004:${randomBytes(48).toString('base64')}`,
});

export class Client {
  readonly #options: ClientOptions;

  constructor(options: ClientOptions) {
    this.#options = options;
  }

  async register({ email, password }: Account): Promise<Device> {
    const nonce = randomBytes(32).toString('hex');
    const keyParams = { pw_nonce: nonce, version: '004', origination: 'registration' };
    return deviceOf(
      await this.#ask('POST', '/v1/users', { body: { email, password, ...keyParams, api: sessionApi } }),
    );
  }

  async signIn({ email, password }: Account): Promise<Device> {
    const verifier = randomBytes(32).toString('hex');
    const digest = createHash('sha256').update(verifier).digest('hex');
    const challenge = Buffer.from(digest).toString('base64url');
    await this.#ask('POST', '/v2/login-params', {
      body: { email, code_challenge: challenge, api: sessionApi },
    });
    const body = { email, password, code_verifier: verifier, api: sessionApi };
    return deviceOf(await this.#ask('POST', '/v2/login', { body }));
  }

  async openSocket(device: Device): Promise<ClientSocket> {
    const { deadlineMs } = this.#options;
    const { token } = await this.#ask('POST', '/v1/sockets/tokens', { device });
    const url = this.#urlOf('/sockets');
    url.searchParams.set('authToken', token);
    return ClientSocket.open(url, this.#headers(device), deadlineMs);
  }

  /** @throws Error unless the server confirms the save */
  async save(device: Device, { uuid, content }: Item): Promise<void> {
    const item = { uuid, content, content_type: 'Note', enc_item_key: '004:key', deleted: false };
    const { saved_items: saved } = await this.#ask('POST', '/v1/items', {
      device,
      body: { api: syncApi, items: [item] },
    });
    if (!listOf(saved).some((each) => each.uuid === uuid)) throw new Error('the server did not save it');
  }

  /** @throws Error unless the server returns the saved item */
  async fetch(device: Device, { uuid, content }: Item): Promise<void> {
    const { retrieved_items: retrieved } = await this.#ask('POST', '/v1/items', {
      device,
      body: { api: syncApi },
    });
    const found = listOf(retrieved).find((each) => each.uuid === uuid);
    if (found === undefined) throw new Error('it did not come');
    if (found.content !== content) throw new Error('it came with another content');
  }

  async deleteAccount(device: Device, { password }: Account): Promise<void> {
    const headers = { 'x-server-password': password };
    await this.#ask('DELETE', `/v1/users/${device.userUuid}`, { device, headers });
  }

  // biome-ignore lint/suspicious/noExplicitAny: what is answered is looked at as a client would
  async #ask(method: string, path: string, { device, body, headers }: RequestOptions): Promise<any> {
    const { status, text } = await this.#answerTo(method, path, {
      headers: { ...this.#headers(device), ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const answer = parsed(text);
    if (status >= 200 && status < 300 && answer !== undefined) return answer.data ?? answer;
    const message =
      answer?.error?.message ?? answer?.data?.error?.message ?? 'nothing that a client understands';
    throw new Error(`${method} ${path} was answered ${status}: ${message}`);
  }

  async #answerTo(
    method: string,
    path: string,
    init: RequestInit,
  ): Promise<{ status: number; text: string }> {
    const signal = AbortSignal.timeout(this.#options.deadlineMs);
    const url = this.#urlOf(path);
    try {
      const answer = await fetch(url, { method, redirect: 'manual', signal, ...init });
      return { status: answer.status, text: await answer.text() };
    } catch (error) {
      const { message, cause } = error as Error;
      const why = cause instanceof Error && cause.message !== '' ? cause.message : message;
      throw new UnreachableError(`${url.origin} cannot be reached: ${why}`, { cause: error });
    }
  }

  #urlOf(path: string): URL {
    const { url } = this.#options;
    return new URL(url.pathname.replace(/\/$/, '') + path, url);
  }

  #headers(device: Device | undefined): Readonly<Record<string, string>> {
    const { accessKey } = this.#options;
    return {
      'content-type': 'application/json',
      ...(device !== undefined && { authorization: `Bearer ${device.accessToken}` }),
      ...(accessKey !== undefined && { 'x-shared-server-key': accessKey }),
    };
  }
}

interface RequestOptions {
  readonly device?: Device;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

// biome-ignore lint/suspicious/noExplicitAny: what is answered is looked at as a client would
function deviceOf(answer: any): Device {
  const { access_token: accessToken } = answer.session ?? {};
  const { uuid: userUuid } = answer.user ?? {};
  if (typeof accessToken !== 'string' || typeof userUuid !== 'string')
    throw new Error('the server answered without a session');
  return { accessToken, userUuid };
}

function listOf(items: unknown): readonly { readonly uuid: string; readonly content?: string }[] {
  return Array.isArray(items) ? items : [];
}

// biome-ignore lint/suspicious/noExplicitAny: see above
function parsed(text: string): any {
  try {
    return text === '' ? {} : JSON.parse(text);
  } catch {
    return undefined;
  }
}
