/** What a deleted account leaves in inboxes, its own and others', is removed in bounded parts. */

import { type PlanResults, range, type Turn, type View } from '../../../runtime/command.ts';
import { Vault } from '../../vault/contract.ts';
import { purging } from '../hooks.ts';
import { removeReceived, sentSlice, withdraw } from './messages.ts';
import { inboxSlice } from './positions.ts';
import { inboundInviteTable, inboxMessageTable, notificationTable, sentMessageTable } from './tables.ts';

/** Each may be a tell. */
const messagesPerTurn = 100;
const rowsPerTurn = 500;

function plansOf(view: View) {
  const { messages, notifications, invites } = view.get(inboxSlice);
  return {
    messages: range(inboxMessageTable, {
      after: 0,
      through: messages,
      limit: messagesPerTurn,
      columns: ['uuid', 'sender_uuid'],
    }),
    sent: range(sentMessageTable, {
      after: 0,
      through: view.get(sentSlice).sequence,
      limit: messagesPerTurn,
      columns: ['uuid', 'recipient_uuid'],
    }),
    notifications: range(notificationTable, {
      after: 0,
      through: notifications,
      limit: rowsPerTurn,
      columns: ['subject'],
    }),
    invites: range(inboundInviteTable, {
      after: 0,
      through: invites,
      limit: rowsPerTurn,
      columns: ['vault_uuid'],
    }),
  };
}

/** False once nothing is left. */
function purgeSome(
  turn: Turn,
  { messages, sent, notifications, invites }: PlanResults<ReturnType<typeof plansOf>>,
): boolean {
  const user_uuid = turn.self.id;
  // Nobody waits for an answer to an invite that cannot come any more.
  for (const { vault_uuid } of invites.rows) turn.tell(Vault, vault_uuid).userGone();
  removeReceived(turn, messages.rows);
  withdraw(turn, sent.rows);
  for (const { subject } of notifications.rows) turn.remove(notificationTable, { user_uuid, subject });
  for (const { vault_uuid } of invites.rows) turn.remove(inboundInviteTable, { user_uuid, vault_uuid });
  return ![messages, sent, notifications, invites].every(({ complete }) => complete);
}

export const inboxPurge = purging({
  reads: plansOf,
  turn: (turn, reads) => ({ left: purgeSome(turn, reads) ? 'more' : 'nothing' }),
});
