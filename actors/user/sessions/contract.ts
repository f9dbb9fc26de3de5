/** The commands for the sessions of an account (docs/protocol/authentication.md). */
import { z } from 'zod';
import { contract } from '../../../runtime/contract.ts';
import { deviceSchema, issuedSchema, sessionEntrySchema } from '../../identity/session.ts';
import { credentialsSchema } from '../../identity/session-tokens.ts';
import { answerSchema } from '../../reply.ts';
import { reads, writes } from '../../signed-in.ts';

export const Sessions = contract({
  name: 'user',
  commands: {
    /**
     * The proof is in the request. Refusals: the 400s of docs/protocol/authentication.md, "Refresh"; 429 after too many
     * refreshes.
     */
    refresh: {
      request: z.object({
        /** Finds the session, and proves the access half. */
        access: credentialsSchema,
        /** Prove the refresh half, in the style of `access`. */
        refreshSecrets: z.array(z.string()).readonly(),
        apiVersion: z.string(),
        device: deviceSchema,
      }),
      reply: answerSchema(issuedSchema),
    },

    /**
     * Ends the session of the credentials (docs/protocol/authentication.md, "Logout"). An expired access token is enough, if
     * its secret is right.
     */
    logout: {
      request: z.object({ credentials: credentialsSchema }),
      reply: answerSchema(z.object({ sessionUuid: z.string() })),
    },

    /** The latest refresh expiry first. A read-only session gets an empty list. */
    listSessions: reads({ ok: z.array(sessionEntrySchema) }),

    /** Refusals: 400 for the caller's own session, and for one that does not exist. */
    deleteSession: writes({ fields: z.object({ sessionUuid: z.string() }) }),
    deleteOtherSessions: writes(),

    /** Tells other services whose session it is (docs/protocol/authentication.md, "Validation for other services"). */
    validateSession: reads({ ok: z.object({ sessionUuid: z.string(), readonly: z.boolean() }) }),
    /** The same for routes that take the bearer of a cookie-style session without its cookie. */
    validateBearer: reads({ bearerSuffices: true }),

    /**
     * For gateways alone. Says which of these sessions are alive, for sockets that are open or about to open. If any is, the
     * gateway gets the user's events from then on. A socket outlives its access token, so none is asked for.
     */
    openSocket: {
      request: z.object({ gateway: z.string(), sessions: z.array(z.string()).readonly() }),
      reply: z.object({
        living: z.array(z.string()).readonly(),
        /** The incarnation of the host that sends the events; undefined: there will be none. */
        host: z.string().optional(),
        /** The user's vaults, with the numbers of the memberships: a hint. */
        vaults: z.record(z.string(), z.number()).optional(),
        /** When the first of the living ends by its age, which no event tells. */
        endsInMs: z.number().optional(),
      }),
    },
  },
});
