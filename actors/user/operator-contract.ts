/**
 * What operators may ask of a user. No session is checked here, so no client may ever reach these commands:
 * they are kept apart from `User`, and a lint rule closes this file to the gateway. The transport is no way
 * in either: only processes of the cluster can use it.
 */
import { z } from 'zod';
import { contract } from '../../runtime/contract.ts';

const nothing = z.object({});

export const UserAdministration = contract({
  name: 'user',
  commands: {
    operatorShow: {
      request: nothing,
      reply: z.object({
        /** `deleted`: by its owner; what it left is being removed, and its address is free. */
        state: z.enum(['active', 'deleted']),
        email: z.string(),
        workspace: z.string(),
        protocolVersion: z.string(),
        createdAtMs: z.number(),
        /** Those that can still be used or refreshed. */
        sessions: z.number(),
        /** Rows of the user's own collection, tombstones included, and their size. */
        items: z.number(),
        itemBytes: z.number(),
        roles: z.array(z.string()),
        readonly: z.boolean(),
      }),
    },
    /** They are not remembered as revoked: clients of a revoked session wipe their data, these should sign in again. */
    operatorEndSessions: { request: nothing, reply: z.object({ ended: z.number() }) },

    /** Of an active account, until an operator says otherwise, whatever `ADMIN_EMAILS` lists. */
    operatorSetAdministrator: {
      request: z.object({ administrator: z.boolean() }),
      /** Whether this changed anything. */
      reply: z.object({ changed: z.boolean() }),
    },
  },
});
