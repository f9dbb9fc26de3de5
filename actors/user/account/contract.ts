/** What is asked of an account as a whole: to begin, to open sessions, to change its credentials, to end. */
import { z } from 'zod';
import { contract } from '../../../runtime/contract.ts';
import { keyParamsSchema, sentKeyParamsSchema } from '../../identity/key-params.ts';
import { deviceSchema, grantedSchema, signInReplySchema } from '../../identity/session.ts';
import { mailOutcomeSchema } from '../../mailer/contract.ts';
import { answerSchema } from '../../reply.ts';
import { signedIn } from '../../signed-in.ts';

const nothing = z.object({});

export const Account = contract({
  name: 'user',
  commands: {
    /**
     * Sent to an actor that does not exist yet; the gateway makes its id from the call. Refusals: 400 of
     * docs/protocol/authentication.md, "Registration".
     */
    register: {
      request: z.object({
        /** Normalised. */
        email: z.string(),
        workspace: z.string(),
        password: z.string(),
        keyParams: sentKeyParamsSchema,
        apiVersion: z.string(),
        ephemeral: z.boolean(),
        hvmToken: z.string().optional(),
        device: deviceSchema,
      }),
      reply: answerSchema(signInReplySchema),
    },

    /** The last step of a sign-in, asked by the `signin` actor once the password was found right. */
    openSession: {
      request: z.object({
        /** The version and address of the credentials that were found right. */
        credentialsVersion: z.number(),
        email: z.string(),
        workspace: z.string(),
        apiVersion: z.string(),
        ephemeral: z.boolean(),
        /** Must be right, and turn the second factor off. */
        recoveryCodes: z.string().optional(),
        device: deviceSchema,
        /** A hash of the same password that replaces the one of another server. */
        newHash: z.string().optional(),
        /** Neither the device nor its network was known at the address. */
        isNewDevice: z.boolean(),
      }),
      reply: z.union([
        z.object({ issued: grantedSchema, protocolVersion: z.string() }),
        /** The credentials have changed since they were read, or the account is gone. */
        z.object({ stale: z.literal(true) }),
        z.object({ banned: z.literal(true) }),
      ]),
    },

    /**
     * `login-params` of a signed-in caller (docs/protocol/authentication.md, "Login params"): the account's key params
     * in full.
     */
    keyParams: signedIn({
      access: 'reads',
      fields: z.object({ codeChallenge: z.string() }),
      ok: keyParamsSchema,
    }),

    /**
     * Refusals: 401 and 403 of docs/protocol/authentication.md, "Change of credentials"; 423 after too many wrong
     * passwords.
     */
    changeCredentials: signedIn({
      access: 'writes',
      fields: z.object({
        /** The user in the path, who must be the caller. */
        userUuid: z.string(),
        currentPassword: z.string(),
        newPassword: z.string(),
        /** Normalised; absent: the address stays. */
        newEmail: z.string().optional(),
        keyParams: sentKeyParamsSchema,
        apiVersion: z.string(),
        device: deviceSchema,
      }),
      ok: signInReplySchema,
    }),

    /**
     * Refusals: 400, 401 and 403 of docs/protocol/authentication.md, "Deletion of an account"; 423 after too many wrong
     * passwords.
     */
    deleteAccount: signedIn({
      access: 'writes',
      fields: z.object({
        /** The user in the path, who must be the caller. */
        userUuid: z.string(),
        /** `x-server-password`. */
        password: z.string().optional(),
      }),
      ok: nothing,
    }),
  },
  tells: {
    /** What became of a mail that the account sent and follows. */
    mailOutcome: mailOutcomeSchema,
  },
  timers: {
    /** The next batch of what a deleted account leaves behind: items after this position, revisions after this offset. */
    purge: z.object({ after: z.int(), afterOffset: z.int().default(0) }),
  },
});
