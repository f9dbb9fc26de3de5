/** Counts how often an account publishes to a code host (docs/protocol/code-host.md). Neither token nor text reaches the actor. */
import { z } from 'zod';
import { contract } from '../../../runtime/contract.ts';
import { openToBridges, signedIn } from '../../signed-in.ts';

const nothing = z.object({});

const commands = {
  /** Counts one attempt. Refusals: 429 after ten within a minute. */
  spendPublishing: signedIn({
    access: 'writes',
    bearerSuffices: true,
    fields: nothing,
    ok: nothing,
  }),
};

export const CodePublishing = contract({
  name: 'user',
  commands: openToBridges(commands),
});
