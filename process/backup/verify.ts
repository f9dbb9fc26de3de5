/**
 * `scriptorium backup verify`: whether a backup can be restored, by restoring it.
 *
 *     1. objects   every object is read, and its hash compared
 *     2. restore   into a database in a scratch folder, which is read back and compared with the manifest
 *     3. files     each file row has its blobs in the backup, with their lengths
 *     4. serve     a server is started on the scratch database, with a secret key of its own
 *     5. sync      accounts sign in there and sync, and what comes is compared with the rows
 *
 * Nobody has to know the passwords of users. The accounts that are tried get a random password in the scratch database, which is
 * removed afterwards. Those with a second factor are passed over. The scratch server has no mail relay and no address.
 *
 * A signal ends the database or the server of the step that it interrupts, before their folder is removed.
 */
import { createHash, randomBytes } from 'node:crypto';
import type pg from 'pg';
import { item } from '../../actors/collection/item.ts';
import { createPasswordHasher } from '../../actors/identity/password-hasher.ts';
import { selectList } from '../../runtime/store/postgres/columns.ts';
import { ident, Parameters } from '../../runtime/store/postgres/sql.ts';
import type { UnlessInterrupted } from '../temporary-folder.ts';
import { namedBlobs } from './blobs.ts';
import { connectTo, settingOf } from './database.ts';
import { BackupError } from './error.ts';
import { blobIn, digits, linesOf, type Manifest, sha256, verified } from './format.ts';
import { openEmbedded, using } from './open.ts';
import { readVerified, restore } from './restore.ts';
import { TableDigest } from './rows.ts';
import { type ScratchServer, startScratchServer } from './scratch-server.ts';
import type { Opener } from './sealing.ts';
import type { BackupTarget } from './target.ts';

export interface VerifyOptions {
  readonly target: BackupTarget;
  readonly manifest: Manifest;
  readonly opener: Opener;
  /** An empty folder, which becomes the data directory of the scratch server. It takes as much as the database. */
  readonly scratch: string;
  readonly unlessInterrupted: UnlessInterrupted;
  /** How many accounts sign in: those with the most items. */
  readonly accounts: number;
  readonly onProgress: (text: string) => void;
}

export interface VerifiedBackup {
  readonly manifest: Manifest;
  readonly accounts: number;
  readonly items: number;
  /** Accounts that the scratch server did not let in, as they have a second factor. */
  readonly passedOver: number;
}

interface TriedAccount {
  readonly email: string;
  readonly password: string;
  readonly expected: TableDigest;
}

/** @throws BackupError | StartError */
export const verify = (options: VerifyOptions): Promise<VerifiedBackup> => new Verification(options).run();

class Verification {
  readonly #options: VerifyOptions;

  constructor(options: VerifyOptions) {
    this.#options = options;
  }

  async run(): Promise<VerifiedBackup> {
    const { manifest, scratch, unlessInterrupted, onProgress } = this.#options;
    onProgress('Objects …');
    await unlessInterrupted(this.#checkBlobs());
    const opening = openEmbedded({ dataDirectory: scratch });
    const { clusterName, accounts } = await using(opening, (connection) =>
      unlessInterrupted(this.#restoreInto(connection)),
    );
    onProgress('Server …');
    const server = await startScratchServer({ dataDirectory: scratch, clusterName });
    try {
      return { manifest, ...(await unlessInterrupted(tryAccounts(server, accounts))) };
    } finally {
      await server.stop();
    }
  }

  async #restoreInto(connection: pg.ClientConfig) {
    const { target, manifest, opener, onProgress } = this.#options;
    await restore({
      connection,
      target,
      opener,
      manifest,
      files: undefined,
      generation: undefined,
      onProgress,
    });
    const client = await connectTo(connection);
    try {
      await this.#checkFileRows(client);
      return await this.#prepare(client);
    } finally {
      await client.end();
    }
  }

  async #checkBlobs(): Promise<void> {
    const { target, manifest, opener } = this.#options;
    for (const { list, objects } of manifest.blobs.parts) {
      await verified(target, objects);
      for (const line of await linesOf(target, list, { sealer: manifest.sealer, opener })) {
        await readVerified({ target, manifest, opener }, blobIn(line));
      }
    }
  }

