/** One session of an account: the requests of a client, and its sync token. */
import type { ExecutionContext } from 'ava';
import type { ModernSyncReply, SyncRequest } from '../../actors/collection/sync-contract.ts';
import { type Account, cookieSessions, refresh, register, type Server, signIn, tokensOf } from './account.ts';
import { type Answer, type Call, call } from './http.ts';
import { note } from './items.ts';
import {
  dial,
  isRefused,
  type RefusedUpgrade,
  type SocketClient,
  type SocketClientOptions,
} from './socket-client.ts';

export class Device {
  readonly server: Server;
  readonly account: Account;
  /** The token of the last answered sync, as clients keep it. */
  syncToken: string | null = null;

  constructor(server: Server, account: Account) {
    this.server = server;
    this.account = account;
  }

  /** The first device of a new account, by default Alice's. */
  static async register(server: Server, fields: Readonly<Record<string, unknown>> = {}): Promise<Device> {
    return new Device(server, await register(server, fields));
  }

  /** Another session of the same account. @throws Error if the sign-in is refused */
  async another(fields: Readonly<Record<string, unknown>> = {}, request: Call = {}): Promise<Device> {
    const { email, password } = this.account;
    const answer = await signIn(this.server, { email, password, ...fields }, request);
    if (answer.status !== 200) throw new Error(`not signed in: ${answer.status} ${answer.text}`);
    return new Device(this.server, { ...this.account, ...tokensOf(answer) });
  }

  call(method: string, path: string, request: Call = {}): Promise<Answer> {
    const { access, cookie } = this.account;
    return call(this.server.url, method, path, { bearer: access, cookie, ...request });
  }

  /** A sync exactly as given, with any answer. */
  send(request: Partial<SyncRequest> = {}): Promise<Answer> {
    return this.call('POST', '/v1/items', {
      body: { api: cookieSessions, ...request },
      headers: { 'x-snjs-version': '2.204.7' },
    });
  }

  /** One sync, by default from the device's position. @throws Error if it is refused */
  async sync(request: Partial<SyncRequest> = {}): Promise<ModernSyncReply> {
    const reply: ModernSyncReply = accepted(await this.send({ sync_token: this.syncToken, ...request }));
    this.syncToken = reply.sync_token;
    return reply;
  }

  /** Every page until there is no cursor. */
  async syncAll(request: Partial<SyncRequest> = {}): Promise<ModernSyncReply[]> {
    const pages = [await this.sync(request)];
    for (let cursor = pages[0]?.cursor_token; cursor !== undefined; cursor = pages.at(-1)?.cursor_token) {
      pages.push(await this.sync({ limit: request.limit, cursor_token: cursor }));
    }
    return pages;
  }

  /** Saves one item, by default a new note, and leaves the position unchanged. */
  async save(item: object = note({ uuid: crypto.randomUUID() })): Promise<ModernSyncReply> {
    return accepted(await this.send({ items: [item] }));
  }

  async checkIntegrity(
    integrityPayloads: readonly { readonly uuid: string; readonly updated_at_timestamp: number }[],
  ): Promise<{ uuid: string; updated_at_timestamp: number }[]> {
    const body = { integrityPayloads };
    return accepted(await this.call('POST', '/v1/items/check-integrity', { body })).mismatches;
  }

  getItem(uuid: string): Promise<Answer> {
    return this.call('GET', `/v1/items/${encodeURIComponent(uuid)}`);
  }

  async sessionUuid(): Promise<string> {
    const { body } = await this.call('GET', '/v1/sessions');
    return body.find(({ current }: { current: boolean }) => current).uuid;
  }

  async socketToken(): Promise<string> {
    return accepted(await this.call('POST', '/v1/sockets/tokens')).token;
  }

  async dial(
    t: ExecutionContext,
    options: SocketClientOptions & { token?: string } = {},
  ): Promise<SocketClient | RefusedUpgrade> {
    const token = options.token ?? (await this.socketToken());
    return dial(t, `${this.server.url}/sockets?authToken=${token}`, options);
  }

  /** @throws Error if the upgrade is refused */
  async socket(t: ExecutionContext, options: SocketClientOptions = {}): Promise<SocketClient> {
    const dialled = await this.dial(t, options);
    if (isRefused(dialled)) throw new Error(`refused with ${dialled.status}: ${dialled.body}`);
    return dialled;
  }
}

// biome-ignore lint/suspicious/noExplicitAny: bodies are looked at as a client would
export function accepted({ status, body, text }: Answer): any {
  if (status !== 200) throw new Error(`refused with ${status}: ${text.slice(0, 200)}`);
  return body;
}

export const deleteAccount = (device: Device): Promise<Answer> =>
  device.call('DELETE', `/v1/users/${device.account.userUuid}`, {
    headers: { 'x-server-password': device.account.password },
  });

/** The same session with the tokens that replace those of the device. */
export const withNewTokens = async ({ server, account }: Device): Promise<Device> =>
  new Device(server, { ...account, ...tokensOf(await refresh(server, account)) });
