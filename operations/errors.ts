/**
 * Maps the error classes of the runtime, and the refusals of actors, to gRPC.
 *
 * UNAVAILABLE and RESOURCE_EXHAUSTED promise that nothing took effect; a later attempt may help. UNKNOWN means that
 * the outcome is unknown: a retry does no harm, because every method can be repeated. Unexpected errors, `terminal`
 * included, are INTERNAL. They tell the caller only the id under which the log has the rest.
 */
import { status } from '@grpc/grpc-js';
import type { Answer, Refusal } from '../actors/reply.ts';
import { ActorError, DatabaseUnavailableError, RetryableError, retryAfterMsOf } from '../runtime/errors.ts';

/** The refusal a caller gets instead of an answer. */
export class CallError extends Error {
  readonly code: status;
  /** Sent as `grpc-retry-pushback-ms`. */
  readonly retryAfterMs: number | undefined;
  constructor(code: status, message: string, retryAfterMs?: number) {
    super(message);
    this.name = 'CallError';
    this.code = code;
    this.retryAfterMs = retryAfterMs;
  }
}

export const invalidArgument = (message: string) => new CallError(status.INVALID_ARGUMENT, message);
export const notFound = (message: string) => new CallError(status.NOT_FOUND, message);
const limitReached = (message: string, retryAfterMs: number | undefined) =>
  new CallError(status.RESOURCE_EXHAUSTED, message, retryAfterMs);
export const failedPrecondition = (message: string) => new CallError(status.FAILED_PRECONDITION, message);

const busy = 'The cluster cannot do this at the moment. Nothing has happened; try again.';
const outcomeUnknown = 'It is not known whether this took effect. Check, or try again: that does no harm.';
const overloaded = 'A limit of the cluster was reached. Nothing has happened; try again in a moment.';
const databaseAway = 'The database cannot answer at the moment. Try again.';

/** Undefined for an unexpected error. */
export function callErrorOf(error: unknown): CallError | undefined {
  if (error instanceof CallError) return error;
  if (!(error instanceof ActorError)) return undefined;
  if (error instanceof DatabaseUnavailableError) {
    return new CallError(status.UNAVAILABLE, databaseAway, retryAfterMsOf(error));
  }
  switch (error.class) {
    case 'not-found':
      return notFound('There is no such actor.');
    case 'forbidden':
      return new CallError(status.PERMISSION_DENIED, 'This is not allowed.');
    case 'overloaded':
      return new CallError(status.RESOURCE_EXHAUSTED, overloaded, retryAfterMsOf(error));
    case 'terminal':
      return undefined;
    default:
      return isUnknown(error)
        ? new CallError(status.UNKNOWN, outcomeUnknown)
        : new CallError(status.UNAVAILABLE, busy, retryAfterMsOf(error));
  }
}

export function unexpectedCallError(requestId: string): CallError {
  return new CallError(
    status.INTERNAL,
    `The server could not answer this call; its log says why (request id ${requestId}).`,
  );
}

export const overloadedCallError = new CallError(status.RESOURCE_EXHAUSTED, overloaded, 1_000);

const isUnknown = (error: ActorError) => error instanceof RetryableError && error.outcome === 'unknown';

/** An actor's answer for a caller of the internal API. @throws CallError */
export function okOrThrow<Ok>(answer: Answer<Ok>): Ok {
  if ('ok' in answer) return answer.ok;
  throw errorOf(answer.refused);
}

/** A time as the messages of the API represent it. */
export const timeOf = (iso: string | null): Date | undefined => (iso === null ? undefined : new Date(iso));

function errorOf({ reason, message, retryAfterMs }: Refusal): CallError {
  if (reason === 'bad-request') return invalidArgument(message);
  if (reason === 'not-found') return notFound(message);
  return reason === 'too-many' ? limitReached(message, retryAfterMs) : failedPrecondition(message);
}
