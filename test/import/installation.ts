/**
 * An installation of the existing server as its tables show it, made by these tests themselves. It has the rows that such a server
 * writes for a few accounts, and those that only a long life leaves. The definitions are ours, with the columns that an import
 * reads, on SQLite and on MariaDB alike.
 */
import { createCipheriv, createHash, randomBytes, randomUUID } from 'node:crypto';
import { hashSync } from '@node-rs/bcrypt';

export type Cell = string | number | Buffer | null;

/** Runs one statement, with values for its question marks. */
export type Run = (sql: string, values?: readonly Cell[]) => Promise<void>;

const time = 'BIGINT NOT NULL';
const uuid = 'VARCHAR(36)';
const both = `created_at_timestamp ${time}, updated_at_timestamp ${time}`;

const tables: Readonly<Record<string, string>> = {
  users: `uuid ${uuid} PRIMARY KEY, email VARCHAR(255), version VARCHAR(255), encrypted_password VARCHAR(255) NOT NULL,
    encrypted_server_key VARCHAR(255), server_encryption_version INT NOT NULL, pw_nonce VARCHAR(255), pw_cost INT,
    pw_salt VARCHAR(255), pw_alg VARCHAR(255), pw_func VARCHAR(255), pw_key_size INT, kp_created VARCHAR(255),
    kp_origination VARCHAR(255), created_at DATETIME NOT NULL, updated_at DATETIME NOT NULL`,
  sessions: `uuid ${uuid} PRIMARY KEY, user_uuid ${uuid}, snjs VARCHAR(255)`,
  roles: `uuid ${uuid} PRIMARY KEY, name VARCHAR(255)`,
  user_roles: `user_uuid ${uuid}, role_uuid ${uuid}`,
  settings: `uuid ${uuid} PRIMARY KEY, user_uuid ${uuid}, name VARCHAR(255) NOT NULL, value TEXT,
    server_encryption_version INT NOT NULL, sensitive_ INT, created_at ${time}, updated_at ${time}`,
  user_subscriptions: `uuid ${uuid} PRIMARY KEY, user_uuid ${uuid}`,
  subscription_settings: `uuid ${uuid} PRIMARY KEY, user_subscription_uuid ${uuid}, name VARCHAR(255) NOT NULL, value TEXT,
    server_encryption_version INT NOT NULL, created_at ${time}, updated_at ${time}`,
  authenticators: `uuid ${uuid} PRIMARY KEY, user_uuid ${uuid}, credential_id TEXT NOT NULL, credential_public_key BLOB NOT NULL,
    counter BIGINT NOT NULL, credential_device_type VARCHAR(32), credential_backed_up INT, transports VARCHAR(255),
    created_at DATETIME NOT NULL, updated_at DATETIME NOT NULL`,
  items: `uuid ${uuid} PRIMARY KEY, duplicate_of ${uuid}, items_key_id VARCHAR(255), content MEDIUMTEXT, content_type VARCHAR(255),
    content_size INT, enc_item_key TEXT, auth_hash VARCHAR(255), user_uuid ${uuid} NOT NULL, deleted INT, ${both},
    updated_with_session ${uuid}, last_edited_by ${uuid}, shared_vault_uuid ${uuid}, key_system_identifier ${uuid}`,
  revisions_revisions: `uuid ${uuid} PRIMARY KEY, item_uuid ${uuid} NOT NULL, user_uuid ${uuid}, content MEDIUMTEXT,
    content_type VARCHAR(255), items_key_id VARCHAR(255), enc_item_key TEXT, auth_hash VARCHAR(255), creation_date DATE,
    created_at DATETIME(6), updated_at DATETIME(6), edited_by ${uuid}, shared_vault_uuid ${uuid}, key_system_identifier ${uuid}`,
  shared_vaults: `uuid ${uuid} PRIMARY KEY, user_uuid ${uuid} NOT NULL, file_upload_bytes_used INT NOT NULL, ${both}`,
  shared_vault_users: `uuid ${uuid} PRIMARY KEY, shared_vault_uuid ${uuid} NOT NULL, user_uuid ${uuid} NOT NULL,
    permission VARCHAR(24) NOT NULL, is_designated_survivor INT NOT NULL, ${both}`,
  shared_vault_invites: `uuid ${uuid} PRIMARY KEY, shared_vault_uuid ${uuid} NOT NULL, user_uuid ${uuid} NOT NULL,
    sender_uuid ${uuid} NOT NULL, encrypted_message TEXT NOT NULL, permission VARCHAR(24) NOT NULL, ${both}`,
  messages: `uuid ${uuid} PRIMARY KEY, recipient_uuid ${uuid} NOT NULL, sender_uuid ${uuid} NOT NULL,
    encrypted_message TEXT NOT NULL, replaceability_identifier VARCHAR(255), ${both}`,
  notifications: `uuid ${uuid} PRIMARY KEY, user_uuid ${uuid} NOT NULL, type VARCHAR(36) NOT NULL, payload TEXT NOT NULL, ${both}`,
};

