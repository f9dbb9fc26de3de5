/**
 * Notifications (docs/protocol/inbox.md, "Notifications"): what vaults tell their members. A sync gives each until another
 * replaces it.
 *
 * Each subject has one row. A new notification replaces it under a new uuid, so clients act on it again. Only one vault tells
 * of a subject, and its tells come in no order: `at` says which happened later. A notification that no longer counts leaves a
 * `cleared` row, which recognises an earlier one that comes late.
 *
 * If there are too many rows, the oldest go.
 */
import { z } from 'zod';
import {
  type KeysResult,
  keys,
  type RangeResult,
  range,
  type Turn,
  tell,
  type View,
} from '../../../runtime/command.ts';
import type { Notification } from '../../inbox-entries.ts';
import { notificationAdded, User } from '../contract.ts';
import { isActive } from '../profile.ts';
import { Inbox, type Subject } from './contract.ts';
import { inboxSlice, nextPosition } from './positions.ts';
import { type NotificationRow, notificationTable } from './tables.ts';

/** Four hundred bytes each, and a first sync gives all of them. */
export const notificationsMax = 1_000;

type NotificationRows = KeysResult<typeof notificationTable>;
type Oldest = RangeResult<typeof notificationTable>;
interface Reads {
  readonly known: NotificationRows;
  readonly oldest: Oldest;
}

const otherOf = (subject: Subject): { id: string; type: string } | undefined => {
  if ('itemUuid' in subject) return { id: subject.itemUuid, type: 'item_uuid' };
  if ('userUuid' in subject) return { id: subject.userUuid, type: 'user_uuid' };
  return undefined;
};

/** Clients know the key by this spelling, and refuse a payload without it. */
function payloadOf(subject: Subject): string {
  const common = { version: '1.0', type: subject.type };
  if ('inviteUuid' in subject) {
    return JSON.stringify({
      ...common,
      primaryIdentifier: subject.inviteUuid,
      primaryIndentifierType: 'shared_vault_invite_uuid',
      secondaryIdentifier: subject.vaultUuid,
      secondaryIdentifierType: 'shared_vault_uuid',
    });
  }
  const other = otherOf(subject);
  return JSON.stringify({
    ...common,
    primaryIdentifier: subject.vaultUuid,
    primaryIndentifierType: 'shared_vault_uuid',
    ...(other !== undefined && { secondaryIdentifier: other.id, secondaryIdentifierType: other.type }),
  });
}

const subjectText = (subject: Subject): string => {
  const other = 'inviteUuid' in subject ? subject.inviteUuid : (otherOf(subject)?.id ?? '');
  return [subject.type, subject.vaultUuid, other].join(':');
};

const payloadSchema = z.object({
  type: z.string(),
  primaryIdentifier: z.string(),
  secondaryIdentifier: z.string().optional(),
});

/** For a payload that another server wrote. Undefined: it is not the payload of a notification. */
export function subjectOfPayload(payload: string): string | undefined {
  try {
    const {
      type,
      primaryIdentifier: first,
      secondaryIdentifier: second,
    } = payloadSchema.parse(JSON.parse(payload));
    const isOfInvite = type === 'shared_vault_invite_canceled';
    return isOfInvite ? [type, second ?? '', first].join(':') : [type, first, second ?? ''].join(':');
  } catch {
    return undefined;
  }
}

const keyOf = (view: View, subject: Subject) => ({ user_uuid: view.self.id, subject: subjectText(subject) });

const plansOf = (view: View, subjects: readonly Subject[]) => ({
  known: keys(
    notificationTable,
    subjects.map((subject) => keyOf(view, subject)),
  ),
  oldest: range(notificationTable, {
    after: 0,
    through: view.get(inboxSlice).notifications,
    // The rows that this turn writes may be the oldest, and move.
    limit: 2 * subjects.length,
    columns: ['subject'],
  }),
});

export const notified = tell(Inbox.tells.notified, {
  reads: (view, { subject }) => plansOf(view, [subject]),
  turn: (turn, { subject, at }, _sender, reads) => {
    if (isActive(turn)) notifyUser(turn, [subject], at, reads);
  },
});

export const itemsRemovedTell = tell(Inbox.tells.itemsRemoved, {
  reads: (view, { vaultUuid, itemUuids }) => plansOf(view, itemsRemoved(vaultUuid, itemUuids)),
  turn: (turn, { vaultUuid, itemUuids, at }, _sender, reads) => {
    if (isActive(turn)) notifyUser(turn, itemsRemoved(vaultUuid, itemUuids), at, reads);
  },
});

/** The rows that a turn needs to notify the user of these. */
export const notifyPlans = plansOf;

