/** Devices that save and pull over the sync lane, and a peak in which they all dial again: ticket, AUTH and a pull each. */
import { setTimeout } from 'k6/timers';
import { peaking, steadily } from '../support/arrivals.ts';
import { profile } from '../support/environment.ts';
import { openLane, pull, save } from '../support/lane.ts';
import { optionsOf, ownConnections, summaryOf } from '../support/load-test.ts';
import { tokenOf } from '../support/mix.ts';
import { idleUsers, nextOf, writingUsers } from '../support/users.ts';

export { setup } from '../support/load-test.ts';
export { idleSync } from '../support/mix.ts';
export { watch } from '../support/watch.ts';

const { perSecond } = profile;
const commandsOfDevice = 10;
const heldMs = 5_000;

export const options = {
  ...optionsOf(
    {
      idleSync: steadily('idleSync', perSecond / 2),
      commands: steadily('commands', perSecond / commandsOfDevice, 2),
      redial: peaking('redial', perSecond / 20, perSecond, heldMs / 1_000 + 1),
    },
    { operations: ['idle-sync', 'lane-ticket'], lane: true, times: 2 },
  ),
  ...ownConnections,
};

/** One of five commands saves a note. */
export async function commands(): Promise<void> {
  const { accessTokens, syncToken } = nextOf(writingUsers);
  const client = await openLane(tokenOf(accessTokens));
  if (client === undefined) return;
  let token = syncToken;
  for (let command = 0; command < commandsOfDevice; command += 1) {
    const reply = await (command % 5 === 0 ? save : pull)(client, token);
    token = reply?.sync_token ?? token;
  }
  client.close();
}

export async function redial(): Promise<void> {
  const { accessTokens, syncToken } = nextOf(idleUsers);
  const client = await openLane(tokenOf(accessTokens));
  if (client === undefined) return;
  await pull(client, syncToken);
  await new Promise<void>((resolve) => void setTimeout(resolve, heldMs));
  client.close();
}

export const handleSummary = summaryOf('sync-lane');
