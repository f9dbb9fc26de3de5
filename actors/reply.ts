/** The one form of an answer of the domain, from an actor to the wire: the result, or a refusal. */
import { z } from 'zod';

export interface Role {
  readonly uuid: string;
  readonly name: string;
}

/** The caller, for `meta.auth` of the reply. */
export interface Caller {
  readonly userUuid: string;
  readonly roles: readonly Role[];
}

const callerSchema: z.ZodType<Caller> = z.object({
  userUuid: z.string(),
  roles: z.array(z.object({ uuid: z.string(), name: z.string() })).readonly(),
});

/** The reason of a refusal. The gateway sends it as an HTTP status, and operations as a gRPC code. */
const refusalReasons = [
  'bad-request',
  'unauthenticated',
  'forbidden',
  'not-found',
  'conflict',
  'too-large',
  /** Too many wrong attempts. */
  'locked',
  'too-many',
  /** The credentials were right once, and can be exchanged for others. */
  'expired',
  'not-implemented',
  /** Another server did not answer as it should. */
  'upstream-failed',
  'unavailable',
] as const;
export type RefusalReason = (typeof refusalReasons)[number];

/** A refusal, with the error body of docs/protocol/http.md, "Errors". */
export interface Refusal {
  readonly reason: RefusalReason;
  readonly tag?: string | undefined;
  readonly message: string;
  readonly payload?: Readonly<Record<string, unknown>> | undefined;
  /** Milliseconds after which asking again may help; sent as `Retry-After`. */
  readonly retryAfterMs?: number | undefined;
  /** Sent without the envelope, as the gateway's own refusals are (docs/protocol/http.md, "The envelope"). */
  readonly withoutEnvelope?: boolean | undefined;
  /** The next attempt needs a captcha, if one is configured. */
  readonly captchaRequired?: boolean | undefined;
}

const refusalSchema: z.ZodType<Refusal> = z.object({
  reason: z.enum(refusalReasons),
  tag: z.string().optional(),
  message: z.string(),
  payload: z.record(z.string(), z.unknown()).optional(),
  retryAfterMs: z.number().optional(),
  withoutEnvelope: z.boolean().optional(),
  captchaRequired: z.boolean().optional(),
});

export interface Refused {
  readonly refused: Refusal;
}

/** `caller` is absent if no user is signed in, or if the session did not pass. */
export type Answer<Ok> = ({ readonly ok: Ok } | Refused) & { readonly caller?: Caller | undefined };

/** The answer for a signed-in caller. */
export type SignedInAnswer<Ok> =
  | { readonly ok: Ok; readonly caller: Caller }
  | (Refused & { readonly caller?: Caller | undefined });

export function answerSchema<Ok>(ok: z.ZodType<Ok>): z.ZodType<Answer<Ok>> {
  const schema = z.union([
    z.object({ caller: callerSchema.optional(), ok }),
    z.object({ caller: callerSchema.optional(), refused: refusalSchema }),
  ]);
  return schema as unknown as z.ZodType<Answer<Ok>>;
}

type Further = Omit<Refusal, 'reason' | 'message'>;

const refusing =
  (reason: RefusalReason) =>
  (message: string, tag?: string, further?: Further): Refused => ({
    refused: { reason, message, tag, ...further },
  });

const refusingFor =
  (reason: RefusalReason) =>
  (message: string, retryAfterMs?: number, further?: Further): Refused => ({
    refused: { reason, message, retryAfterMs, ...further },
  });

/** Refusals that say what is wrong and what to do about it. */
export const refuse = {
  badRequest: refusing('bad-request'),
  unauthenticated: refusing('unauthenticated'),
  forbidden: refusing('forbidden'),
  notFound: refusing('not-found'),
  conflict: refusing('conflict'),
  tooLarge: refusing('too-large'),
  tooMany: refusingFor('too-many'),
  unavailable: refusing('unavailable'),
  notImplemented: refusing('not-implemented'),
  upstreamFailed: refusing('upstream-failed'),
  /** Unavailable for a moment. */
  notNow: refusingFor('unavailable'),
};

export function isRefused(result: unknown): result is Refused {
  return typeof result === 'object' && result !== null && 'refused' in result;
}

/** Puts the result of a handler into the form of an answer, without a caller. */
export function answerOf<Ok>(result: Ok | Refused): Answer<Ok> {
  return isRefused(result) ? result : { ok: result };
}
