/** What happens at five times the load, and is everything as before when it is over? */
import { peaking } from '../support/arrivals.ts';
import { profile } from '../support/environment.ts';
import { optionsOf, summaryOf } from '../support/load-test.ts';
import { mixedOperations } from '../support/mix.ts';

export { setup } from '../support/load-test.ts';
export { mix } from '../support/mix.ts';
export { watch } from '../support/watch.ts';

const { perSecond } = profile;

export const options = optionsOf(
  { mix: peaking('mix', perSecond, perSecond * 5) },
  { operations: mixedOperations, times: 4 },
);

export const handleSummary = summaryOf('spike');