const indexes = [
  'CREATE INDEX items_of_user ON items (user_uuid)',
  'CREATE INDEX items_of_vault ON items (shared_vault_uuid)',
  'CREATE INDEX revisions_of_item ON revisions_revisions (item_uuid)',
];

export async function createTables(run: Run): Promise<void> {
  for (const [name, columns] of Object.entries(tables)) await run(`CREATE TABLE \`${name}\` (${columns})`);
  for (const index of indexes) await run(index);
}

export const encryptionServerKey = 'ab'.repeat(32);
/** An instant, in microseconds. */
export const someTime = 1_700_000_000_123_456;

/** As a client derives it: 64 hexadecimal digits. */
export const serverPassword = (password: string): string =>
  createHash('sha256').update(password).digest('hex');

/** As that server encrypts at rest. */
export function envelope(text: string, keyHex: string): string {
  const iv = randomBytes(16);
  const cipher = createCipheriv('aes-256-gcm', Buffer.from(keyHex, 'hex'), iv, { authTagLength: 16 });
  const ciphertext = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]).toString('base64');
  const encrypted = {
    iv: iv.toString('hex'),
    tag: cipher.getAuthTag().toString('hex'),
    aad: '',
    ciphertext,
    encoding: 'utf-8',
  };
  return JSON.stringify({ version: 1, encrypted });
}

type Fields = Readonly<Record<string, Cell>>;

export class Installation {
  readonly run: Run;

  constructor(run: Run) {
    this.run = run;
  }

  async insert(table: string, fields: Fields): Promise<void> {
    const names = Object.keys(fields);
    const marks = names.map(() => '?').join(', ');
    await this.run(
      `INSERT INTO \`${table}\` (${names.map((name) => `\`${name}\``).join(', ')}) VALUES (${marks})`,
      Object.values(fields),
    );
  }

  /** An account of protocol 004, unless the fields say otherwise. */
  async user(email: string | null, fields: Fields = {}) {
    const userUuid = String(fields['uuid'] ?? randomUUID());
    const userKey = randomBytes(32).toString('hex');
    await this.insert('users', {
      uuid: userUuid,
      email,
      version: '004',
      pw_nonce: 'nonce'.padEnd(64, '0'),
      encrypted_password: hashSync(serverPassword('password'), 4).replace(/^\$2y/, '$2a'),
      encrypted_server_key: envelope(userKey, encryptionServerKey),
      server_encryption_version: 1,
      kp_created: '1700000000000',
      kp_origination: 'registration',
      created_at: '2023-11-14 22:13:20',
      updated_at: '2023-11-14 22:13:20',
      ...fields,
    });
    return { uuid: userUuid, userKey };
  }

  async item(userUuid: string, fields: Fields = {}): Promise<string> {
    const itemUuid = String(fields['uuid'] ?? randomUUID());
    await this.insert('items', {
      uuid: itemUuid,
      user_uuid: userUuid,
      content: `004:${itemUuid}`,
      content_type: 'Note',
      enc_item_key: '004:key',
      items_key_id: randomUUID(),
      deleted: 0,
      created_at_timestamp: someTime,
      updated_at_timestamp: someTime + 1,
      ...fields,
    });
    return itemUuid;
  }

  async revision(itemUuid: string, userUuid: string | null, createdAt: string | null, fields: Fields = {}) {
    await this.insert('revisions_revisions', {
      uuid: randomUUID(),
      item_uuid: itemUuid,
      user_uuid: userUuid,
      content: `004:then ${createdAt}`,
      content_type: 'Note',
      enc_item_key: '004:key',
      created_at: createdAt,
      updated_at: createdAt,
      ...fields,
    });
  }

  async setting(userUuid: string, name: string, value: string | null, fields: Fields = {}) {
    await this.insert('settings', {
      uuid: randomUUID(),
      user_uuid: userUuid,
      name,
      value,
      server_encryption_version: 0,
      created_at: someTime,
      updated_at: someTime,
      ...fields,
    });
  }

  async vault(ownerUuid: string, fields: Fields = {}): Promise<string> {
    const vaultUuid = String(fields['uuid'] ?? randomUUID());
    const times = { created_at_timestamp: someTime, updated_at_timestamp: someTime + 2 };
    await this.insert('shared_vaults', {
      uuid: vaultUuid,
      user_uuid: ownerUuid,
      file_upload_bytes_used: 0,
      ...times,
      ...fields,
    });
    await this.member(vaultUuid, ownerUuid, 'admin');
    return vaultUuid;
  }

  async member(vaultUuid: string, userUuid: string, permission: string, fields: Fields = {}) {
    await this.insert('shared_vault_users', {
      uuid: randomUUID(),
      shared_vault_uuid: vaultUuid,
      user_uuid: userUuid,
      permission,
      is_designated_survivor: 0,
      created_at_timestamp: someTime,
      updated_at_timestamp: someTime,
      ...fields,
    });
  }
}
