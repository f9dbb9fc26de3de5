/** Does it stay as it is for hours? The steady mix at half its rate, twenty times as long: watch memory and p99 over the run. */
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
  { mix: steadily('mix', perSecond / 2), push: steadily('push', perSecond / 100, 2) },
  { operations: [...mixedOperations, 'socket-token'], sockets: true, pushes: true },
);

export const handleSummary = summaryOf('soak');