  /** A sixteenth at a time, as one fits into memory. */
  async #checkFileRows(client: pg.Client): Promise<void> {
    const { target, manifest, opener } = this.#options;
    for (const [index, digit] of digits.entries()) {
      const list = manifest.blobs.parts[index]?.list;
      const lines =
        list === undefined ? [] : await linesOf(target, list, { sealer: manifest.sealer, opener });
      const bytesOf = new Map(lines.map(blobIn).map(({ name, bytes }) => [name, bytes]));
      for await (const { name, bytes } of namedBlobs(client)) {
        if (!sha256(name).startsWith(digit) || bytesOf.get(name) === bytes) continue;
        throw BackupError.damaged(`${manifest.id} has a file in its database whose bytes it lacks: ${name}.`);
      }
    }
  }

  /** The secret key is not in the backup, so the scratch server makes one, and the database forgets the former. */
  async #prepare(client: pg.Client) {
    const clusterName = (await settingOf(client, 'cluster-name')) ?? 'scriptorium';
    await client.query(`DELETE FROM setting WHERE name = 'secret-key-fingerprint'`);
    const hasher = createPasswordHasher({ concurrent: 1, waiting: 1, waitingPerKey: 1 });
    const accounts: TriedAccount[] = [];
    for (const { user_uuid: userUuid, identifier } of await largestAccounts(client, this.#options.accounts)) {
      const password = randomBytes(32).toString('hex');
      const hash = await hasher.hash(password, []);
      await client.query('UPDATE account SET password_hash = $1 WHERE user_uuid = $2', [hash, userUuid]);
      accounts.push({ email: identifier, password, expected: await itemsInDatabase(client, userUuid) });
    }
    return { clusterName, accounts };
  }
}

async function tryAccounts(server: ScratchServer, tried: readonly TriedAccount[]) {
  let [accounts, items, passedOver] = [0, 0, 0];
  for (const { email, password, expected } of tried) {
    const found = await itemsFromServer(server, { email, password });
    if (found === undefined) {
      passedOver += 1;
      continue;
    }
    if (found.hex !== expected.hex) {
      throw BackupError.damaged(
        `The server gave an account ${found.rows} items, and the backup has ${expected.rows} or others.`,
      );
    }
    accounts += 1;
    items += found.rows;
  }
  return { accounts, items, passedOver };
}

async function largestAccounts(
  client: pg.Client,
  limit: number,
): Promise<readonly { readonly user_uuid: string; readonly identifier: string }[]> {
  const { rows } = await client.query(
    `SELECT a.user_uuid, a.identifier FROM account AS a LEFT JOIN item AS i ON i.collection = a.user_uuid
     WHERE a.workspace = 'default' GROUP BY a.user_uuid, a.identifier ORDER BY count(i.uuid) DESC LIMIT $1`,
    [limit],
  );
  return rows;
}

/** What a client is given of an item, and what it would notice. */
const comparedColumns = ['uuid', 'content_type', 'content', 'enc_item_key'];
/** An item takes 16 MiB at most. */
const pageRows = 10;

const lineOfItem = (row: Readonly<Record<string, unknown>>): string => {
  const hash = createHash('sha256');
  for (const column of comparedColumns) hash.update(`${row[column] ?? ''}\u0000`);
  return hash.digest('hex');
};

async function itemsInDatabase(client: pg.Client, userUuid: string): Promise<TableDigest> {
  const digest = new TableDigest();
  for (let after: string | undefined; ; ) {
    const parameters = new Parameters();
    const owner = parameters.add('uuid', userUuid);
    const where = after === undefined ? '' : ` AND i.uuid > ${parameters.add('uuid', after)}`;
    const { rows } = await client.query(
      `SELECT ${selectList(item, comparedColumns, 'i')} FROM ${ident(item.name)} AS i
       WHERE i.collection = ${owner} AND i.deleted = false AND i.moved_to IS NULL${where} ORDER BY i.uuid LIMIT ${pageRows}`,
      parameters.values,
    );
    for (const row of rows) digest.add(lineOfItem(row));
    if (rows.length < pageRows) return digest;
    after = rows.at(-1)?.uuid;
  }
}

/** Undefined if the account has a second factor, or may not sign in. @throws BackupError */
async function itemsFromServer(
  server: ScratchServer,
  account: { readonly email: string; readonly password: string },
): Promise<TableDigest | undefined> {
  const token = await server.signIn(account);
  if (token === undefined) return undefined;
  const digest = new TableDigest();
  for await (const row of server.items(token)) {
    // Items of vaults are not in the collection of the user, with which they are compared here.
    if (row['deleted'] === true || (row['shared_vault_uuid'] ?? null) !== null) continue;
    digest.add(lineOfItem(row));
  }
  return digest;
}
