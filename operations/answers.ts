/** What an actor answers, as a caller of the internal API gets it. */
import type { Answer, Refusal } from '../actors/reply.ts';
import { type CallError, failedPrecondition, invalidArgument, limitReached, notFound } from './errors.ts';

/** @throws CallError */
export function accepted<Ok>(answer: Answer<Ok>): Ok {
  if ('ok' in answer) return answer.ok;
  throw errorOf(answer.refused);
}

/** As the messages of the API have it. */
export const timeOf = (iso: string | null): Date | undefined => (iso === null ? undefined : new Date(iso));

function errorOf({ status, message, retryAfterMs }: Refusal): CallError {
  if (status === 400) return invalidArgument(message);
  if (status === 404) return notFound(message);
  return status === 429 ? limitReached(message, retryAfterMs) : failedPrecondition(message);
}