export function notifyUser(
  turn: Turn,
  subjects: readonly Subject[],
  at: number,
  { known, oldest }: Reads,
): void {
  for (const subject of subjects) {
    const before = known.get(keyOf(turn, subject));
    if ((before?.happened_at ?? 0) > at) continue;
    const row = write(turn, subject, before, { happened_at: at, cleared: false });
    turn.publish(User, notificationAdded(notification(row)));
  }
  removeOldest(turn, oldest, subjects);
}

function write(
  turn: Turn,
  subject: Subject,
  before: NotificationRow | undefined,
  sent: Pick<NotificationRow, 'happened_at' | 'cleared'>,
): NotificationRow {
  const { position, micros } = nextPosition(turn, 'notifications');
  const row: NotificationRow = {
    ...keyOf(turn, subject),
    position,
    uuid: turn.random.uuid(),
    type: subject.type,
    payload: payloadOf(subject),
    ...sent,
    created_at: micros,
    updated_at: micros,
  };
  turn.put(notificationTable, row);
  if (before === undefined) count(turn, 1);
  return row;
}

function count(turn: Turn, more: number): void {
  const before = turn.get(inboxSlice);
  turn.set(inboxSlice, { ...before, notificationCount: before.notificationCount + more });
}

/** Keeps the rows that this turn wrote. `removed` are gone already. */
function removeOldest(
  turn: Turn,
  { rows }: Oldest,
  written: readonly Subject[],
  removed: ReadonlySet<string> = new Set(),
): void {
  const retained = new Set(written.map(subjectText));
  for (const { subject } of rows) {
    if (turn.get(inboxSlice).notificationCount <= notificationsMax) return;
    if (!retained.has(subject) && !removed.has(subject)) remove(turn, subject);
  }
}

function remove(turn: Turn, subject: string): void {
  turn.remove(notificationTable, { user_uuid: turn.self.id, subject });
  count(turn, -1);
}

/** The rows that a turn needs to clear these. */
export const clearPlans = plansOf;

/** Notifications about these no longer count if they happened before `at`. */
export function clear(
  turn: Turn,
  subjects: readonly Subject[],
  at: number,
  { known, oldest, removed }: Reads & { readonly removed?: ReadonlySet<string> },
): void {
  for (const subject of subjects) {
    const before = known.get(keyOf(turn, subject));
    if ((before?.happened_at ?? 0) >= at) continue;
    write(turn, subject, before, { happened_at: at, cleared: true });
  }
  removeOldest(turn, oldest, subjects, removed);
}

export const selfRemoved = (vaultUuid: string): Subject => ({
  type: 'self_removed_from_shared_vault',
  vaultUuid,
});

export const rejoined = tell(Inbox.tells.rejoined, {
  reads: (view, { vaultUuid }) => clearPlans(view, [selfRemoved(vaultUuid)]),
  turn: (turn, { vaultUuid, at }, _sender, reads) => {
    if (isActive(turn)) clear(turn, [selfRemoved(vaultUuid)], at, reads);
  },
});

const itemsRemoved = (vaultUuid: string, itemUuids: readonly string[]): readonly Subject[] =>
  itemUuids.map((itemUuid) => ({ type: 'shared_vault_item_removed', vaultUuid, itemUuid }));

export const itemsRejoined = tell(Inbox.tells.itemsRejoined, {
  reads: (view, { vaultUuid, itemUuids, byYou }) => ({
    ...clearPlans(view, itemsRemoved(vaultUuid, itemUuids)),
    all: range(notificationTable, {
      after: 0,
      through: byYou ? view.get(inboxSlice).notifications : 0,
      limit: notificationsMax,
      columns: ['subject', 'type', 'cleared'],
    }),
  }),
  turn: (turn, { vaultUuid, itemUuids, byYou, at }, _sender, { all, ...reads }) => {
    if (!isActive(turn)) return;
    const theirs = itemsRemoved(vaultUuid, itemUuids);
    const retained = new Set(theirs.map(subjectText));
    const rows = byYou ? all.rows : [];
    const sent = rows.filter(({ type, cleared }) => type === 'shared_vault_item_removed' && !cleared);
    const removed = new Set(sent.map(({ subject }) => subject).filter((subject) => !retained.has(subject)));
    for (const subject of removed) remove(turn, subject);
    clear(turn, theirs, at, { ...reads, removed });
  },
});

export function notification(row: NotificationRow): Notification {
  return {
    uuid: row.uuid,
    user_uuid: row.user_uuid,
    type: row.type as Notification['type'],
    payload: row.payload,
    created_at_timestamp: row.created_at,
    updated_at_timestamp: row.updated_at,
  };
}
