/** Turns an answer of the domain into one of HTTP, in the same way for every route. */
import { z } from 'zod';
import { type Answer, type Caller, isRefused, type Refusal } from '../../actors/reply.ts';
import { invalidAuth } from '../../actors/signed-in.ts';
import { NotFoundError } from '../../runtime/errors.ts';
import { type RouteRefusal, statusOf } from '../http/refusal.ts';
import type { RouteReply } from '../http/route.ts';

export const errorBodySchema = z.object({
  error: z.object({
    message: z.string(),
    tag: z.string().optional(),
    payload: z.record(z.string(), z.unknown()).optional(),
  }),
});

/** Answers with the result of `replyOf`, or the refusal. */
export function answered<Ok>(answer: Answer<Ok>, replyOf: (ok: Ok) => RouteReply): RouteReply {
  if (isRefused(answer)) return refusedAnswer(answer.refused, answer.caller);
  return Object.assign(replyOf(answer.ok), { caller: answer.caller });
}

/** The same for an actor that may not exist (any more), which is refused as `absent`. */
export async function answeredOr<Ok>(
  absent: AnyRefusal,
  answer: Promise<Answer<Ok>>,
  replyOf: (ok: Ok) => RouteReply,
): Promise<RouteReply> {
  try {
    return answered(await answer, replyOf);
  } catch (error) {
    if (error instanceof NotFoundError) return refusedAnswer(absent);
    throw error;
  }
}

/** The same for a signed-in caller: a user that does not exist has no sessions. */
export function signedInAnswer<Ok>(
  answer: Promise<Answer<Ok>>,
  replyOf: (ok: Ok) => RouteReply,
): Promise<RouteReply> {
  return answeredOr(invalidAuth, answer, replyOf);
}

/** The domain refuses with a reason, a route itself with a status. */
type AnyRefusal = Refusal | RouteRefusal;

export function refusedAnswer(refusal: AnyRefusal, caller?: Caller): RouteReply {
  const status = 'status' in refusal ? refusal.status : statusOf(refusal);
  const { tag, message, payload, retryAfterMs, withoutEnvelope = false } = refusal;
  const error = {
    ...(tag !== undefined && { tag }),
    message,
    ...(payload !== undefined && { payload }),
  };
  const answer = { status, body: { error }, caller, withoutEnvelope };
  if (retryAfterMs === undefined) return answer;
  return { ...answer, headers: { 'Retry-After': String(Math.ceil(retryAfterMs / 1_000)) } };
}

/** Clients of routes without the envelope look for other fields beside the message. */
export function flat(reply: RouteReply): RouteReply {
  const { error } = (reply.body ?? {}) as { error?: { payload?: object } };
  if (error?.payload === undefined) return reply;
  const { payload, ...rest } = error;
  return { ...reply, body: { error: { ...rest, ...payload } } };
}
