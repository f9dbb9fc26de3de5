/** The tables of the domain (see `runtime/migration.ts`). */
import type { Migration } from '../runtime/migration.ts';

export const domainMigrations: readonly Migration[] = [
  {
    id: 'domain-0001-account',
    sql: `
      CREATE TABLE IF NOT EXISTS account (
        user_uuid uuid NOT NULL PRIMARY KEY,
        workspace text NOT NULL,
        identifier text NOT NULL,
        password_hash text NOT NULL,
        credentials_version int8 NOT NULL,
        key_params text NOT NULL
      )`,
  },
  {
    id: 'domain-0002-account-unique-workspace-identifier',
    sql: `
      CREATE UNIQUE INDEX IF NOT EXISTS account_unique_workspace_identifier
        ON account (workspace, identifier)`,
  },
  {
    id: 'domain-0003-item',
    sql: `
      CREATE TABLE IF NOT EXISTS item (
        collection uuid NOT NULL,
        uuid uuid NOT NULL,
        position int8 NOT NULL,
        created_position int8 NOT NULL,
        size int8 NOT NULL,
        owner_uuid uuid NOT NULL,
        content_type text,
        content text,
        content_parts int8 NOT NULL,
        enc_item_key text,
        items_key_id text,
        auth_hash text,
        duplicate_of text,
        deleted bool NOT NULL,
        created_at_timestamp int8 NOT NULL,
        updated_at_timestamp int8 NOT NULL,
        key_system_identifier text,
        shared_vault_uuid uuid,
        last_edited_by_uuid uuid,
        updated_with_session uuid,
        fingerprint bytea NOT NULL,
        revisions int8 NOT NULL,
        revised_at int8 NOT NULL,
        revision_uuid uuid,
        born bool,
        hop int8,
        moved_to uuid,
        PRIMARY KEY (collection, uuid, created_position)
      )`,
  },
  {
    id: 'domain-0004-item-by-order',
    sql: 'CREATE INDEX IF NOT EXISTS item_by_order ON item (collection, position)',
  },
  {
    id: 'domain-0005-item-by-front',
    sql: `
      CREATE INDEX IF NOT EXISTS item_by_front ON item (collection, position)
        WHERE content_type IN ('SN|ItemsKey', 'SN|UserPreferences', 'SN|Theme')`,
  },
  {
    id: 'domain-0006-item-unique-uuid-born',
    sql: 'CREATE UNIQUE INDEX IF NOT EXISTS item_unique_uuid_born ON item (uuid, born)',
  },
  {
    id: 'domain-0007-item-unique-uuid-hop',
    sql: `
      CREATE UNIQUE INDEX IF NOT EXISTS item_unique_uuid_hop ON item (uuid, hop)
        WHERE hop IS NOT NULL`,
  },
  {
    id: 'domain-0008-item-part',
    sql: `
      CREATE TABLE IF NOT EXISTS item_part (
        collection uuid NOT NULL,
        uuid uuid NOT NULL,
        part int8 NOT NULL,
        content text NOT NULL,
        PRIMARY KEY (collection, uuid, part)
      )`,
  },
  {
    id: 'domain-0009-mail',
    sql: `
      CREATE TABLE IF NOT EXISTS mail (
        mailer text NOT NULL,
        id text NOT NULL,
        position int8 NOT NULL,
        state text NOT NULL,
        source text NOT NULL,
        user_uuid text NOT NULL,
        attempts int8 NOT NULL,
        created_at int8 NOT NULL,
        updated_at int8 NOT NULL,
        next_attempt_at int8,
        lease_ends_at int8,
        expires_at int8,
        failure text,
        relay text,
        handed_over bool NOT NULL,
        message_id text,
        listener text,
        content bytea,
        size int8 NOT NULL,
        PRIMARY KEY (mailer, id)
      )`,
  },
  {
    id: 'domain-0010-mail-by-order',
    sql: 'CREATE INDEX IF NOT EXISTS mail_by_order ON mail (mailer, position)',
  },
  {
    id: 'domain-0011-mail-by-urgent',
    sql: "CREATE INDEX IF NOT EXISTS mail_by_urgent ON mail (mailer, position) WHERE state = 'urgent'",
  },
  {
    id: 'domain-0012-mail-by-ordinary',
    sql: `
      CREATE INDEX IF NOT EXISTS mail_by_ordinary ON mail (mailer, position)
        WHERE state = 'ordinary'`,
  },
  {
    id: 'domain-0013-mail-sender',
    sql: `
      CREATE TABLE IF NOT EXISTS mail_sender (
        mailer text NOT NULL,
        user_uuid text NOT NULL,
        day int8 NOT NULL,
        mails int8 NOT NULL,
        PRIMARY KEY (mailer, user_uuid)
      )`,
  },
  {
    id: 'domain-0014-audit-page',
    sql: `
      CREATE TABLE IF NOT EXISTS audit_page (
        user_uuid uuid NOT NULL,
        slot int8 NOT NULL,
        events text NOT NULL,
        PRIMARY KEY (user_uuid, slot)
      )`,
  },
  {
    id: 'domain-0015-subscription-invite',
    sql: `
      CREATE TABLE IF NOT EXISTS subscription_invite (
        user_uuid uuid NOT NULL,
        uuid uuid NOT NULL,
        PRIMARY KEY (user_uuid, uuid)
      )`,
  },
  {
    id: 'domain-0016-subscription-invite-unique-uuid',
    sql: `
      CREATE UNIQUE INDEX IF NOT EXISTS subscription_invite_unique_uuid
        ON subscription_invite (uuid)`,
  },
  {
    id: 'domain-0017-mail-log',
    sql: `
      CREATE TABLE IF NOT EXISTS mail_log (
        mailer text NOT NULL,
        position int8 NOT NULL,
        queue_id text,
        relay_id text NOT NULL,
        relay_kind text NOT NULL,
        source text NOT NULL,
        attempt int8 NOT NULL,
        outcome text NOT NULL,
        failure text,
        started_at int8 NOT NULL,
        duration_ms int8 NOT NULL,
        PRIMARY KEY (mailer, position)
      )`,
  },
  {
    id: 'domain-0018-mail-audit',
    sql: `
      CREATE TABLE IF NOT EXISTS mail_audit (
        mailer text NOT NULL,
        position int8 NOT NULL,
        user_uuid text NOT NULL,
        operation text NOT NULL,
        target text NOT NULL,
        at int8 NOT NULL,
        PRIMARY KEY (mailer, position)
      )`,
  },
  {
    id: 'domain-0019-share-content',
    sql: `
      CREATE TABLE IF NOT EXISTS share_content (
        share_uuid uuid NOT NULL,
        content text,
        content_parts int8 NOT NULL,
        PRIMARY KEY (share_uuid)
      )`,
  },
  {
    id: 'domain-0020-share-content-part',
    sql: `
      CREATE TABLE IF NOT EXISTS share_content_part (
        share_uuid uuid NOT NULL,
        part int8 NOT NULL,
        content text NOT NULL,
        PRIMARY KEY (share_uuid, part)
      )`,
  },
  {
    id: 'domain-0021-revision',
    sql: `
      CREATE TABLE IF NOT EXISTS revision (
        collection uuid NOT NULL,
        item_uuid uuid NOT NULL,
        slot int8 NOT NULL,
        uuid uuid NOT NULL,
        end_offset int8 NOT NULL,
        size int8 NOT NULL,
        kept_at int8 NOT NULL,
        created_at int8 NOT NULL,
        owner_uuid uuid NOT NULL,
        content_type text,
        content text,
        content_parts int8 NOT NULL,
        enc_item_key text,
        items_key_id text,
        auth_hash text,
        key_system_identifier text,
        shared_vault_uuid uuid,
        last_edited_by_uuid uuid,
        PRIMARY KEY (collection, item_uuid, slot)
      )`,
  },
  {
    id: 'domain-0022-revision-by-order',
    sql: 'CREATE INDEX IF NOT EXISTS revision_by_order ON revision (collection, end_offset)',
  },
  {
    id: 'domain-0023-revision-part',
    sql: `
      CREATE TABLE IF NOT EXISTS revision_part (
        collection uuid NOT NULL,
        item_uuid uuid NOT NULL,
        slot int8 NOT NULL,
        part int8 NOT NULL,
        content text NOT NULL,
        PRIMARY KEY (collection, item_uuid, slot, part)
      )`,
  },
  {
    id: 'domain-0024-file',
    sql: `
      CREATE TABLE IF NOT EXISTS file (
        owner_uuid uuid NOT NULL,
        remote_identifier uuid NOT NULL,
        sequence int8 NOT NULL,
        upload_uuid uuid NOT NULL,
        stored_under uuid NOT NULL,
        bytes int8 NOT NULL,
        layout bytea NOT NULL,
        closed_at int8 NOT NULL,
        hop int8 NOT NULL,
        PRIMARY KEY (owner_uuid, remote_identifier)
      )`,
  },
  {
    id: 'domain-0025-file-by-order',
    sql: 'CREATE INDEX IF NOT EXISTS file_by_order ON file (owner_uuid, sequence)',
  },
  {
    id: 'domain-0026-file-unique-upload-uuid-hop',
    sql: 'CREATE UNIQUE INDEX IF NOT EXISTS file_unique_upload_uuid_hop ON file (upload_uuid, hop)',
  },
  {
    id: 'domain-0027-file-garbage',
    sql: `
      CREATE TABLE IF NOT EXISTS file_garbage (
        owner_uuid uuid NOT NULL,
        number int8 NOT NULL,
        upload_uuid uuid NOT NULL,
        stored_under uuid NOT NULL,
        blobs bytea NOT NULL,
        PRIMARY KEY (owner_uuid, number)
      )`,
  },
  {
    id: 'domain-0028-shared-vault',
    sql: `
      CREATE TABLE IF NOT EXISTS shared_vault (
        vault uuid NOT NULL,
        position int8 NOT NULL,
        owner_uuid uuid NOT NULL,
        survivor_uuid uuid,
        file_bytes int8 NOT NULL,
        created_at int8 NOT NULL,
        updated_at int8 NOT NULL,
        PRIMARY KEY (vault)
      )`,
  },
  {
    id: 'domain-0029-shared-vault-by-order',
    sql: 'CREATE INDEX IF NOT EXISTS shared_vault_by_order ON shared_vault (vault, position)',
  },
  {
    id: 'domain-0030-shared-vault-member',
    sql: `
      CREATE TABLE IF NOT EXISTS shared_vault_member (
        vault uuid NOT NULL,
        member uuid NOT NULL,
        uuid uuid NOT NULL,
        position int8 NOT NULL,
        permission text NOT NULL,
        membership int8 NOT NULL,
        created_at int8 NOT NULL,
        updated_at int8 NOT NULL,
        PRIMARY KEY (vault, member)
      )`,
  },
  {
    id: 'domain-0031-shared-vault-member-by-order',
    sql: `
      CREATE INDEX IF NOT EXISTS shared_vault_member_by_order
        ON shared_vault_member (vault, position)`,
  },
  {
    id: 'domain-0032-shared-vault-invite',
    sql: `
      CREATE TABLE IF NOT EXISTS shared_vault_invite (
        vault uuid NOT NULL,
        invitee uuid NOT NULL,
        uuid uuid NOT NULL,
        position int8 NOT NULL,
        sender_uuid uuid NOT NULL,
        permission text NOT NULL,
        encrypted_message text NOT NULL,
        bytes int8 NOT NULL,
        created_at int8 NOT NULL,
        updated_at int8 NOT NULL,
        PRIMARY KEY (vault, invitee)
      )`,
  },
  {
    id: 'domain-0033-shared-vault-invite-by-order',
    sql: `
      CREATE INDEX IF NOT EXISTS shared_vault_invite_by_order
        ON shared_vault_invite (vault, position)`,
  },
  {
    id: 'domain-0034-inbox-message',
    sql: `
      CREATE TABLE IF NOT EXISTS inbox_message (
        user_uuid uuid NOT NULL,
        uuid uuid NOT NULL,
        position int8 NOT NULL,
        sender_uuid uuid NOT NULL,
        encrypted_message text NOT NULL,
        replaceability_identifier text,
        size int8 NOT NULL,
        created_at int8 NOT NULL,
        updated_at int8 NOT NULL,
        PRIMARY KEY (user_uuid, uuid)
      )`,
  },
  {
    id: 'domain-0035-inbox-message-by-order',
    sql: 'CREATE INDEX IF NOT EXISTS inbox_message_by_order ON inbox_message (user_uuid, position)',
  },
  {
    id: 'domain-0036-inbox-notification',
    sql: `
      CREATE TABLE IF NOT EXISTS inbox_notification (
        user_uuid uuid NOT NULL,
        subject text NOT NULL,
        position int8 NOT NULL,
        uuid uuid NOT NULL,
        type text NOT NULL,
        payload text NOT NULL,
        happened_at int8 NOT NULL,
        cleared bool NOT NULL,
        created_at int8 NOT NULL,
        updated_at int8 NOT NULL,
        PRIMARY KEY (user_uuid, subject)
      )`,
  },
  {
    id: 'domain-0037-inbox-notification-by-order',
    sql: `
      CREATE INDEX IF NOT EXISTS inbox_notification_by_order
        ON inbox_notification (user_uuid, position)`,
  },
  {
    id: 'domain-0038-inbox-invite',
    sql: `
      CREATE TABLE IF NOT EXISTS inbox_invite (
        user_uuid uuid NOT NULL,
        vault_uuid uuid NOT NULL,
        position int8 NOT NULL,
        uuid uuid NOT NULL,
        sender_uuid uuid NOT NULL,
        permission text NOT NULL,
        encrypted_message text NOT NULL,
        size int8 NOT NULL,
        created_at int8 NOT NULL,
        updated_at int8 NOT NULL,
        PRIMARY KEY (user_uuid, vault_uuid)
      )`,
  },
  {
    id: 'domain-0039-inbox-invite-by-order',
    sql: 'CREATE INDEX IF NOT EXISTS inbox_invite_by_order ON inbox_invite (user_uuid, position)',
  },
  {
    id: 'domain-0040-sent-message',
    sql: `
      CREATE TABLE IF NOT EXISTS sent_message (
        user_uuid uuid NOT NULL,
        uuid uuid NOT NULL,
        sequence int8 NOT NULL,
        recipient_uuid uuid NOT NULL,
        encrypted_message text NOT NULL,
        replaceability_identifier text,
        size int8 NOT NULL,
        created_at int8 NOT NULL,
        updated_at int8 NOT NULL,
        PRIMARY KEY (user_uuid, uuid)
      )`,
  },
  {
    id: 'domain-0041-sent-message-by-order',
    sql: 'CREATE INDEX IF NOT EXISTS sent_message_by_order ON sent_message (user_uuid, sequence)',
  },
  {
    id: 'domain-0042-calendar-todo',
    sql: `
      CREATE TABLE IF NOT EXISTS calendar_todo (
        user_uuid uuid NOT NULL,
        uid text NOT NULL,
        position int8 NOT NULL,
        contents bytea NOT NULL,
        etag text NOT NULL,
        object_bytes int8 NOT NULL,
        size int8 NOT NULL,
        created_at int8 NOT NULL,
        updated_at int8 NOT NULL,
        PRIMARY KEY (user_uuid, uid)
      )`,
  },
  {
    id: 'domain-0043-calendar-todo-by-order',
    sql: 'CREATE INDEX IF NOT EXISTS calendar_todo_by_order ON calendar_todo (user_uuid, position)',
  },
  {
    id: 'domain-0044-sync-command',
    sql: `
      CREATE TABLE IF NOT EXISTS sync_command (
        user_uuid uuid NOT NULL,
        session_uuid uuid NOT NULL,
        command_id text NOT NULL,
        number int8 NOT NULL,
        digest text NOT NULL,
        kept_until int8 NOT NULL,
        outcome text NOT NULL,
        PRIMARY KEY (user_uuid, session_uuid, command_id)
      )`,
  },
  {
    id: 'domain-0045-sync-command-by-order',
    sql: 'CREATE INDEX IF NOT EXISTS sync_command_by_order ON sync_command (user_uuid, number)',
  },
  {
    id: 'domain-0046-item-garbage',
    only: 'CockroachDB',
    sql: 'ALTER TABLE item CONFIGURE ZONE USING gc.ttlseconds = 600',
  },
  {
    id: 'domain-0047-item-part-garbage',
    only: 'CockroachDB',
    sql: 'ALTER TABLE item_part CONFIGURE ZONE USING gc.ttlseconds = 600',
  },
  {
    id: 'domain-0048-mail-by-bulk',
    sql: "CREATE INDEX IF NOT EXISTS mail_by_bulk ON mail (mailer, position) WHERE state = 'bulk'",
  },
];
