/** What is asked of an account about publishing to a code host (docs/protocol/code-host.md): neither token nor text comes here. */
import { z } from 'zod';
import { signedIn } from '../../signed-in.ts';

const nothing = z.object({});

export const codeHostShapes = {
  /** Counts one attempt. Refusals: 429 after ten in a minute. */
  spendPublishing: signedIn({
    access: 'writes',
    bearerAlone: true,
    fields: nothing,
    ok: nothing,
  }),
};
