/** Fetches one account as its client does: signs in with its password, and reads everything that a first sync gives. */
import type { UnlessInterrupted } from '../../../process/temporary-folder.ts';
import { CommandFailure } from '../../failure.ts';
import { HttpClient, RefusedError, type ServerAddress } from '../../http-client.ts';
import type { Terminal } from '../../session.ts';
import type { Spool } from '../source/spool.ts';
import {
  type AskServer,
  bearerOf,
  type LoginCredentials,
  loginPath,
  type RemoteSession,
  signIn,
} from './sign-in.ts';

const syncApi = '20240226';
const itemsPerPage = 150;
const bcryptCost = 11;
/** In this many pages the other server has to send an item that it has not sent before. */
const fruitlessPagesMax = 1_000;
/** The setting that asks for mailed codes at sign-in. It does not come, because this server may be unable to send mail. */
const codesByMail = 'MAGIC_LINK_ENABLED';
/** Servers limit requests by the minute. A request is repeated for five minutes, because a server may have several limits. */
const busyPauseMs = 5_000;
const busyTries = 60;

export interface DownloadOptions extends LoginCredentials {
  readonly server: ServerAddress;
  /** The history takes one request for each item, and one for each revision. */
  readonly withHistory: boolean;
  /** Refuses an account that may not come, before anything of it is read. @throws CommandFailure */
  check(userUuid: string): Promise<void>;
  readonly unlessInterrupted: UnlessInterrupted;
}

export interface DownloadedAccount {
  readonly userUuid: string;
  readonly items: number;
  /** Items in shared vaults, which an account alone cannot bring. */
  readonly inVaults: number;
}

/** @throws CommandFailure, RefusedError or UnreachableError */
export async function downloadAccount(
  options: DownloadOptions,
  spool: Spool,
  terminal: Pick<Terminal, 'askSecret' | 'sleep' | 'nowMs'>,
): Promise<DownloadedAccount> {
  const { unlessInterrupted } = options;
  const http = new HttpClient(options.server);
  let login: ReturnType<AskServer> | undefined;
  const ask: AskServer = (method, path, request) =>
    whenNotBusy(() => {
      const answer = http.ask(method, path, request);
      if (path === loginPath) login = answer;
      return answer;
    }, terminal);
  const signOut = async (bearer: string): Promise<void> => {
    // Tried once alone, because the process may be about to end.
    await http.ask('POST', '/v1/logout', { bearer }).catch(() => undefined);
  };
  const account = await unlessInterrupted(signIn(ask, options, terminal)).catch(async (error: unknown) => {
    // The sign-in that is on its way may still open a session.
    const bearer = bearerOf((await login?.catch(() => undefined)) ?? {});
    if (typeof bearer === 'string') await signOut(bearer);
    throw error;
  });
  const { bearer, userUuid } = account;
  const fetchAll = async () => {
    await options.check(userUuid);
    await writeUser(spool, account, terminal.nowMs());
    await writeSettings(spool, await ask('GET', `/v1/users/${userUuid}/settings`, { bearer }), userUuid);
    const inVaults = await writeItems(ask, spool, account, options.withHistory);
    await ask('POST', '/v1/logout', { bearer }).catch(() => undefined);
    return { userUuid, items: spool.items(), inVaults };
  };
  try {
    return await unlessInterrupted(fetchAll());
  } catch (error) {
    await signOut(bearer);
    throw error;
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

async function writeUser(
  spool: Spool,
  { userUuid, keyParams, serverPassword }: RemoteSession,
  nowMs: number,
): Promise<void> {
  const { hash } = await import('@node-rs/bcrypt');
  const { identifier, created, origination } = keyParams;
  // Without a valid time, which the other server does not have to send.
  const createdMs = new Date(Number(created)).getTime() || nowMs;
  spool.insert('users', {
    ...keyParams,
    uuid: userUuid,
    email: identifier,
    encrypted_password: await hash(serverPassword, bcryptCost),
    created_at: new Date(createdMs).toISOString(),
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
    if (name === codesByMail) continue;
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

/** Resolves to the number of items in shared vaults, which do not come. */
async function writeItems(
  ask: AskServer,
  spool: Spool,
  { bearer, userUuid }: RemoteSession,
  withHistory: boolean,
): Promise<number> {
  let inVaults = 0;
  let cursor: string | undefined;
  let itemsBefore = 0;
  let pages = 0;
  do {
    pages += 1;
    if (pages % fruitlessPagesMax === 0) {
      const items = spool.items();
      if (items === itemsBefore) throw CommandFailure.refused(endlessPages);
      itemsBefore = items;
    }
    const body = { api: syncApi, compute_integrity: false, limit: itemsPerPage, cursor_token: cursor };
    const page = await ask('POST', '/v1/items', { bearer, body });
    for (const item of page.retrieved_items ?? []) {
      if (item.shared_vault_uuid) {
        inVaults += 1;
        continue;
      }
      spool.insert('items', { ...item, user_uuid: userUuid });
      if (withHistory) await writeHistory(ask, spool, { bearer, userUuid, itemUuid: item.uuid });
    }
    if (page.cursor_token && page.cursor_token === cursor) {
      throw CommandFailure.refused('The other server sends the same page of items again and again.');
    }
    cursor = page.cursor_token ?? undefined;
  } while (cursor !== undefined);
  return inVaults;
}

const endlessPages = `The other server has sent ${fruitlessPagesMax} pages without another item of the account itself, and says that there is more. Nothing was written.`;

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
