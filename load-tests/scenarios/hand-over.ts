/** Does a planned move fail a request? The steady mix, while the runner or its operator drains nodes halfway. */
import { steadily } from '../support/arrivals.ts';
import { profile } from '../support/environment.ts';
import { optionsOf, summaryOf } from '../support/load-test.ts';
import { mixedOperations } from '../support/mix.ts';

export { setup } from '../support/load-test.ts';
export { mix } from '../support/mix.ts';
export { watch } from '../support/watch.ts';

export const options = optionsOf(
  { mix: steadily('mix', profile.perSecond) },
  // A request waits while its shard is between owners.
  { operations: mixedOperations, times: 4 },
);

export const handleSummary = summaryOf('hand-over');
