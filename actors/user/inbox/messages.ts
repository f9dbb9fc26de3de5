/**
 * Messages between users (docs/protocol/inbox.md, "Messages"): ciphertext that waits in the recipient's inbox until one of
 * their clients deletes it. The sender keeps a copy of what is not deleted yet.
 *
 *     sender                                   recipient
 *     copy, durable     -- messageSent ------> row, durable; pushed
 *     copy goes         <- messagesGone -----  row deleted, or no room for it
 *
 *     copy deleted      -- messagesWithdrawn-> row goes
 *     copy replaced     -- messageSent ------> row goes with the commit of the new one
 *
 * - The sender's actor decides what may be sent. The answer does not tell whether the recipient exists or reads. The actor of a
 *   user who does not exist consumes the tell, and nothing else happens.
 * - Tells come in no order. Among messages with one sender and identifier, the one sent last stays. If a message was withdrawn
 *   or replaced before it came, it is recognised (`recently-deleted.ts`).
 * - A crash at any step leaves the tell, which takes effect once. So no message is lost or doubled.
 */
import { z } from 'zod';
import { keys, type RangeResult, range, type Turn, tell, type View } from '../../../runtime/command.ts';
import { slice } from '../../../runtime/slice.ts';
import { isStorableText } from '../../../runtime/table.ts';
import { isUuid } from '../../collection/incoming.ts';
import { encryptedMessageBytesMax, type InboxMessage } from '../../inbox-entries.ts';
import { type Refused, refuse } from '../../reply.ts';
import { messageArrived, User } from '../contract.ts';
import { isActive } from '../profile.ts';
import { signedInRead, signedInTurn } from '../signed-in.ts';
import {
  bytesOf,
  countedBytes,
  entriesMax,
  grouped,
  messageCapacityBytes,
  surplus,
  totalBytes,
} from './capacity.ts';
import { Inbox } from './contract.ts';
import { inboxSlice, nextPosition } from './positions.ts';
import { isRecentlyDeleted, rememberDeleted } from './recently-deleted.ts';
import { type InboxMessageRow, inboxMessageTable, type SentMessageRow, sentMessageTable } from './tables.ts';

const identifierLengthMax = 255;

/** What one user may have sent to one other user, and to all. */
const pairCapacityBytes = 512 * 1024;
const sentCapacityBytes = 4 * 1024 * 1024;

/** The number and the time of the last message that the user has sent. */
export const sentSlice = slice({
  name: 'sent-messages',
  schema: z.object({ sequence: z.int(), micros: z.int() }),
  initial: { sequence: 0, micros: 0 },
});

const notAUuid = refuse.badRequest('The recipient has to be named by a uuid.');
const empty = refuse.badRequest('The message has no text.');
const tooLong = refuse.badRequest(`A message may have ${encryptedMessageBytesMax} bytes at most.`);
const notStorable = refuse.badRequest('The message contains characters that cannot be stored.');
const longIdentifier = refuse.badRequest(
  `A replaceability identifier may have ${identifierLengthMax} characters at most.`,
);
const tooManyToOne = refuse.badRequest(
  'There are too many messages from you that this user has not processed yet.',
);
const tooMany = refuse.badRequest('You have sent too many messages that nobody has processed yet.');
const unknown = refuse.badRequest('There is no such message.');

/** The columns that are needed before a message is added. */
const summary = [
  'uuid',
  'recipient_uuid',
  'replaceability_identifier',
  'size',
] as const satisfies (keyof SentMessageRow)[];
const inboxSummary = [
  'uuid',
  'sender_uuid',
  'replaceability_identifier',
  'size',
  'created_at',
] as const satisfies (keyof InboxMessageRow)[];

const sentPlan = (view: View, columns?: readonly (keyof SentMessageRow)[]) =>
  range(sentMessageTable, {
    after: 0,
    through: view.get(sentSlice).sequence,
    limit: entriesMax,
    ...(columns !== undefined && { columns }),
  });

export const inboxMessagesPlan = (view: View, columns?: readonly (keyof InboxMessageRow)[]) =>
  range(inboxMessageTable, {
    after: 0,
    through: view.get(inboxSlice).messages,
    limit: entriesMax,
    ...(columns !== undefined && { columns }),
  });

export const listMessages = signedInRead(Inbox.commands.listMessages, {
  reads: (view) => ({ inbox: inboxMessagesPlan(view) }),
  answer: (_view, _request, { inbox }) => ({ messages: inbox.rows.map(received) }),
});

