/** Reads the other server's tables. Their names and those of their columns are its own, and the results are in our terms. */
import { CommandFailure, exitCodes } from '../../failure.ts';
import {
  flagIn,
  millisecondsIn,
  numberIn,
  placeholders,
  type SourceDatabase,
  type SourceRow,
  textIn,
} from './database.ts';

export interface SourceUser {
  readonly uuid: string;
  readonly email: string | undefined;
  readonly version: string | undefined;
  readonly passwordHash: string;
  readonly serverKey: string | undefined;
  readonly createdAtMs: number;
  readonly keyParams: SourceRow;
}

export interface SourceSetting {
  readonly uuid: string;
  readonly name: string;
  readonly value: string | undefined;
  readonly isEncrypted: boolean;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export interface SourceAuthenticator {
  readonly uuid: string;
  readonly credentialId: string;
  readonly publicKey: Buffer;
  readonly counter: number;
  readonly transports: string[];
  readonly createdAtMs: number;
}

/** An item without its content: what tells one state from another, and where the item belongs. */
export interface ItemHeader {
  readonly uuid: string;
  readonly ownerUuid: string;
  readonly vaultUuid: string | undefined;
  readonly updatedAt: number;
  readonly createdAt: number;
  readonly deleted: boolean;
}

export interface SizedItemHeader extends ItemHeader {
  readonly bytes: number;
}

/** What an item has in common with each of its revisions. */
interface ItemContent {
  readonly content: string | undefined;
  readonly contentType: string | undefined;
  readonly encItemKey: string | undefined;
  readonly itemsKeyId: string | undefined;
  readonly authHash: string | undefined;
  readonly keySystemIdentifier: string | undefined;
}

export interface SourceItem extends ItemHeader, ItemContent {
  readonly duplicateOf: string | undefined;
  readonly lastEditedBy: string | undefined;
}

export interface RevisionKey {
  readonly uuid: string;
  readonly itemUuid: string;
  readonly createdAtMs: number | undefined;
  readonly bytes: number;
}

export interface SourceRevision extends Omit<RevisionKey, 'bytes'>, ItemContent {
  readonly ownerUuid: string | undefined;
  readonly vaultUuid: string | undefined;
  readonly editedBy: string | undefined;
}

export interface RevisionSummary {
  readonly count: number;
  /** Undefined if no revision has a time. */
  readonly latestMs: number | undefined;
}

export interface SourceVault {
  readonly uuid: string;
  readonly ownerUuid: string;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export interface SourceMember {
  readonly uuid: string;
  readonly userUuid: string;
  readonly permission: string;
  readonly isSurvivor: boolean;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export interface SourceInvite {
  readonly uuid: string;
  readonly inviteeUuid: string;
  readonly senderUuid: string;
  readonly permission: string;
  readonly encryptedMessage: string;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export interface SourceMessage {
  readonly uuid: string;
  readonly senderUuid: string;
  readonly encryptedMessage: string;
  readonly replaceabilityIdentifier: string | undefined;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export interface SourceNotification {
  readonly uuid: string;
  readonly type: string;
  readonly payload: string;
  readonly createdAt: number;
  readonly updatedAt: number;
}

const contentOf = (row: SourceRow): ItemContent => ({
  content: textIn(row, 'content'),
  contentType: textIn(row, 'content_type'),
  encItemKey: textIn(row, 'enc_item_key'),
  itemsKeyId: textIn(row, 'items_key_id'),
  authHash: textIn(row, 'auth_hash'),
  keySystemIdentifier: textIn(row, 'key_system_identifier'),
});

const timestampsIn = (row: SourceRow) => ({
  createdAt: numberIn(row, 'created_at_timestamp'),
  updatedAt: numberIn(row, 'updated_at_timestamp'),
});

/** 1 for an address in lower case, because on the other server nobody signs in to any other. */
const rankOf = (row: SourceRow): number =>
  textIn(row, 'email') === textIn(row, 'email')?.toLowerCase() ? 1 : 0;

const lowerTextIn = (row: SourceRow, column: string): string => (textIn(row, column) ?? '').toLowerCase();

/** Tables whose rows are counted, so that the report accounts for everything that was read. */
export const countedTables = [
  'users',
  'items',
  'revisions_revisions',
  'settings',
  'authenticators',
  'shared_vaults',
  'shared_vault_users',
  'shared_vault_invites',
  'messages',
  'notifications',
] as const;
export type CountedTable = (typeof countedTables)[number];

export class Tables {
  readonly #main: SourceDatabase;
  readonly #revisions: SourceDatabase;
  readonly #utcOffsetMinutes: number;

  constructor(main: SourceDatabase, revisions: SourceDatabase, utcOffsetMinutes: number) {
    this.#main = main;
    this.#revisions = revisions;
    this.#utcOffsetMinutes = utcOffsetMinutes;
  }

  /** @throws CommandFailure unless the tables are those of a release since March 2024 */
  async check(): Promise<void> {
    const sessions = await this.#main.columnsOf('sessions');
    if (!sessions.includes('snjs')) {
      throw new CommandFailure(
        exitCodes.refused,
        'This is no database of the existing server, or it is older than March 2024. Start its newest release once: it brings its database up to date.',
      );
    }
    if ((await this.#revisions.columnsOf('revisions_revisions')).length === 0) {
      throw new CommandFailure(
        exitCodes.refused,
        'There are no revisions in this database. Older installations keep them in a database of their own: name it with --revisions-from.',
      );
    }
  }

  async count(table: CountedTable): Promise<number> {
    const database = table === 'revisions_revisions' ? this.#revisions : this.#main;
    const [row] = await database.all(`SELECT COUNT(*) AS n FROM \`${table}\``);
    return row === undefined ? 0 : numberIn(row, 'n');
  }

  // --- accounts ---------------------------------------------------------------------------------------------------

  async *users(): AsyncGenerator<SourceUser> {
    const selection = { columns: '*', table: 'users', where: '1 = 1', values: [] };
    for await (const row of this.#main.each(selection)) {
      yield {
        uuid: String(row['uuid']),
        email: textIn(row, 'email'),
        version: textIn(row, 'version'),
        passwordHash: textIn(row, 'encrypted_password') ?? '',
        serverKey: textIn(row, 'encrypted_server_key'),
        createdAtMs: this.#ms(row, 'created_at') ?? 0,
        keyParams: row,
      };
    }
  }

  /**
   * The groups of accounts whose addresses differ only in case and white space. In each, the account with the newest item comes
   * first, and among equals the one that is in lower case already.
   */
  async sharedAddresses(): Promise<readonly (readonly string[])[]> {
    const shared = await this.#main.all(
      'SELECT LOWER(TRIM(`email`)) AS address FROM `users` WHERE `email` IS NOT NULL GROUP BY LOWER(TRIM(`email`)) HAVING COUNT(*) > 1',
    );
    const all = shared.map(async (row) => {
      const holders = await this.#main.all(
        'SELECT u.`uuid` AS uuid, u.`email` AS email, COALESCE((SELECT MAX(i.`updated_at_timestamp`) FROM `items` i WHERE i.`user_uuid` = u.`uuid`), -1) AS newest FROM `users` u WHERE LOWER(TRIM(u.`email`)) = ?',
        [textIn(row, 'address') ?? ''],
      );
      return holders
        .toSorted((a, b) => numberIn(b, 'newest') - numberIn(a, 'newest') || rankOf(b) - rankOf(a))
        .map((holder) => String(holder['uuid']));
    });
    return Promise.all(all);
  }

  async isAdministrator(userUuid: string): Promise<boolean> {
    const rows = await this.#main.all(
      "SELECT 1 AS n FROM `user_roles` u JOIN `roles` r ON r.`uuid` = u.`role_uuid` WHERE u.`user_uuid` = ? AND r.`name` = 'INTERNAL_TEAM_USER' LIMIT 1",
      [userUuid],
    );
    return rows.length > 0;
  }

  /** The newest of each name comes last. */
  async settings(userUuid: string): Promise<readonly SourceSetting[]> {
    const rows = await this.#main.all('SELECT * FROM `settings` WHERE `user_uuid` = ?', [userUuid]);
    return rows.map(settingOf).toSorted((a, b) => a.updatedAt - b.updatedAt);
  }

  async subscriptionSettings(userUuid: string): Promise<readonly SourceSetting[]> {
    const rows = await this.#main.all(
      'SELECT s.* FROM `subscription_settings` s JOIN `user_subscriptions` u ON u.`uuid` = s.`user_subscription_uuid` WHERE u.`user_uuid` = ?',
      [userUuid],
    );
    return rows.map(settingOf).toSorted((a, b) => a.updatedAt - b.updatedAt);
  }

  /** Whether any user has a second factor that only the key of the other server opens. */
  async hasEncryptedMfaSecrets(): Promise<boolean> {
    const rows = await this.#main.all(
      "SELECT 1 AS n FROM `settings` WHERE `name` = 'MFA_SECRET' AND `value` IS NOT NULL AND `server_encryption_version` = 1 LIMIT 1",
    );
    return rows.length > 0;
  }

