/**
 * The rows of an inbox, and copies of what its user has sent. Positions come from the head of the user's collection. So one
 * position in a sync token covers items and inbox.
 */
import { type RowOf, table } from '../../../runtime/table.ts';

export const inboxMessageTable = table({
  name: 'inbox_message',
  columns: {
    /** The recipient. */
    user_uuid: 'uuid',
    uuid: 'uuid',
    position: 'int8',
    sender_uuid: 'uuid',
    encrypted_message: 'text',
    replaceability_identifier: 'text?',
    /** The room that it takes (`capacity.ts`). */
    size: 'int8',
    created_at: 'int8',
    updated_at: 'int8',
  },
  key: ['user_uuid', 'uuid'],
  order: 'position',
});
export type InboxMessageRow = RowOf<typeof inboxMessageTable>;

export const notificationTable = table({
  name: 'inbox_notification',
  columns: {
    user_uuid: 'uuid',
    /** What it is about. There is one row for each subject (`notifications.ts`). */
    subject: 'text',
    position: 'int8',
    uuid: 'uuid',
    type: 'text',
    payload: 'text',
    /** The position of the vault's head when it happened. */
    happened_at: 'int8',
    /** It no longer counts. The row recognises an earlier notification that comes late. */
    cleared: 'bool',
    created_at: 'int8',
    updated_at: 'int8',
  },
  key: ['user_uuid', 'subject'],
  order: 'position',
  subsets: { counting: { column: 'cleared', values: [false], indexed: false } },
});
export type NotificationRow = RowOf<typeof notificationTable>;

export const inboundInviteTable = table({
  name: 'inbox_invite',
  columns: {
    /** The invitee. */
    user_uuid: 'uuid',
    vault_uuid: 'uuid',
    position: 'int8',
    uuid: 'uuid',
    sender_uuid: 'uuid',
    permission: 'text',
    encrypted_message: 'text',
    size: 'int8',
    created_at: 'int8',
    updated_at: 'int8',
  },
  key: ['user_uuid', 'vault_uuid'],
  order: 'position',
});
export type InboundInviteRow = RowOf<typeof inboundInviteTable>;

export const sentMessageTable = table({
  name: 'sent_message',
  columns: {
    /** The sender. */
    user_uuid: 'uuid',
    uuid: 'uuid',
    /** Its number among all messages that the user has ever sent. */
    sequence: 'int8',
    recipient_uuid: 'uuid',
    encrypted_message: 'text',
    replaceability_identifier: 'text?',
    size: 'int8',
    created_at: 'int8',
    updated_at: 'int8',
  },
  key: ['user_uuid', 'uuid'],
  order: 'sequence',
});
export type SentMessageRow = RowOf<typeof sentMessageTable>;