export const listSentMessages = signedInRead(Inbox.commands.listSentMessages, {
  reads: (view) => ({ sent: sentPlan(view) }),
  answer: (_view, _request, { sent }) => ({ messages: sent.rows.map(ofSent) }),
});

interface MessageDraft {
  readonly recipientUuid: string;
  readonly text: string;
  readonly identifier: string | null;
}

function draftOf(request: {
  readonly recipient_uuid: string;
  readonly encrypted_message: string;
  readonly replaceability_identifier?: string | null | undefined;
}): MessageDraft | Refused {
  const { recipient_uuid: recipient, encrypted_message: text } = request;
  const identifier = request.replaceability_identifier || null;
  if (!isUuid(recipient)) return notAUuid;
  if (text === '') return empty;
  if (bytesOf(text) > encryptedMessageBytesMax) return tooLong;
  if ((identifier ?? '').length > identifierLengthMax) return longIdentifier;
  if (!isStorableText(text) || !isStorableText(identifier ?? '')) return notStorable;
  return { recipientUuid: recipient.toLowerCase(), text, identifier };
}

export const sendMessage = signedInTurn(Inbox.commands.sendMessage, {
  repeat: 'recorded',
  reads: (view) => ({ sent: sentPlan(view, summary) }),
  turn: (turn, request, { sent }) => {
    const draft = draftOf(request);
    if ('refused' in draft) return draft;
    const { recipientUuid, text, identifier } = draft;
    const size = countedBytes(text);
    const replaced = sent.rows.find(
      (row) =>
        identifier !== null &&
        row.recipient_uuid === recipientUuid &&
        row.replaceability_identifier === identifier,
    );
    const others = sent.rows
      .filter((row) => row !== replaced)
      .map((row) => ({ ...row, sender_uuid: turn.self.id }));
    const toThem = others.filter((row) => row.recipient_uuid === recipientUuid);
    if (totalBytes(toThem) + size > pairCapacityBytes) return tooManyToOne;
    if (totalBytes(others) + size > sentCapacityBytes) return tooMany;
    if (replaced !== undefined)
      turn.remove(sentMessageTable, { user_uuid: turn.self.id, uuid: replaced.uuid });
    const row = addSent(turn, draft, size);
    const message = ofSent(row);
    turn
      .tell(Inbox, recipientUuid)
      .messageSent({ message, ...(replaced !== undefined && { replaces: replaced.uuid }) });
    return { message };
  },
});

function addSent(
  turn: Turn,
  { recipientUuid, text, identifier }: MessageDraft,
  size: number,
): SentMessageRow {
  const before = turn.get(sentSlice);
  const micros = Math.max(turn.nowMicros, before.micros + 1);
  const row: SentMessageRow = {
    user_uuid: turn.self.id,
    uuid: turn.random.uuid(),
    sequence: before.sequence + 1,
    recipient_uuid: recipientUuid,
    encrypted_message: text,
    replaceability_identifier: identifier,
    size,
    created_at: micros,
    updated_at: micros,
  };
  turn.set(sentSlice, { sequence: row.sequence, micros });
  turn.put(sentMessageTable, row);
  return row;
}

export const deleteMessage = signedInTurn(Inbox.commands.deleteMessage, {
  reads: ({ self }, { messageUuid: uuid }) => {
    const key = isUuid(uuid) ? [{ user_uuid: self.id, uuid: uuid.toLowerCase() }] : [];
    return { inbox: keys(inboxMessageTable, key), sent: keys(sentMessageTable, key) };
  },
  turn: (turn, { messageUuid }, { inbox, sent }) => {
    if (!isUuid(messageUuid)) return unknown;
    const uuid = messageUuid.toLowerCase();
    const key = { user_uuid: turn.self.id, uuid };
    const received = inbox.get(key);
    const own = sent.get(key);
    if (received === undefined && own === undefined) return unknown;
    if (received !== undefined) removeReceived(turn, [received]);
    if (own !== undefined) withdraw(turn, [own]);
    return { success: true };
  },
});

export const deleteMessages = signedInTurn(Inbox.commands.deleteMessages, {
  reads: (view) => ({ inbox: inboxMessagesPlan(view, ['uuid', 'sender_uuid']) }),
  turn: (turn, _request, { inbox }) => {
    removeReceived(turn, inbox.rows);
    return { success: true };
  },
});

/** Also tells the senders, who then forget their copies. */
export function removeReceived(
  turn: Turn,
  rows: readonly Pick<InboxMessageRow, 'uuid' | 'sender_uuid'>[],
): void {
  for (const [senderUuid, theirs] of grouped(rows, (row) => row.sender_uuid)) {
    for (const { uuid } of theirs) turn.remove(inboxMessageTable, { user_uuid: turn.self.id, uuid });
    turn.tell(Inbox, senderUuid).messagesGone({ uuids: theirs.map(({ uuid }) => uuid) });
  }
}