  /** The server key of any user, with which the key of the other server can be tested. */
  async sampleUserKey(): Promise<string | undefined> {
    const [row] = await this.#main.all(
      'SELECT `encrypted_server_key` AS k FROM `users` WHERE `encrypted_server_key` IS NOT NULL ORDER BY `uuid` LIMIT 1',
    );
    return row && textIn(row, 'k');
  }

  async authenticators(userUuid: string): Promise<readonly SourceAuthenticator[]> {
    const rows = await this.#main.all('SELECT * FROM `authenticators` WHERE `user_uuid` = ?', [userUuid]);
    return rows.map((row) => ({
      uuid: lowerTextIn(row, 'uuid'),
      credentialId: textIn(row, 'credential_id') ?? '',
      publicKey: Buffer.from(row['credential_public_key'] as Uint8Array),
      counter: numberIn(row, 'counter'),
      transports: transportsIn(row),
      createdAtMs: this.#ms(row, 'created_at') ?? 0,
    }));
  }

  // --- items ------------------------------------------------------------------------------------------------------

  /** The items that the user has created, with those in vaults. */
  itemsOf(userUuid: string): AsyncGenerator<SizedItemHeader> {
    return this.#headersWhere('`user_uuid` = ?', userUuid);
  }

  itemsIn(vaultUuid: string): AsyncGenerator<SizedItemHeader> {
    return this.#headersWhere('`shared_vault_uuid` = ?', vaultUuid);
  }

