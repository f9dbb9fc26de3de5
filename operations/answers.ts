/** Turns an actor's answer into one for a caller of the internal API. */
import type { Answer, Refusal } from '../actors/reply.ts';
import { type CallError, failedPrecondition, invalidArgument, limitReached, notFound } from './errors.ts';

/** @throws CallError */
export function accepted<Ok>(answer: Answer<Ok>): Ok {
  if ('ok' in answer) return answer.ok;
  throw errorOf(answer.refused);
}

/** In the form of the API's messages. */
export const timeOf = (iso: string | null): Date | undefined => (iso === null ? undefined : new Date(iso));

function errorOf({ reason, message, retryAfterMs }: Refusal): CallError {
  if (reason === 'bad-request') return invalidArgument(message);
  if (reason === 'not-found') return notFound(message);
  return reason === 'too-many' ? limitReached(message, retryAfterMs) : failedPrecondition(message);
}
