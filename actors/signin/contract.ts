/**
 * The `signin` kind: one actor per address, known or not, and one per account for the passwords that its signed-in
 * callers give. It owns what guards an account from outside: the counters of failed attempts, the networks that
 * are known, and the challenges that wait for their verifier. Its ids are made by `SigninKeys`.
 */
import { z } from 'zod';
import { contract } from '../../runtime/contract.ts';
import { keyParamsSchema } from '../identity/key-params.ts';
import { deviceSchema, signInReplySchema } from '../identity/session.ts';
import { answerSchema, type Refusal } from '../reply.ts';

const nothing = z.object({});
/** Normalised. */
const address = { email: z.string(), workspace: z.string() };

/** Of a sign-in that lacks a field. */
export const missingCredentials: Refusal = {
  status: 401,
  tag: 'invalid-auth',
  message: 'Invalid login credentials.',
};

export const Signin = contract({
  name: 'signin',
  commands: {
    /** The key params of an address, in the form anybody gets. No refusals: an unknown address has pseudo ones. */
    loginParams: {
      request: z.object({ ...address, codeChallenge: z.string(), ipAddress: z.string().nullish() }),
      reply: answerSchema(keyParamsSchema),
    },

    /** What is missing is an empty text. Refusals: 401 and 423 of docs/protocol/authentication.md, "Login". */
    login: {
      request: z.object({
        ...address,
        password: z.string(),
        codeVerifier: z.string(),
        apiVersion: z.string(),
        ephemeral: z.boolean(),
        hvmToken: z.string().optional(),
        device: deviceSchema,
      }),
      reply: answerSchema(signInReplySchema),
    },

    /** For a signed-in caller of `login-params`, whose own actor has the key params. */
    storeChallenge: { request: z.object({ codeChallenge: z.string() }), reply: nothing },

    /** Before a signed-in caller's password is looked at. Refusals: 423. */
    debit: { request: nothing, reply: answerSchema(nothing) },
  },
  tells: {
    /** The account was registered, or a password given by a signed-in caller was right: all attempts are given back. */
    reset: z.null(),

    /** The account was opened from that address, by its registration or with its password. */
    recognise: z.object({ ipAddress: z.string().nullable() }),

    /** The address is no longer that of the account. */
    forget: z.null(),
  },
  timers: {
    /** Nothing it holds counts any more. */
    expire: z.null(),
  },
});
