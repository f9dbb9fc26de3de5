/**
 * Does the server stay the same for hours? The steady mix, twenty times as long as other scenarios: watch memory and
 * p99 over the run.
 */
import { steadily } from '../support/arrivals.ts';
import { profile } from '../support/environment.ts';
import { optionsOf, summaryOf } from '../support/load-test.ts';
import { mixedOperations } from '../support/mix.ts';

export { setup } from '../support/load-test.ts';
export { mix } from '../support/mix.ts';
export { push } from '../support/push.ts';
export { watch } from '../support/watch.ts';

const { perSecond } = profile;

export const options = optionsOf(
  { mix: steadily('mix', perSecond), push: steadily('push', perSecond / 50, 2) },
  { operations: [...mixedOperations, 'socket-token'], sockets: true, pushes: true },
);

export const handleSummary = summaryOf('soak');
