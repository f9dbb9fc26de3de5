/**
 * The `signin` kind: one actor per address, known or not, and one per account for passwords that its signed-in callers send. It
 * guards an account against guessing. It has the counters of failed attempts, the known networks and devices, and the
 * challenges that wait for their verifier. `SigninKeys` makes its ids.
 */
import { z } from 'zod';
import { contract } from '../../runtime/contract.ts';
import { keyParamsSchema } from '../identity/key-params.ts';
import { deviceSchema, signInReplySchema } from '../identity/session.ts';
import {
  activatedSchema,
  approvalSchema,
  approvalStatusSchema,
  escrowSchema,
  premiumSchema,
  requestedCodeSchema,
} from '../identity/signin-messages.ts';
import { answerSchema, type Refusal } from '../reply.ts';

/** The most sessions whose cookies a request may bring. A browser keeps those of fewer for one account. */
export const cookieSessionsMax = 16;

const nothing = z.object({});
/** Sessions whose cookies came with the request. */
const cookieSessions = z.array(z.string()).max(cookieSessionsMax).readonly().optional();
/** Normalised. */
const address = { email: z.string(), workspace: z.string() };

/** The refusal of a sign-in that lacks a field. */
export const missingCredentials: Refusal = {
  reason: 'unauthenticated',
  tag: 'invalid-auth',
  message: 'Invalid login credentials.',
};

export const Signin = contract({
  name: 'signin',
  commands: {
    /**
     * The key params of an address, in the public form; an unknown address has made-up ones. Refusals: 401 of
     * docs/protocol/account.md, "The second factor at sign-in"; 423 after too many wrong guesses.
     */
    loginParams: {
      request: z.object({
        ...address,
        codeChallenge: z.string(),
        cookieSessions,
        device: deviceSchema,
        /** The name that the code came under. */
        codeName: z.string().optional(),
        code: z.string().optional(),
        appPassword: z.string().optional(),
        trustedDeviceToken: z.string().optional(),
        /** The assertion of WebAuthn, as the client sent it. */
        assertionResponse: z.record(z.string(), z.unknown()).optional(),
        /** The secret of an approval of this actor. */
        approvalSecret: z.string().optional(),
        /** With a recovery, nothing else meets the factor, and every failure has the same refusal. */
        recoveryCodes: z.string().optional(),
      }),
      reply: answerSchema(keyParamsSchema),
    },

    /** A missing field is an empty text. Refusals: 401 and 423 of docs/protocol/authentication.md, "Login". */
    login: {
      request: z.object({
        ...address,
        password: z.string(),
        codeVerifier: z.string(),
        apiVersion: z.string(),
        ephemeral: z.boolean(),
        hvmToken: z.string().optional(),
        /** Has to be right as well, and restores the second factor. */
        recoveryCodes: z.string().optional(),
        device: deviceSchema,
        cookieSessions,
      }),
      reply: answerSchema(signInReplySchema),
    },

    /**
     * The ciphertext that a client has left for the recovery of an account (docs/protocol/account.md, "Recovery of an account"). The
     * `signin` actor that counts the look-ups answers. Refusals: 404 for anything that is missing, 429.
     */
    lookUpEscrow: {
      request: z.object({ userUuid: z.string(), device: deviceSchema }),
      reply: answerSchema(escrowSchema),
    },

    /** The options with which a browser asks a security key to sign in to an address, known or not. */
    offerAssertion: {
      request: z.object({ ...address, device: deviceSchema }),
      reply: answerSchema(z.object({ options: z.record(z.string(), z.unknown()) })),
    },

    /** Mails a code, if the account asks for one. Refusals: 400 without mail, 503 without room for it, 429. */
    requestCode: {
      request: z.object({ ...address, device: deviceSchema, cookieSessions }),
      reply: answerSchema(z.object({ emailed: z.boolean() })),
    },

    /** The waiting device asks by its secret, and the account's own devices by the uuid that they see. */
    approvalStatus: {
      request: z.union([z.object({ secret: z.string() }), z.object({ uuid: z.string() })]),
      reply: approvalStatusSchema,
    },

    /** For the account's own devices. */
    pendingApprovals: { request: nothing, reply: z.object({ approvals: z.array(approvalSchema) }) },
    /** False if it is no longer pending. */
    resolveApproval: {
      request: z.object({
        uuid: z.string(),
        approve: z.boolean(),
        userUuid: z.string(),
        /** The device that decides. */
        from: z.object({ userAgent: z.string().nullable(), ipAddress: z.string().nullable() }),
      }),
      reply: z.object({ resolved: z.boolean() }),
    },

    /** For a signed-in caller of `login-params`, whose own actor has the key params. */
    storeChallenge: { request: z.object({ codeChallenge: z.string() }), reply: nothing },

    /**
     * Mails a subscription token to the owner of the address. Refusals: 429, 400 without mail, 503 without room for it.
     */
    mailSubscriptionToken: {
      request: z.object({ ...address, device: deviceSchema, cookieSessions }),
      reply: answerSchema(nothing),
    },

    /** For conformance runs. */
    activatePremium: {
      request: z.object({ ...address, premium: premiumSchema }),
      reply: activatedSchema,
    },

    /** Whether a calendar program shows a right token; the account then remembers it. Refusals: 401, 429. */
    proveCalendarToken: {
      request: z.object({
        userUuid: z.string(),
        tokenUuid: z.string(),
        secret: z.string(),
        device: deviceSchema,
      }),
      reply: answerSchema(nothing),
    },

    /** Counts an attempt, before the password of a signed-in caller is checked. Refusals: 423. */
    debit: { request: nothing, reply: answerSchema(nothing) },
  },
  tells: {
    /** The account was registered, or a signed-in caller gave the right password: clears all attempts. */
    reset: z.null(),

    /** A session of the account was opened from this origin, by its registration or with its password. */
    recognise: z.object({ ipAddress: z.string().nullable(), sessionUuid: z.string() }),

    /** From this actor to itself: a code was asked for. Without an account there is no user. */
    codeRequested: z.object({ from: requestedCodeSchema.extend({ userUuid: z.string() }).nullable() }),

    /** The account has changed its address, and this one is not its any more. */
    forget: z.null(),

    /** The account has a second factor now. Challenges from before were given without asking for it, so they are removed. */
    forgetChallenges: z.null(),
  },
  timers: {
    /** Removes state that has expired. */
    expire: z.null(),
  },
});
