/**
 * What a sync gives of the inbox (docs/protocol/sync.md, "The inbox"): everything behind the position that the call
 * begins at, all of it without one. It is not paged: the inbox is bounded.
 *
 * A token's own position says of items and inbox alike what the client has. Where that is not the same (a page was cut,
 * no own items were asked for, an old client is given none of the inbox) the token has a cursor for the inbox as well. So a
 * token never passes a row that was not given, and the next page does not give again what this one gave.
 */
import { type RangeResult, range, type View } from '../../../runtime/command.ts';
import { head } from '../../collection/head.ts';
import { ItemSettings } from '../../collection/settings.ts';
import type { SyncReply } from '../../collection/sync-reply.ts';
import { isLegacy, type SyncRequest } from '../../collection/sync-request.ts';
import { type Cursor, decodeToken, encodeToken, tokenAt } from '../../collection/token.ts';
import type { InboxEntries } from '../../inbox-entries.ts';
import { inboundInvite } from './invites.ts';
import { received } from './messages.ts';
import { notification, notificationsMax } from './notifications.ts';
import { highestPosition, inboxSlice } from './positions.ts';
import { entriesMax } from './room.ts';
import { inboundInviteTable, inboxMessageTable, notificationTable } from './tables.ts';

/** In the place of a collection: no collection has it. */
const inboxCursor = '00000000-0000-0000-0000-000000000000';

interface InboxReads {
  readonly messages: RangeResult<typeof inboxMessageTable>;
  readonly notifications: RangeResult<typeof notificationTable>;
  readonly invites: RangeResult<typeof inboundInviteTable>;
}

/** What one sync gives of the inbox, and what its token has to say of it. */
export interface GivenInbox extends InboxEntries {
  /** Up to here the client has the inbox. */
  readonly cursor: Cursor;
  /** The user's own collection. */
  readonly own: string;
  /** Behind this position nothing came. */
  readonly highest: number;
  readonly tokenAtHead: string;
}

/** Up to where the client has the inbox afterwards. Old clients know nothing of one, and are given none of it. */
const throughOf = (view: View, request: SyncRequest): number =>
  isLegacy(request) ? startOf(view, request) : view.get(head).position;

function startOf(view: View, { cursor_token, sync_token }: SyncRequest): number {
  const token = cursor_token || sync_token;
  if (!token) return 0;
  const { position } = view.get(head);
  if (token === tokenAt(view.self.id, generationOf(view), view.get(head), position)) return position;
  const cursors = decodeToken(token) ?? [];
  const known = (collection: string): number | undefined =>
    cursors.find(
      (cursor) =>
        cursor.collection === collection &&
        cursor.generation === generationOf(view) &&
        cursor.position <= position,
    )?.position;
  return known(inboxCursor) ?? known(view.self.id) ?? 0;
}

const generationOf = (view: View): string => view.use(ItemSettings).generation;

const noPlans = {
  messages: range(inboxMessageTable, { after: 0, through: 0, limit: 0 }),
  notifications: range(notificationTable, { after: 0, through: 0, limit: 0 }),
  invites: range(inboundInviteTable, { after: 0, through: 0, limit: 0 }),
};

/** Also a device that is up to date plans for more: something may come before its turn, and is then given from memory. */
export function inboxPlans(view: View, request: SyncRequest): typeof noPlans {
  if (isLegacy(request)) return noPlans;
  const after = startOf(view, request);
  const { messages, notifications, invites } = view.get(inboxSlice);
  return {
    messages: range(inboxMessageTable, { after, through: messages, limit: entriesMax }),
    notifications: range(notificationTable, {
      after,
      through: notifications,
      limit: notificationsMax,
      subset: 'counting',
    }),
    invites: range(inboundInviteTable, { after, through: invites, limit: entriesMax }),
  };
}

/** In the turn or the read that begins the sync. */
export function givenInbox(view: View, request: SyncRequest, reads: InboxReads): GivenInbox {
  const now = view.get(head);
  const generation = generationOf(view);
  return {
    messages: reads.messages.rows.map(received),
    notifications: reads.notifications.rows.map(notification),
    shared_vault_invites: reads.invites.rows.map(inboundInvite),
    cursor: { collection: inboxCursor, generation, position: throughOf(view, request) },
    own: view.self.id,
    highest: highestPosition(view),
    tokenAtHead: tokenAt(view.self.id, generation, now, now.position),
  };
}

export function withInbox(reply: SyncReply, inbox: GivenInbox): SyncReply {
  const { messages, notifications, shared_vault_invites } = inbox;
  const sync_token = withInboxCursor(reply.sync_token, inbox);
  const isEmpty = messages.length + notifications.length + shared_vault_invites.length === 0;
  if (isEmpty && sync_token === reply.sync_token) return reply;
  const tokens = {
    sync_token,
    ...(reply.cursor_token !== undefined && { cursor_token: withInboxCursor(reply.cursor_token, inbox) }),
  };
  if (!('notifications' in reply)) return { ...reply, ...tokens };
  return { ...reply, ...tokens, messages, notifications, shared_vault_invites };
}

/** The token with a cursor for the inbox, where anything lies between that and the token's own. */
function withInboxCursor(token: string, { cursor, own, highest, tokenAtHead }: GivenInbox): string {
  if (highest === 0 || (token === tokenAtHead && cursor.position >= highest)) return token;
  const cursors = decodeToken(token) ?? [];
  const position = cursors.find(({ collection }) => collection === own)?.position ?? 0;
  if (highest <= Math.min(position, cursor.position)) return token;
  return encodeToken([...cursors, cursor]);
}
