/** Imports the messages and notifications that an account has received on another server and not processed yet, in one commit. */
import type { z } from 'zod';
import { command, type RangeResult, range, type Turn, type View } from '../../../runtime/command.ts';
import type { importedMessageSchema, importedNotificationSchema } from '../../import/messages.ts';
import { UserImport } from '../../import/operator-contract.ts';
import { isWritable, notWritable } from '../../import/phase.ts';
import { notificationTypes } from '../../inbox-entries.ts';
import { answerOf } from '../../reply.ts';
import { countedBytes, messageCapacityBytes, surplus } from '../inbox/capacity.ts';
import { addReceived, inboxMessagesPlan } from '../inbox/messages.ts';
import { notificationsMax, subjectOfPayload } from '../inbox/notifications.ts';
import { inboxSlice, nextPosition } from '../inbox/positions.ts';
import { inboxMessageTable, type NotificationRow, notificationTable } from '../inbox/tables.ts';

type ImportedMessage = z.infer<typeof importedMessageSchema>;
type ImportedNotification = z.infer<typeof importedNotificationSchema>;

export const notificationsPlan = (view: View) =>
  range(notificationTable, {
    after: 0,
    through: view.get(inboxSlice).notifications,
    limit: notificationsMax,
  });

export const importInbox = command(UserImport.commands.importInbox, {
  reads: (view) => ({ messages: inboxMessagesPlan(view), notifications: notificationsPlan(view) }),
  turn: (turn, imported, before) => {
    if (!isWritable(turn)) return notWritable;
    return answerOf({
      messages: writeMessages(turn, imported.messages, before.messages),
      notifications: writeNotifications(turn, imported.notifications, before.notifications),
    });
  },
});

function writeMessages(
  turn: Turn,
  imported: readonly ImportedMessage[],
  { rows }: RangeResult<typeof inboxMessageTable>,
): number {
  const sized = imported.map((each) => ({
    ...each,
    sender_uuid: each.senderUuid,
    size: countedBytes(each.encryptedMessage),
  }));
  const gone = surplus(sized, messageCapacityBytes);
  const fitting = sized.filter((each) => !gone.includes(each));
  const uuids = new Set(fitting.map(({ uuid }) => uuid));
  const known = new Map(rows.map((row) => [row.uuid, row.encrypted_message]));
  for (const uuid of known.keys()) {
    if (!uuids.has(uuid)) turn.remove(inboxMessageTable, { user_uuid: turn.self.id, uuid });
  }
  for (const each of fitting.filter(({ uuid, encryptedMessage }) => known.get(uuid) !== encryptedMessage)) {
    addReceived(turn, {
      uuid: each.uuid,
      sender_uuid: each.senderUuid,
      encrypted_message: each.encryptedMessage,
      replaceability_identifier: each.replaceabilityIdentifier ?? null,
      created_at_timestamp: each.createdAt,
      updated_at_timestamp: each.updatedAt,
    });
  }
  return fitting.length;
}

/** One for each subject: the latest. */
function writeNotifications(
  turn: Turn,
  imported: readonly ImportedNotification[],
  { rows }: RangeResult<typeof notificationTable>,
): number {
  const latest = new Map<string, ImportedNotification>();
  const isKnown = ({ type }: ImportedNotification) => (notificationTypes as readonly string[]).includes(type);
  const inOrder = imported.filter(isKnown).toSorted((a, b) => a.createdAt - b.createdAt);
  for (const each of inOrder) latest.set(subjectOfPayload(each.payload) ?? each.uuid, each);
  const newest = new Map([...latest].slice(-notificationsMax));
  const known = new Map(rows.map((row) => [row.subject, row]));
  for (const subject of known.keys()) {
    if (!newest.has(subject)) turn.remove(notificationTable, { user_uuid: turn.self.id, subject });
  }
  for (const [subject, each] of newest) {
    if (known.get(subject)?.uuid === each.uuid) continue;
    const row: NotificationRow = {
      user_uuid: turn.self.id,
      subject,
      position: nextPosition(turn, 'notifications').position,
      uuid: each.uuid,
      type: each.type,
      payload: each.payload,
      happened_at: 0,
      cleared: false,
      created_at: each.createdAt,
      updated_at: each.updatedAt,
    };
    turn.put(notificationTable, row);
  }
  turn.set(inboxSlice, { ...turn.get(inboxSlice), notificationCount: newest.size });
  return newest.size;
}