/** Also tells the recipients. */
export function withdraw(turn: Turn, rows: readonly Pick<SentMessageRow, 'uuid' | 'recipient_uuid'>[]): void {
  for (const [recipientUuid, theirs] of grouped(rows, (row) => row.recipient_uuid)) {
    for (const { uuid } of theirs) turn.remove(sentMessageTable, { user_uuid: turn.self.id, uuid });
    turn.tell(Inbox, recipientUuid).messagesWithdrawn({ uuids: theirs.map(({ uuid }) => uuid) });
  }
}

export const messageSent = tell(Inbox.tells.messageSent, {
  reads: (view) => ({ inbox: inboxMessagesPlan(view, inboxSummary) }),
  turn: (turn, { message, replaces }, _sender, { inbox }) => {
    if (!isActive(turn)) return;
    if (replaces !== undefined) forget(turn, [replaces], inbox);
    if (isRecentlyDeleted(turn, message.uuid)) return;
    const others = inbox.rows.filter((row) => row.uuid !== replaces);
    const alike = others.filter((row) => isAlike(row, message));
    if (alike.some((row) => row.created_at > message.created_at_timestamp)) return;
    for (const { uuid } of alike) turn.remove(inboxMessageTable, { user_uuid: turn.self.id, uuid });
    const remaining = others.filter((row) => !alike.includes(row));
    receive(turn, message, remaining);
  },
});

const isAlike = (row: InboxMessageRow, message: InboxMessage): boolean =>
  message.replaceability_identifier !== null &&
  row.sender_uuid === message.sender_uuid &&
  row.replaceability_identifier === message.replaceability_identifier;

function receive(turn: Turn, message: InboxMessage, others: readonly InboxMessageRow[]): void {
  const row = addReceived(turn, message);
  removeReceived(turn, surplus([...others, row], messageCapacityBytes));
  turn.publish(User, messageArrived(turn.self.id, turn.nowMicros, message));
}

/** Stores a message that has come, at the next position. */
export function addReceived(turn: Turn, message: Omit<InboxMessage, 'recipient_uuid'>): InboxMessageRow {
  const row: InboxMessageRow = {
    user_uuid: turn.self.id,
    uuid: message.uuid,
    position: nextPosition(turn, 'messages').position,
    sender_uuid: message.sender_uuid,
    encrypted_message: message.encrypted_message,
    replaceability_identifier: message.replaceability_identifier,
    size: countedBytes(message.encrypted_message),
    created_at: message.created_at_timestamp,
    updated_at: message.updated_at_timestamp,
  };
  turn.put(inboxMessageTable, row);
  return row;
}

export const messagesWithdrawn = tell(Inbox.tells.messagesWithdrawn, {
  reads: (view) => ({ inbox: inboxMessagesPlan(view, ['uuid']) }),
  turn: (turn, { uuids }, _sender, { inbox }) => {
    if (isActive(turn)) forget(turn, uuids, inbox);
  },
});

function forget(turn: Turn, uuids: readonly string[], inbox: RangeResult<typeof inboxMessageTable>): void {
  const here = new Set(inbox.rows.map(({ uuid }) => uuid));
  for (const uuid of uuids) {
    if (here.has(uuid)) turn.remove(inboxMessageTable, { user_uuid: turn.self.id, uuid });
  }
  rememberDeleted(
    turn,
    uuids.filter((uuid) => !here.has(uuid)),
  );
}

export const messagesGone = tell(Inbox.tells.messagesGone, (turn, { uuids }) => {
  for (const uuid of uuids) turn.remove(sentMessageTable, { user_uuid: turn.self.id, uuid });
});

export const received = (row: InboxMessageRow): InboxMessage =>
  messageOf(row, row.sender_uuid, row.user_uuid);
const ofSent = (row: SentMessageRow): InboxMessage => messageOf(row, row.user_uuid, row.recipient_uuid);

function messageOf(
  row: InboxMessageRow | SentMessageRow,
  sender_uuid: string,
  recipient_uuid: string,
): InboxMessage {
  return {
    uuid: row.uuid,
    recipient_uuid,
    sender_uuid,
    encrypted_message: row.encrypted_message,
    replaceability_identifier: row.replaceability_identifier,
    created_at_timestamp: row.created_at,
    updated_at_timestamp: row.updated_at,
  };
}
