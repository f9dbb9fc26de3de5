/** The commands for an account as a whole: registration, sign-in, change of credentials and deletion. */
import { z } from 'zod';
import { contract } from '../../../runtime/contract.ts';
import { keyParamsSchema, sentKeyParamsSchema } from '../../identity/key-params.ts';
import { deviceSchema, grantedSchema, signInReplySchema } from '../../identity/session.ts';
import { mailOutcomeSchema } from '../../mailer/contract.ts';
import { answerSchema } from '../../reply.ts';
import { reads, writes } from '../../signed-in.ts';

export const Account = contract({
  name: 'user',
  commands: {
    /**
     * The gateway makes the id of the new actor from the call. Refusals: the 400s of docs/protocol/authentication.md,
     * "Registration".
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

    /** The last step of a sign-in. The `signin` actor sends it once the password is right. */
    openSession: {
      request: z.object({
        /** The version and address of the credentials that were right. */
        credentialsVersion: z.number(),
        email: z.string(),
        workspace: z.string(),
        apiVersion: z.string(),
        ephemeral: z.boolean(),
        /** Must be right. They turn off the second factor. */
        recoveryCodes: z.string().optional(),
        device: deviceSchema,
        /** A hash of the same password, for one that another server has made. */
        newHash: z.string().optional(),
        /** True if neither the device nor its network has signed in with this e-mail address before. */
        isNewDevice: z.boolean(),
      }),
      reply: z.union([
        z.object({ issued: grantedSchema, protocolVersion: z.string() }),
        /** The credentials have changed since they were read, or the account is gone. */
        z.object({ stale: z.literal(true) }),
        z.object({ banned: z.literal(true) }),
      ]),
    },

    /** `login-params` for a signed-in caller: all key params of the account (docs/protocol/authentication.md, "Login params"). */
    keyParams: reads({ fields: z.object({ codeChallenge: z.string() }), ok: keyParamsSchema }),

    /**
     * Refusals: the 401s and 403s of docs/protocol/authentication.md, "Change of credentials"; 423 after too many wrong
     * passwords.
     */
    changeCredentials: writes({
      fields: z.object({
        /** The user in the path. They must be the caller. */
        userUuid: z.string(),
        currentPassword: z.string(),
        newPassword: z.string(),
        /** Normalised. Absent: the address stays. */
        newEmail: z.string().optional(),
        keyParams: sentKeyParamsSchema,
        apiVersion: z.string(),
        device: deviceSchema,
      }),
      ok: signInReplySchema,
    }),

    /**
     * Refusals: the 400s, 401s and 403s of docs/protocol/authentication.md, "Deletion of an account"; 423 after too many wrong
     * passwords.
     */
    deleteAccount: writes({
      fields: z.object({
        /** The user in the path. They must be the caller. */
        userUuid: z.string(),
        /** `x-server-password`. */
        password: z.string().optional(),
      }),
    }),
  },
  tells: {
    /** A report on a mail that the account follows. */
    mailOutcome: mailOutcomeSchema,
  },
  timers: {
    /** The next batch of the purge: items after this position, revisions after this offset. */
    purge: z.object({ after: z.int(), afterOffset: z.int().default(0) }),
  },
});
