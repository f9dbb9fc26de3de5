/** Why an answer failed. Only the status of a provider's error goes any further, never its text. */
import { OutboundError } from '../../actors/outbound/http.ts';
import type { AssistantEvent } from './events.ts';

const texts = {
  rejected: 'The assistant provider rejected the request.',
  refused: 'The assistant provider does not accept this server. Its operator has to see to that.',
  busy: 'The assistant provider is busy at the moment. Please try again later.',
  unavailable: 'The assistant provider cannot be reached at the moment.',
  timeout: 'The assistant provider took too long to answer.',
  broken: 'The answer of the assistant provider broke off.',
  'too-large': 'The answer of the assistant provider is too large.',
  ended: 'Your session has ended. Please sign in again.',
  stopping: 'The server is about to restart. Please try again in a moment.',
} as const;
export type AnswerFailure = keyof typeof texts;

export class AnswerError extends Error {
  readonly failure: AnswerFailure;

  constructor(failure: AnswerFailure) {
    super(`an answer of the assistant failed: ${failure}`);
    this.failure = failure;
  }
}

export const failureEvents = (failure: AnswerFailure): readonly AssistantEvent[] => [
  { kind: 'error', message: texts[failure] },
  { kind: 'finish', stopReason: 'error' },
];

/**
 * The failure that a status means. A redirect is a failure too, because only the operator decides which host to ask.
 */
export function failureOfStatus(status: number): AnswerFailure {
  if (status === 401 || status === 403) return 'refused';
  if (status === 429 || status === 503 || status === 529) return 'busy';
  if (status === 408 || status === 504) return 'timeout';
  if (status >= 400 && status < 500) return 'rejected';
  return 'unavailable';
}

export function answerFailureOf(error: unknown): AnswerFailure {
  if (error instanceof AnswerError) return error.failure;
  if (!(error instanceof OutboundError)) throw error;
  const { failure, mayHaveArrived } = error;
  if (failure === 'timeout' || failure === 'too-large') return failure;
  return mayHaveArrived ? 'broken' : 'unavailable';
}
