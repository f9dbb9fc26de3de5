/**
 * The entries of the inbox that a sync returns (docs/protocol/sync.md, "The inbox"): all entries after the client's position. The
 * inbox is bounded, so this has no pages.
 *
 * One position of a token usually covers items and inbox. If the two differ, the token has a cursor for the inbox as well. They differ
 * if a page was cut, if the sync left out the user's own items, and for old clients, which get nothing of the inbox. So no token passes
 * an entry that was not given, and the next page does not repeat what this one gave.
 */
import { type RangeResult, range, type View } from '../../../runtime/command.ts';
import { head } from '../../collection/head.ts';
import { ItemSettings } from '../../collection/settings.ts';
import { isLegacy, type SyncReply, type SyncRequest } from '../../collection/sync-contract.ts';
import { type Cursor, decodeToken, encodeToken, tokenAt } from '../../collection/token.ts';
import type { InboxEntries } from '../../inbox-entries.ts';
import { entriesMax } from './capacity.ts';
import { inboundInvite } from './invites.ts';
import { received } from './messages.ts';
import { notification, notificationsMax } from './notifications.ts';
import { highestPosition, inboxSlice } from './positions.ts';
import { inboundInviteTable, inboxMessageTable, notificationTable } from './tables.ts';

/** Stands for the inbox where a cursor names a collection. No collection has this uuid. */
const inboxCursor = '00000000-0000-0000-0000-000000000000';

interface InboxReads {
  readonly messages: RangeResult<typeof inboxMessageTable>;
  readonly notifications: RangeResult<typeof notificationTable>;
  readonly invites: RangeResult<typeof inboundInviteTable>;
}

/** What one sync gives of the inbox, and what its token says of it. */
export interface InboxResponse extends InboxEntries {
  /** The client has the inbox up to here. */
  readonly cursor: Cursor;
  /** The user's own collection. */
  readonly own: string;
  /** Nothing has come after this position. */
  readonly highest: number;
  readonly tokenAtHead: string;
}

/** After this sync the client has the inbox up to here. Old clients know no inbox, and get nothing of it. */
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

/** A device that is up to date plans for more as well: an entry may come before its turn, and is then given from memory. */
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

/** Call in the turn or the read that begins the sync. */
export function inboxResponse(view: View, request: SyncRequest, reads: InboxReads): InboxResponse {
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

export function withInbox(reply: SyncReply, inbox: InboxResponse): SyncReply {
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

/** Adds a cursor for the inbox to the token, if there are entries between that cursor and the token's own position. */
function withInboxCursor(token: string, { cursor, own, highest, tokenAtHead }: InboxResponse): string {
  if (highest === 0 || (token === tokenAtHead && cursor.position >= highest)) return token;
  const cursors = decodeToken(token) ?? [];
  const position = cursors.find(({ collection }) => collection === own)?.position ?? 0;
  if (highest <= Math.min(position, cursor.position)) return token;
  return encodeToken([...cursors, cursor]);
}