  async *#headersWhere(where: string, value: string): AsyncGenerator<SizedItemHeader> {
    const length = `COALESCE(${this.#main.lengthOf('content')}, 0)`;
    const columns = `${headerColumns}, ${length} AS bytes`;
    for await (const row of this.#main.each({ columns, table: 'items', where, values: [value] })) {
      yield { ...headerOf(row), bytes: numberIn(row, 'bytes') };
    }
  }

  async items(uuids: readonly string[]): Promise<readonly SourceItem[]> {
    if (uuids.length === 0) return [];
    const sql = `SELECT * FROM \`items\` WHERE \`uuid\` IN ${placeholders(uuids)}`;
    return (await this.#main.all(sql, uuids)).map((row) => ({
      ...headerOf(row),
      ...contentOf(row),
      duplicateOf: textIn(row, 'duplicate_of'),
      lastEditedBy: textIn(row, 'last_edited_by')?.toLowerCase(),
    }));
  }

  /** The rows of those items that exist, without their contents. */
  async itemHeaders(uuids: readonly string[]): Promise<readonly ItemHeader[]> {
    if (uuids.length === 0) return [];
    const sql = `SELECT ${headerColumns} FROM \`items\` WHERE \`uuid\` IN ${placeholders(uuids)}`;
    return (await this.#main.all(sql, uuids)).map(headerOf);
  }

  async histories(itemUuids: readonly string[]): Promise<ReadonlyMap<string, RevisionSummary>> {
    if (itemUuids.length === 0) return new Map();
    const sql = `SELECT \`item_uuid\`, COUNT(*) AS n, MAX(\`created_at\`) AS latest FROM \`revisions_revisions\` WHERE \`item_uuid\` IN ${placeholders(itemUuids)} GROUP BY \`item_uuid\``;
    const rows = await this.#revisions.all(sql, itemUuids);
    return new Map(
      rows.map((row) => [
        lowerTextIn(row, 'item_uuid'),
        { count: numberIn(row, 'n'), latestMs: this.#ms(row, 'latest') },
      ]),
    );
  }

  async revisionKeys(itemUuids: readonly string[]): Promise<readonly RevisionKey[]> {
    if (itemUuids.length === 0) return [];
    const length = `COALESCE(${this.#revisions.lengthOf('content')}, 0)`;
    const sql = `SELECT \`uuid\`, \`item_uuid\`, \`created_at\`, ${length} AS bytes FROM \`revisions_revisions\` WHERE \`item_uuid\` IN ${placeholders(itemUuids)}`;
    return (await this.#revisions.all(sql, itemUuids)).map((row) => ({
      uuid: String(row['uuid']),
      itemUuid: lowerTextIn(row, 'item_uuid'),
      createdAtMs: this.#ms(row, 'created_at'),
      bytes: numberIn(row, 'bytes'),
    }));
  }

  async revisions(uuids: readonly string[]): Promise<readonly SourceRevision[]> {
    if (uuids.length === 0) return [];
    const sql = `SELECT * FROM \`revisions_revisions\` WHERE \`uuid\` IN ${placeholders(uuids)}`;
    return (await this.#revisions.all(sql, uuids)).map((row) => ({
      uuid: String(row['uuid']),
      itemUuid: lowerTextIn(row, 'item_uuid'),
      createdAtMs: this.#ms(row, 'created_at'),
      ownerUuid: textIn(row, 'user_uuid')?.toLowerCase(),
      ...contentOf(row),
      vaultUuid: textIn(row, 'shared_vault_uuid')?.toLowerCase(),
      editedBy: textIn(row, 'edited_by')?.toLowerCase(),
    }));
  }

  // --- vaults and the inbox ---------------------------------------------------------------------------------------

  async vaults(): Promise<readonly SourceVault[]> {
    const rows = await this.#main.all('SELECT * FROM `shared_vaults`');
    return rows.map((row) => ({
      uuid: lowerTextIn(row, 'uuid'),
      ownerUuid: lowerTextIn(row, 'user_uuid'),
      ...timestampsIn(row),
    }));
  }

  /** Whether any row is left of the vault. A server that deletes one clears all of these. */
  async namesVault(vaultUuid: string): Promise<boolean> {
    const places = [
      '`shared_vaults` WHERE `uuid` = ?',
      '`shared_vault_users` WHERE `shared_vault_uuid` = ?',
      '`items` WHERE `shared_vault_uuid` = ?',
    ];
    for (const place of places) {
      if ((await this.#main.all(`SELECT 1 AS n FROM ${place} LIMIT 1`, [vaultUuid])).length > 0) return true;
    }
    return false;
  }

  async members(vaultUuid: string): Promise<readonly SourceMember[]> {
    const rows = await this.#main.all('SELECT * FROM `shared_vault_users` WHERE `shared_vault_uuid` = ?', [
      vaultUuid,
    ]);
    return rows.map((row) => ({
      uuid: lowerTextIn(row, 'uuid'),
      userUuid: lowerTextIn(row, 'user_uuid'),
      permission: textIn(row, 'permission') ?? '',
      isSurvivor: flagIn(row, 'is_designated_survivor'),
      ...timestampsIn(row),
    }));
  }

  async invites(vaultUuid: string): Promise<readonly SourceInvite[]> {
    const rows = await this.#main.all('SELECT * FROM `shared_vault_invites` WHERE `shared_vault_uuid` = ?', [
      vaultUuid,
    ]);
    return rows.map((row) => ({
      uuid: lowerTextIn(row, 'uuid'),
      inviteeUuid: lowerTextIn(row, 'user_uuid'),
      senderUuid: lowerTextIn(row, 'sender_uuid'),
      permission: textIn(row, 'permission') ?? '',
      encryptedMessage: textIn(row, 'encrypted_message') ?? '',
      ...timestampsIn(row),
    }));
  }

  async messages(userUuid: string): Promise<readonly SourceMessage[]> {
    const rows = await this.#main.all('SELECT * FROM `messages` WHERE `recipient_uuid` = ?', [userUuid]);
    return rows.map((row) => ({
      uuid: lowerTextIn(row, 'uuid'),
      senderUuid: lowerTextIn(row, 'sender_uuid'),
      encryptedMessage: textIn(row, 'encrypted_message') ?? '',
      replaceabilityIdentifier: textIn(row, 'replaceability_identifier'),
      ...timestampsIn(row),
    }));
  }

  async notifications(userUuid: string): Promise<readonly SourceNotification[]> {
    const rows = await this.#main.all('SELECT * FROM `notifications` WHERE `user_uuid` = ?', [userUuid]);
    return rows.map((row) => ({
      uuid: lowerTextIn(row, 'uuid'),
      type: textIn(row, 'type') ?? '',
      payload: textIn(row, 'payload') ?? '',
      ...timestampsIn(row),
    }));
  }

  async close(): Promise<void> {
    await this.#main.close();
    if (this.#revisions !== this.#main) await this.#revisions.close();
  }

  #ms(row: SourceRow, column: string): number | undefined {
    return millisecondsIn(row, column, this.#utcOffsetMinutes);
  }
}

const headerColumns =
  '`uuid`, `user_uuid`, `shared_vault_uuid`, `deleted`, `created_at_timestamp`, `updated_at_timestamp`';

const headerOf = (row: SourceRow): ItemHeader => ({
  uuid: String(row['uuid']),
  ownerUuid: lowerTextIn(row, 'user_uuid'),
  vaultUuid: textIn(row, 'shared_vault_uuid')?.toLowerCase(),
  deleted: flagIn(row, 'deleted'),
  ...timestampsIn(row),
});

const settingOf = (row: SourceRow): SourceSetting => ({
  uuid: lowerTextIn(row, 'uuid'),
  name: textIn(row, 'name') ?? '',
  value: textIn(row, 'value'),
  isEncrypted: flagIn(row, 'server_encryption_version'),
  createdAt: numberIn(row, 'created_at'),
  updatedAt: numberIn(row, 'updated_at'),
});

function transportsIn(row: SourceRow): string[] {
  try {
    const parsed: unknown = JSON.parse(textIn(row, 'transports') ?? '[]');
    return Array.isArray(parsed) ? parsed.filter((each) => typeof each === 'string') : [];
  } catch {
    return [];
  }
}
