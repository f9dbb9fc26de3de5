/** A gateway or a proxy has failed, and all its devices come back in seconds: a token, a socket and a sync each. */
import { setTimeout } from 'k6/timers';
import { peaking, steadily } from '../support/arrivals.ts';
import { asyncCall } from '../support/call.ts';
import { profile } from '../support/environment.ts';
import { idle, syncCall } from '../support/items.ts';
import { optionsOf, ownConnections, summaryOf } from '../support/load-test.ts';
import { tokenOf } from '../support/mix.ts';
import { openSocket } from '../support/socket.ts';
import { idleUsers, nextOf } from '../support/users.ts';

export { setup } from '../support/load-test.ts';
export { idleSync } from '../support/mix.ts';
export { watch } from '../support/watch.ts';

const { perSecond } = profile;
const heldMs = 5_000;

export const options = {
  ...optionsOf(
    {
      idleSync: steadily('idleSync', perSecond / 2),
      reconnect: peaking('reconnect', perSecond / 20, perSecond, heldMs / 1_000 + 1),
    },
    { operations: ['idle-sync', 'socket-token', 'catch-up'], sockets: true, times: 2 },
  ),
  ...ownConnections,
};

export async function reconnect(): Promise<void> {
  const { accessTokens, syncToken } = nextOf(idleUsers);
  const token = tokenOf(accessTokens);
  const socket = await openSocket(token, () => undefined);
  if (socket === undefined) return;
  await asyncCall(syncCall({ operation: 'catch-up', token, syncToken }), idle);
  await new Promise<void>((resolve) => void setTimeout(resolve, heldMs));
  socket.close();
}

export const handleSummary = summaryOf('reconnect-storm');
