/** What clients ask of second factors, and of what stands in for them (docs/protocol/account.md). */
import { z } from 'zod';
import { contract } from '../../../runtime/contract.ts';
import { deviceSchema } from '../../identity/session.ts';
import {
  approvalSchema,
  approvalStatusSchema,
  escrowSchema,
  requestedCodeSchema,
} from '../../identity/signin-messages.ts';
import { reads, writes, writesOf } from '../../signed-in.ts';

const success = z.boolean();
/** `x-server-password`. */
const password = z.string().optional();

/** Only the library reads it. The bound of the body bounds its size. */
const webAuthnResponse = z.record(z.string(), z.unknown());
/** Normalised. */
const address = { email: z.string(), workspace: z.string() };
/** The address is unknown, and the actor that is asked belongs to no user. */
const isNobody = z.boolean();

/** Times as ISO text. */
const appPassword = z.object({ uuid: z.string(), label: z.string(), createdAt: z.string() });
/** Times in milliseconds. */
const trustedDevice = z.object({
  uuid: z.string(),
  label: z.string(),
  createdAt: z.number(),
  expiresAt: z.number(),
});

export const Factors = contract({
  name: 'user',
  commands: {
    /** A secret for an authenticator app. It is no factor yet. Refusals: 400 if one is on. */
    offerTotpSecret: writesOf({ ok: z.object({ success, secret: z.string() }) }),
    /** Refusals: 400 for a missing or wrong password, 423. */
    makeRecoveryCodes: writes({
      fields: z.object({ password }),
      ok: z.object({ recoveryCodes: z.string() }),
    }),

    /** Options for a new security key, with a challenge. Refusals: 400 if there are too many. */
    offerAuthenticator: writes({ ok: z.object({ options: z.record(z.string(), z.unknown()) }) }),
    /** Refusals: 400 for a response that does not verify, 403 for another user. */
    addAuthenticator: writes({
      fields: z.object({ userUuid: z.string().max(64).optional(), attestationResponse: webAuthnResponse }),
      ok: z.object({ id: z.string() }),
    }),
    listAuthenticators: reads({ ok: z.object({ authenticators: z.array(z.object({ id: z.string() })) }) }),
    /** Refusals: 404. */
    removeAuthenticator: writes({
      fields: z.object({ authenticatorUuid: z.string().max(64) }),
      ok: z.object({ message: z.string() }),
    }),

    /** Those that are pending. */
    listApprovals: reads({
      ok: z.object({
        pendingApprovals: z.array(
          z.object({
            uuid: z.string(),
            challengeId: z.string(),
            status: z.string(),
            requestingUserAgent: z.string(),
            requestingIpAddress: z.string().nullable(),
            /** Milliseconds. */
            createdAt: z.number(),
            expiresAt: z.number(),
          }),
        ),
      }),
    }),
    /** Names the approval by its id from the list. */
    showApproval: reads({ fields: z.object({ challengeId: z.string().max(256) }), ok: approvalStatusSchema }),
    /** Only `true` approves. Refusals: 400 if it is no longer pending. */
    resolveApproval: writes({
      fields: z.object({ challengeId: z.string().max(256), approve: z.unknown().optional() }),
      ok: z.object({ status: z.enum(['approved', 'denied']) }),
    }),

    showEmailedCodes: reads({ ok: z.object({ enabled: z.boolean() }) }),
    /** Refusals: 400 if no mail can be sent. Any other value is refused, so that it turns no second factor off. */
    switchEmailedCodes: writes({
      fields: z.object({ enabled: z.union([z.boolean(), z.enum(['true', 'false'])]) }),
      ok: z.object({ enabled: z.boolean() }),
    }),

    /** Asked by the `signin` actor of the account's address. */
    checkFactors: {
      request: z.object({
        ...address,
        isNobody,
        appPassword: z.string().optional(),
        trustedDeviceToken: z.string().optional(),
        code: z.string().optional(),
        assertion: z.object({ response: webAuthnResponse, challenge: z.string() }).optional(),
        /** There is an assertion, though perhaps no challenge for it. */
        hasAssertion: z.boolean(),
        /** The code was mailed, and is still valid. */
        hasEmailedCode: z.boolean(),
        recoveryCodes: z.string().optional(),
        /** The device that signs in. */
        device: deviceSchema,
      }),
      reply: z.union([
        z.object({ passed: z.literal(true) }),
        z.object({
          factor: z.enum(['totp', 'emailed-code', 'security-key', 'recovery-codes']),
          outcome: z.enum(['missing', 'wrong', 'used']),
        }),
        /** The account no longer has this address. */
        z.object({ stale: z.literal(true) }),
      ]),
    },
    /** What the client left for a recovery. Undefined: nothing, or nothing usable. */
    escrow: { request: z.object({ isNobody }), reply: z.object({ escrow: escrowSchema.optional() }) },
    authenticatorsOf: {
      request: z.object({ ...address, isNobody }),
      reply: z.object({
        allowed: z.array(
          z.object({ id: z.string(), type: z.literal('public-key'), transports: z.array(z.string()) }),
        ),
      }),
    },

    /** Shows the password this once. Refusals: 400 for a blank label or too many passwords. */
    makeAppPassword: writes({
      fields: z.object({ label: z.string().max(1_024) }),
      ok: z.object({ appPassword, password: z.string() }),
    }),
    listAppPasswords: reads({
      ok: z.object({ appPasswords: z.array(appPassword.extend({ lastUsedAt: z.string().nullable() })) }),
    }),
    /** Refusals: 404. */
    deleteAppPassword: writes({
      fields: z.object({ appPasswordUuid: z.string().max(64) }),
      ok: z.object({ message: z.string() }),
    }),

    /** Shows the token this once. */
    trustDevice: writes({
      fields: z.object({ label: z.string().max(1_024).nullish() }),
      ok: z.object({ trustedDevice: trustedDevice.extend({ token: z.string() }) }),
    }),
    listTrustedDevices: reads({
      ok: z.object({ trustedDevices: z.array(trustedDevice.extend({ lastUsedAt: z.number().nullable() })) }),
    }),
    /** Refusals: 404. */
    distrustDevice: writes({
      fields: z.object({ trustedDeviceUuid: z.string().max(64) }),
      ok: z.object({ message: z.string() }),
    }),
  },
  tells: {
    /** A sign-in waits for an approval by one of the user's devices. */
    approvalRequested: approvalSchema,
    /** A code for a sign-in. The actor mails it if the account asks for codes by e-mail. */
    mailCode: requestedCodeSchema,
  },
});
