/** What do new devices that fetch everything cost the clients that only look for news? */
import { Trend } from 'k6/metrics';
import { steadily } from '../support/arrivals.ts';
import { call } from '../support/call.ts';
import { profile } from '../support/environment.ts';
import { syncCall, synced } from '../support/items.ts';
import { optionsOf, summaryOf } from '../support/load-test.ts';
import { tokenOf } from '../support/mix.ts';
import { libraries, nextOf } from '../support/users.ts';

export { setup } from '../support/load-test.ts';
export { idleSync } from '../support/mix.ts';
export { watch } from '../support/watch.ts';

const { perSecond } = profile;

export const options = optionsOf(
  { idleSync: steadily('idleSync', perSecond), firstSync: steadily('firstSync', perSecond / 50, 10) },
  { operations: ['idle-sync', 'first-sync'] },
);

const whole = new Trend('first_sync', true);

/** Page by page until there is no more. */
export function firstSync(): void {
  const { accessTokens, notes } = nextOf(libraries);
  const beganMs = Date.now();
  const token = tokenOf(accessTokens);
  let tokens: { syncToken?: string; cursorToken?: string } = {};
  let items = 0;
  for (;;) {
    const reply = call(syncCall({ operation: 'first-sync', token, ...tokens }), (of) => {
      const data = synced(of);
      // The last page is right only if nothing is missing.
      const isWhole = data?.cursor_token || items + (data?.retrieved_items.length ?? 0) >= notes;
      return isWhole ? data : undefined;
    });
    if (reply === undefined) return;
    items += reply.retrieved_items.length;
    if (!reply.cursor_token) break;
    tokens = { syncToken: reply.sync_token, cursorToken: reply.cursor_token };
  }
  whole.add(Date.now() - beganMs);
}

export const handleSummary = summaryOf('first-sync');
