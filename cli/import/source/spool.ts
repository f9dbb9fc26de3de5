/**
 * A file that holds one account in the tables that an import reads (`tables.ts`). So an account that comes over HTTP is imported
 * and compared like one of a database. It never has to be in memory as a whole.
 */
import { CommandFailure } from '../../failure.ts';
import type { SourceValue } from './database.ts';

/** Only the columns that an import reads. */
const columns = {
  sessions: ['uuid', 'snjs'],
  users: [
    ...['uuid', 'email', 'version', 'encrypted_password', 'encrypted_server_key', 'created_at'],
    ...['pw_nonce', 'pw_cost', 'pw_salt', 'pw_alg', 'pw_func', 'pw_key_size', 'kp_created', 'kp_origination'],
  ],
  items: [
    ...['uuid', 'user_uuid', 'shared_vault_uuid', 'content', 'content_type', 'enc_item_key', 'items_key_id'],
    ...['auth_hash', 'duplicate_of', 'deleted', 'created_at_timestamp', 'updated_at_timestamp'],
    ...['key_system_identifier', 'last_edited_by'],
  ],
  revisions_revisions: [
    ...['uuid', 'item_uuid', 'user_uuid', 'created_at', 'content', 'content_type', 'enc_item_key'],
    ...['items_key_id', 'auth_hash', 'key_system_identifier', 'shared_vault_uuid', 'edited_by'],
  ],
  settings: [
    ...['uuid', 'user_uuid', 'name', 'value', 'server_encryption_version', 'created_at', 'updated_at'],
  ],
  subscription_settings: ['uuid', 'user_subscription_uuid', 'name', 'value'],
  user_subscriptions: ['uuid', 'user_uuid'],
  user_roles: ['user_uuid', 'role_uuid'],
  roles: ['uuid', 'name'],
  authenticators: ['uuid', 'user_uuid'],
  shared_vaults: ['uuid', 'user_uuid'],
  shared_vault_users: ['uuid', 'shared_vault_uuid'],
  shared_vault_invites: ['uuid', 'shared_vault_uuid'],
  messages: ['uuid', 'recipient_uuid'],
  notifications: ['uuid', 'user_uuid'],
} as const;
type TableName = keyof typeof columns;

export interface Spool {
  /** Columns that are not named are null. */
  insert(table: TableName, row: Readonly<Record<string, SourceValue | boolean | undefined>>): void;
  /** The number of items in it. An item that came twice counts once. */
  items(): number;
  close(): void;
}

const pageBytes = 4_096;

/** @param bytesMax that the file may take, whatever a hostile server sends */
export async function createSpool(path: string, bytesMax: number): Promise<Spool> {
  const { default: sqlite } = await import('node-sqlite3-wasm');
  const database = new sqlite.Database(path);
  database.exec(`PRAGMA page_size = ${pageBytes}`);
  database.exec(`PRAGMA max_page_count = ${Math.floor(bytesMax / pageBytes)}`);
  // A download that breaks off is begun again, so nothing has to survive a crash.
  database.exec('PRAGMA journal_mode = OFF');
  database.exec('PRAGMA synchronous = OFF');
  for (const [table, names] of Object.entries(columns))
    database.exec(`CREATE TABLE ${table} (${names.join()})`);
  database.exec('CREATE UNIQUE INDEX items_by_uuid ON items (uuid)');
  database.exec('CREATE UNIQUE INDEX revisions_by_uuid ON revisions_revisions (uuid)');
  database.exec('CREATE INDEX revisions_by_item ON revisions_revisions (item_uuid)');
  return {
    insert(table, row) {
      const values = columns[table].map((column) => stored(row[column]));
      const places = values.map(() => '?').join();
      try {
        // An item that is saved while its account is downloaded comes twice, with its history.
        database.run(`INSERT OR REPLACE INTO ${table} VALUES (${places})`, values);
      } catch (error) {
        throw spoolFailure(error as Error, bytesMax);
      }
    },
    items: () => Number(database.get('SELECT count(*) AS number FROM items')?.['number']),
    close: () => database.close(),
  };
}

function spoolFailure(error: Error, bytesMax: number): Error {
  // The first is the bound. A full disk is the second, as the library does not tell it from other failures of a write.
  if (!/database or disk is full|disk I\/O error/.test(error.message)) return error;
  return CommandFailure.refused(
    `The account takes more than ${Math.floor(bytesMax / 1_048_576)} MiB, or the disk of the temporary files is full. ` +
      'Nothing was written. If the account is that large, allow more with --size-max. TMPDIR names another folder.',
  );
}

const stored = (value: SourceValue | boolean | undefined): SourceValue =>
  typeof value === 'boolean' ? Number(value) : (value ?? null);
