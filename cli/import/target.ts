/**
 * The server that an import writes to, over its internal API. Every call may be repeated, so a call that fails briefly is tried
 * again.
 */
import { status } from '@grpc/grpc-js';
import {
  type ImportBeginAccountRequest,
  type ImportBeginAccountResponse,
  type ImportCollection,
  type ImportDescribeResponse,
  type ImportItem,
  type ImportItemVersion,
  ImportService,
  type ImportShowAccountResponse,
  type ImportShowVaultResponse,
} from '../../proto/generated/scriptorium/v1/import.ts';
import { UsersService } from '../../proto/generated/scriptorium/v1/users.ts';
import type { RpcMethod } from '../connection.ts';
import { CommandFailure } from '../failure.ts';
import type { CommandSession } from '../session.ts';

const accountsPerPage = 1_000;
const callMs = 60_000;
const triesMax = 40;
const pauseMaxMs = 5_000;

const transient: readonly (status | undefined)[] = [
  status.UNAVAILABLE,
  status.RESOURCE_EXHAUSTED,
  status.UNKNOWN,
  status.DEADLINE_EXCEEDED,
];

export class ImportTarget {
  readonly #session: CommandSession;

  constructor(session: CommandSession) {
    this.#session = session;
  }

  /** @throws CommandFailure */
  async ask<Request, Response>(method: RpcMethod<Request, Response>, request: Request): Promise<Response> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.#session.ask(method, request, callMs);
      } catch (error) {
        const isTransient = error instanceof CommandFailure && transient.includes(error.code);
        if (!isTransient || tries >= triesMax) throw error;
        await this.#session.terminal.sleep(Math.min(100 * 2 ** tries, pauseMaxMs));
      }
    }
  }

  describe(): Promise<ImportDescribeResponse> {
    return this.ask(ImportService.describe, {});
  }

  /** The uuids of all accounts here. */
  async *accounts(): AsyncGenerator<string> {
    for (let pageToken = ''; ; ) {
      const page = await this.ask(UsersService.list, { contains: '', pageSize: accountsPerPage, pageToken });
      yield* page.users.map(({ userUuid }) => userUuid);
      if (page.nextPageToken === '') return;
      pageToken = page.nextPageToken;
    }
  }

  /** Undefined if there is no such account. */
  showAccount(userUuid: string): Promise<ImportShowAccountResponse | undefined> {
    return unlessAbsent(this.ask(ImportService.showAccount, { userUuid }));
  }

  /** The address of an account here. Undefined if there is no such account. */
  async addressOf(userUuid: string): Promise<string | undefined> {
    return (await unlessAbsent(this.ask(UsersService.show, { userUuid })))?.email;
  }

  async check(account: ImportBeginAccountRequest): Promise<ImportBeginAccountResponse> {
    const { answer } = await this.ask(ImportService.checkAccount, { account });
    if (answer === undefined) throw new Error('the server has not answered what it was asked');
    return answer;
  }

  async fileBytes(owner: ImportCollection, remoteIdentifier: string): Promise<number | undefined> {
    const query = { owner, remoteIdentifier, withDigest: false };
    return (await unlessAbsent(this.ask(ImportService.showFile, query)))?.bytes;
  }

  async fileDigest(owner: ImportCollection, remoteIdentifier: string): Promise<string | undefined> {
    const query = { owner, remoteIdentifier, withDigest: true };
    return (await unlessAbsent(this.ask(ImportService.showFile, query)))?.sha256;
  }

  /** Undefined if there is no such vault. */
  showVault(vaultUuid: string): Promise<ImportShowVaultResponse | undefined> {
    return unlessAbsent(this.ask(ImportService.showVault, { vaultUuid }));
  }

  /** Whether the vault was imported, and no user has used it here. */
  async mayEndVault(vaultUuid: string): Promise<boolean> {
    const answer = unlessAbsent(this.ask(ImportService.endVault, { vaultUuid, checkOnly: true }));
    return (await answer)?.refused === '';
  }

  /** Also works for accounts that are open already. */
  async missingItems(query: { readonly collection: ImportCollection; readonly items: ImportItemVersion[] }) {
    return (await this.ask(ImportService.wantItems, query)).uuids;
  }

  writeItems(collection: ImportCollection, items: ImportItem[]) {
    return this.ask(ImportService.writeItems, { collection, items });
  }
}

async function unlessAbsent<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof CommandFailure && error.code === status.NOT_FOUND) return undefined;
    throw error;
  }
}
