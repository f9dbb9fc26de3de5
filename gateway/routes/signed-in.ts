/** How the reply of a signed-in command becomes an HTTP answer; the same for every route. */
import type { Caller, Refusal, SignedInReply } from '../../actors/mod.ts';
import { invalidAuth } from '../../actors/mod.ts';
import { NotFoundError } from '../../runtime/errors.ts';
import type { RouteReply } from '../http/route.ts';

/**
 * Waits for a signed-in command and makes its answer with `answerOf`, or answers its refusal. A user that does not
 * exist (any more) has no sessions: 401 `invalid-auth`.
 */
export async function signedInAnswer<Reply>(
  asked: Promise<SignedInReply<Reply>>,
  answerOf: (reply: Reply) => RouteReply,
): Promise<RouteReply> {
  try {
    const answer = await asked;
    if ('refused' in answer) return refusedAnswer(answer.refused, answer.caller);
    return Object.assign(answerOf(answer.reply), { caller: answer.caller });
  } catch (error) {
    if (error instanceof NotFoundError) return refusedAnswer(invalidAuth);
    throw error;
  }
}

export function refusedAnswer(refusal: Refusal, caller?: Caller): RouteReply {
  const { status, tag, message, payload, retryAfterMs, bare = false } = refusal;
  const error = {
    ...(tag !== undefined && { tag }),
    message,
    ...(payload !== undefined && { payload }),
  };
  const answer = { status, body: { error }, caller, bare };
  if (retryAfterMs === undefined) return answer;
  return { ...answer, headers: { 'Retry-After': String(Math.ceil(retryAfterMs / 1_000)) } };
}
