/** Fetches one account as its client does: signs in with its password, and reads everything that a first sync gives. */
import { randomBytes } from 'node:crypto';
import { newChallenge } from '../../../actors/identity/client-sign-in.ts';
import { CommandFailure, exitCodes } from '../../failure.ts';
import { type ClientRequest, HttpClient, RefusedError, type ServerAddress } from '../../http-client.ts';
import type { Terminal } from '../../session.ts';
import type { Spool } from '../source/spool.ts';
import { type ReceivedKeyParams, serverPasswordOf } from './server-password.ts';

/** The API version whose sessions use the Authorization header, not cookies. */
const sessionApi = '20200115';
const syncApi = '20240226';
const itemsPerPage = 150;
const bcryptCost = 11;
/** A server limits requests by the minute. Five minutes in all, as it may have several limits. */
const busyPauseMs = 5_000;
const busyTries = 60;

export interface DownloadOptions {
  readonly server: ServerAddress;
  readonly email: string;
  readonly password: string;
  /** Takes one request for each item, and one for each revision. */
  readonly withHistory: boolean;
}

export interface DownloadedAccount {
  readonly userUuid: string;
  readonly items: number;
  /** Items in shared vaults, which an account alone cannot bring. */
  readonly inVaults: number;
}

interface SignedIn {
  readonly userUuid: string;
  readonly keyParams: ReceivedKeyParams;
  readonly serverPassword: string;
  readonly bearer: string;
}

type AskServer = (method: string, path: string, request?: ClientRequest) => ReturnType<HttpClient['ask']>;

/** @throws CommandFailure */
export async function downloadAccount(
  options: DownloadOptions,
  spool: Spool,
  terminal: Pick<Terminal, 'askSecret' | 'sleep' | 'nowMs'>,
): Promise<DownloadedAccount> {
  const http = new HttpClient(options.server);
  const ask: AskServer = (method, path, request) =>
    whenNotBusy(() => http.ask(method, path, request), terminal);
  const account = await signIn(ask, options, terminal);
  const { bearer, userUuid } = account;
  try {
    await writeUser(spool, account, terminal.nowMs());
    await writeSettings(spool, await ask('GET', `/v1/users/${userUuid}/settings`, { bearer }), userUuid);
    const counts = await writeItems(ask, spool, account);
    if (options.withHistory) {
      for (const uuid of counts.uuids) await writeHistory(ask, spool, { bearer, userUuid, itemUuid: uuid });
    }
    return { userUuid, items: counts.uuids.length, inVaults: counts.inVaults };
  } finally {
    await ask('POST', '/v1/logout', { bearer }).catch(() => undefined);
  }
}

async function whenNotBusy<T>(work: () => Promise<T>, { sleep }: Pick<Terminal, 'sleep'>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      const isBusy = error instanceof RefusedError && (error.status === 429 || error.status === 503);
      if (!isBusy || tries >= busyTries) throw error;
      await sleep(busyPauseMs);
    }
  }
}

async function signIn(
  ask: AskServer,
  { email, password }: DownloadOptions,
  terminal: Pick<Terminal, 'askSecret'>,
): Promise<SignedIn> {
  const { verifier, challenge } = newChallenge(randomBytes(32));
  const keyParams = await keyParamsOf(ask, { email, code_challenge: challenge, api: sessionApi }, terminal);
  const serverPassword = await serverPasswordOf(password, keyParams);
  const body = { email, password: serverPassword, code_verifier: verifier, ephemeral: true, api: sessionApi };
  const { session, user } = await ask('POST', '/v2/login', { body });
  return { userUuid: user.uuid, keyParams, serverPassword, bearer: session.access_token };
}

async function keyParamsOf(
  ask: AskServer,
  body: object,
  { askSecret }: Pick<Terminal, 'askSecret'>,
): Promise<ReceivedKeyParams> {
  try {
    return await ask('POST', '/v2/login-params', { body });
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    if (error.tag === 'u2f-required') {
      throw new CommandFailure(
        exitCodes.refused,
        'The account asks for a security key, which cannot be used here. Remove it with an app for the time of the import.',
      );
    }
    if (error.tag !== 'mfa-required') throw error;
    const code = (await askSecret('Code of the second factor: ')).trim();
    return ask('POST', '/v2/login-params', { body: { ...body, mfa_code: code } });
  }
}

async function writeUser(
  spool: Spool,
  { userUuid, keyParams, serverPassword }: SignedIn,
  nowMs: number,
): Promise<void> {
  const { hash } = await import('@node-rs/bcrypt');
  const { identifier, version, pw_nonce, created, origination } = keyParams;
  const createdAt = new Date(Number(created) || nowMs).toISOString();
  spool.insert('users', {
    uuid: userUuid,
    email: identifier,
    version,
    pw_nonce,
    encrypted_password: await hash(serverPassword, bcryptCost),
    created_at: createdAt,
    kp_created: created,
    kp_origination: origination,
  });
}

interface DownloadedSetting {
  readonly uuid: string;
  readonly name: string;
  readonly value: string | null;
  readonly createdAt: number;
  readonly updatedAt: number;
}

async function writeSettings(
  spool: Spool,
  { settings = [] }: { readonly settings?: readonly DownloadedSetting[] },
  userUuid: string,
): Promise<void> {
  for (const { uuid, name, value, createdAt, updatedAt } of settings) {
    spool.insert('settings', {
      uuid,
      user_uuid: userUuid,
      name,
      value,
      server_encryption_version: 0,
      created_at: createdAt,
      updated_at: updatedAt,
    });
  }
}

async function writeItems(
  ask: AskServer,
  spool: Spool,
  { bearer, userUuid }: SignedIn,
): Promise<{ readonly uuids: readonly string[]; readonly inVaults: number }> {
  const uuids = new Set<string>();
  let inVaults = 0;
  let cursor: string | undefined;
  do {
    const body = { api: syncApi, compute_integrity: false, limit: itemsPerPage, cursor_token: cursor };
    const page = await ask('POST', '/v1/items', { bearer, body });
    for (const item of page.retrieved_items ?? []) {
      if (item.shared_vault_uuid) {
        inVaults += 1;
        continue;
      }
      spool.insert('items', { ...item, user_uuid: userUuid });
      uuids.add(item.uuid);
    }
    cursor = page.cursor_token ?? undefined;
  } while (cursor !== undefined);
  return { uuids: [...uuids], inVaults };
}

interface OwnedItem {
  readonly bearer: string;
  readonly userUuid: string;
  readonly itemUuid: string;
}

async function writeHistory(
  ask: AskServer,
  spool: Spool,
  { bearer, userUuid, itemUuid }: OwnedItem,
): Promise<void> {
  const path = `/v2/items/${itemUuid}/revisions`;
  const { revisions } = await ask('GET', path, { bearer });
  for (const { uuid } of revisions ?? []) {
    const { revision } = await ask('GET', `${path}/${uuid}`, { bearer });
    const { shared_vault_uuid: _, edited_by_uuid, ...rest } = revision;
    spool.insert('revisions_revisions', {
      ...rest,
      item_uuid: itemUuid,
      user_uuid: userUuid,
      edited_by: edited_by_uuid,
    });
  }
}
