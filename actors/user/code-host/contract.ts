/** Counts how often an account publishes to a code host (docs/protocol/code-host.md). Neither token nor text reaches the actor. */
import { contract } from '../../../runtime/contract.ts';
import { openToBridges, writes } from '../../signed-in.ts';

export const CodePublishing = contract({
  name: 'user',
  commands: openToBridges({
    /** Counts one attempt. Refusals: 429 after ten within a minute. */
    spendPublishing: writes({ bearerSuffices: true }),
  }),
});
