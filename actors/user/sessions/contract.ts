/** What is asked of the sessions of an account (docs/protocol/authentication.md). */
import { z } from 'zod';
import { contract } from '../../../runtime/contract.ts';
import { deviceSchema, issuedSchema, sessionEntrySchema } from '../../identity/session.ts';
import { credentialsSchema } from '../../identity/session-tokens.ts';
import { answerSchema } from '../../reply.ts';
import { signedIn } from '../../signed-in.ts';

const nothing = z.object({});

export const Sessions = contract({
  name: 'user',
  commands: {
    /**
     * The proof is in the request. Refusals: 400 of docs/protocol/authentication.md, "Refresh", 429 after too many
     * within the grace.
     */
    refresh: {
      request: z.object({
        /** Finds the session and proves the access half. */
        access: credentialsSchema,
        /** Prove the refresh half; of the style of `access`. */
        refreshSecrets: z.array(z.string()).readonly(),
        apiVersion: z.string(),
        device: deviceSchema,
      }),
      reply: answerSchema(issuedSchema),
    },

    /**
     * Ends the session of the credentials. An expired access token will do, its secret must match
     * (docs/protocol/authentication.md, "Logout").
     */
    logout: {
      request: z.object({ credentials: credentialsSchema }),
      reply: answerSchema(z.object({ sessionUuid: z.string() })),
    },

    /** Newest refresh expiry first. A read-only session is shown none. */
    listSessions: signedIn({
      access: 'reads',
      fields: nothing,
      ok: z.array(sessionEntrySchema),
    }),

    /** Refusals: 400 for the caller's own session and for one that is not there. */
    deleteSession: signedIn({
      access: 'writes',
      fields: z.object({ sessionUuid: z.string() }),
      ok: nothing,
    }),
    deleteOtherSessions: signedIn({
      access: 'writes',
      fields: nothing,
      ok: nothing,
    }),

    /**
     * Whether there is a living session, and which (docs/protocol/authentication.md, "Validation for other services").
     */
    validateSession: signedIn({
      access: 'reads',
      fields: nothing,
      ok: z.object({ sessionUuid: z.string(), readonly: z.boolean() }),
    }),
    /** The same for routes that take the bearer of a cookie-style session without its cookie. */
    validateBearer: signedIn({
      access: 'reads',
      bearerSuffices: true,
      fields: nothing,
      ok: nothing,
    }),

    /**
     * For gateways alone: which of these sessions, for which one has or is about to open sockets, are still alive. If
     * any is, the gateway is subscribed to this user from then on. No access token is asked for: a socket outlives its
     * own.
     */
    openSocket: {
      request: z.object({ gateway: z.string(), sessions: z.array(z.string()).readonly() }),
      reply: z.object({
        living: z.array(z.string()).readonly(),
        /** The incarnation of the host that events will come from; undefined where none will. */
        host: z.string().optional(),
        /** The vaults where the user is a member, with the numbers of the memberships: a hint. */
        vaults: z.record(z.string(), z.number()).optional(),
        /** When the first of the living ends by its age, of which nobody is told. */
        endsInMs: z.number().optional(),
      }),
    },
  },
});
