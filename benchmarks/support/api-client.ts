/** A small client of the HTTP interface: accounts, sign-ins and syncs, with text in place of ciphertext. */
import { createHash, randomBytes, randomUUID } from 'node:crypto';

export interface Account {
  readonly email: string;
  readonly password: string;
  readonly userUuid: string;
  readonly accessToken: string;
}

export const headerSessions = '20200115';
/** The version of a client that knows shared vaults. */
export const clientHeaders = { 'x-snjs-version': '2.211.1' };

export const post = (url: string, path: string, body: unknown, token?: string): Promise<unknown> =>
  send(url, 'POST', path, token, body);

/** As a signed-in user. */
export const ask = (
  url: string,
  method: string,
  path: string,
  { accessToken }: Account,
  body?: unknown,
): Promise<unknown> => send(url, method, path, accessToken, body);

async function send(
  url: string,
  method: string,
  path: string,
  token: string | undefined,
  body: unknown,
): Promise<unknown> {
  const headers: Record<string, string> = { 'content-type': 'application/json', ...clientHeaders };
  if (token !== undefined) headers['authorization'] = `Bearer ${token}`;
  const sent = body === undefined ? null : JSON.stringify(body);
  const reply = await fetch(`${url}${path}`, { method, headers, body: sent });
  const text = await reply.text();
  if (!reply.ok) throw new Error(`${path} answered ${reply.status}: ${text.slice(0, 200)}`);
  return (JSON.parse(text) as { data: unknown }).data;
}

export async function register(
  url: string,
  email = `${randomUUID()}@load.test`,
  password = randomBytes(32).toString('hex'),
): Promise<Account> {
  const body = {
    api: headerSessions,
    email,
    password,
    pw_nonce: randomBytes(32).toString('hex'),
    version: '004',
  };
  const data = (await post(url, '/v1/users', body)) as {
    user: { uuid: string };
    session: { access_token: string };
  };
  return { email, password, userUuid: data.user.uuid, accessToken: data.session.access_token };
}

/** A client's whole sign-in: parameters with a challenge and the second factor, then the password. */
export async function signIn(
  url: string,
  account: Account,
  factor: () => object | Promise<object> = () => ({}),
): Promise<Account> {
  const verifier = randomBytes(32).toString('hex');
  const digest = createHash('sha256').update(verifier).digest('hex');
  const challenge = Buffer.from(digest).toString('base64url');
  const who = { api: headerSessions, email: account.email };
  await post(url, '/v2/login-params', { ...who, code_challenge: challenge, ...(await factor()) });
  const data = (await post(url, '/v2/login', {
    ...who,
    password: account.password,
    code_verifier: verifier,
    ephemeral: false,
  })) as { session: { access_token: string } };
  return { ...account, accessToken: data.session.access_token };
}

const ciphertext = 'c'.repeat(1_024);

export function newItem(uuid: string = randomUUID()) {
  return {
    uuid,
    content_type: 'Note',
    content: ciphertext,
    enc_item_key: '004:enc-item-key',
    items_key_id: '11111111-2222-4333-8444-555555555555',
    deleted: false,
    created_at_timestamp: 0,
    updated_at_timestamp: 0,
    created_at: '2026-01-01T00:00:00.000Z',
    updated_at: '1970-01-01T00:00:00.000Z',
  };
}

export interface SyncReply {
  readonly saved_items: readonly { readonly uuid: string }[];
  readonly retrieved_items: readonly { readonly uuid: string }[];
  readonly conflicts: readonly unknown[];
  readonly sync_token: string;
  readonly cursor_token?: string;
}

export async function sync(url: string, account: Account, body: object): Promise<SyncReply> {
  return (await post(
    url,
    '/v1/items',
    { api: headerSessions, limit: 150, ...body },
    account.accessToken,
  )) as SyncReply;
}

/** Uploads `count` new items, 150 in each call as clients do. Resolves to the token of the device. */
export async function upload(url: string, account: Account, count: number): Promise<string> {
  let token = '';
  for (let sent = 0; sent < count; ) {
    const items = Array.from({ length: Math.min(150, count - sent) }, () => newItem());
    const reply = await sync(url, account, { items, sync_token: token || undefined });
    if (reply.saved_items.length !== items.length) throw new Error('not every item was saved');
    token = reply.sync_token;
    sent += items.length;
  }
  return token;
}

/** The token of a device that has everything. */
export async function caughtUp(url: string, account: Account): Promise<string> {
  let tokens: object = {};
  for (;;) {
    const { sync_token, cursor_token } = await sync(url, account, { items: [], ...tokens });
    if (cursor_token === undefined) return sync_token;
    tokens = { sync_token, cursor_token };
  }
}
