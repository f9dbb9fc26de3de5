/**
 * A minimal client for a test. It uses HTTP as apps do, and its saved items are as opaque to the server as encrypted
 * ones.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { newChallenge } from '../../actors/identity/client-sign-in.ts';
import { type ClientRequest, HttpClient, type ServerAddress } from '../http-client.ts';
import { ClientSocket } from './socket.ts';

/** Header style, which needs no cookies. */
const sessionApi = '20200115';
const syncApi = '20240226';

export interface TestAccount {
  readonly email: string;
  /** The value that clients derive from a typed password. */
  readonly password: string;
}

export interface TestDevice {
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

  async register({ email, password }: TestAccount): Promise<TestDevice> {
    const nonce = randomBytes(32).toString('hex');
    const keyParams = { pw_nonce: nonce, version: '004', origination: 'registration' };
    return deviceOf(
      await this.#ask('POST', '/v1/users', { body: { email, password, ...keyParams, api: sessionApi } }),
    );
  }

  async signIn({ email, password }: TestAccount): Promise<TestDevice> {
    const { verifier, challenge } = newChallenge(randomBytes(32));
    await this.#ask('POST', '/v2/login-params', {
      body: { email, code_challenge: challenge, api: sessionApi },
    });
    const body = { email, password, code_verifier: verifier, api: sessionApi };
    return deviceOf(await this.#ask('POST', '/v2/login', { body }));
  }

  async openSocket(device: TestDevice): Promise<ClientSocket> {
    const { token } = await this.#ask('POST', '/v1/sockets/tokens', { device });
    const url = this.#http.urlOf('/sockets');
    url.searchParams.set('authToken', token);
    return ClientSocket.open(url, this.#http.headers(device.accessToken), this.#deadlineMs);
  }

  /** @throws Error unless the server confirms the save */
  async save(device: TestDevice, { uuid, content }: Item): Promise<void> {
    const item = { uuid, content, content_type: 'Note', enc_item_key: '004:key', deleted: false };
    const { saved_items: saved } = await this.#ask('POST', '/v1/items', {
      device,
      body: { api: syncApi, items: [item] },
    });
    if (!listOf(saved).some((each) => each.uuid === uuid)) throw new Error('the server did not save it');
  }

  /** @throws Error unless the server returns the saved item */
  async fetch(device: TestDevice, { uuid, content }: Item): Promise<void> {
    const { retrieved_items: retrieved } = await this.#ask('POST', '/v1/items', {
      device,
      body: { api: syncApi },
    });
    const found = listOf(retrieved).find((each) => each.uuid === uuid);
    if (found === undefined) throw new Error('it did not come');
    if (found.content !== content) throw new Error('it came with another content');
  }

  async deleteAccount(device: TestDevice, { password }: TestAccount): Promise<void> {
    const headers = { 'x-server-password': password };
    await this.#ask('DELETE', `/v1/users/${device.userUuid}`, { device, headers });
  }

  #ask(method: string, path: string, { device, ...request }: DeviceRequest) {
    return this.#http.ask(method, path, { bearer: device?.accessToken, ...request });
  }
}

interface DeviceRequest extends Omit<ClientRequest, 'bearer'> {
  readonly device?: TestDevice;
}

// biome-ignore lint/suspicious/noExplicitAny: what is answered is looked at as a client would
function deviceOf(answer: any): TestDevice {
  const { access_token: accessToken } = answer.session ?? {};
  const { uuid: userUuid } = answer.user ?? {};
  if (typeof accessToken !== 'string' || typeof userUuid !== 'string')
    throw new Error('the server answered without a session');
  return { accessToken, userUuid };
}

function listOf(items: unknown): readonly { readonly uuid: string; readonly content?: string }[] {
  return Array.isArray(items) ? items : [];
}
