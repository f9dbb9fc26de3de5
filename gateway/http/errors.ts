/**
 * Maps the runtime's error classes to HTTP, in one place.
 *
 * By the time an error arrives here, the runtime has retried everything worth retrying until the request's deadline
 * (`runtime/host/actors.ts`). Errors that mean "not now" become 503 with `Retry-After`. Everything unexpected,
 * `terminal` included, becomes one generic 500; its `X-Request-Id` is the id to search the log for.
 */
import { FileStoreError } from '../../actors/files/store.ts';
import { ActorError, retryAfterMsOf } from '../../runtime/errors.ts';
import { BodyLostError } from './body-stream.ts';
import { type HttpRefusal, refusals } from './refusal.ts';

const busy = 'The server is busy at the moment. Please try again.';

/** The answer for the client, or undefined for an unexpected error. */
export function refusalOf(error: unknown): HttpRefusal | undefined {
  if (error instanceof BodyLostError) return error.refusal;
  if (error instanceof FileStoreError) return refusalOfStore(error);
  if (!(error instanceof ActorError)) return undefined;
  switch (error.class) {
    case 'not-found':
      return { status: 404, message: 'Not found.', enveloped: true };
    case 'forbidden':
      return { status: 403, message: 'You are not allowed to do this.', enveloped: true };
    case 'terminal':
      return undefined;
    default:
      return { status: 503, message: busy, retryAfterMs: retryAfterMsOf(error) };
  }
}

/** A missing blob is a defect, so it goes into the log. */
function refusalOfStore({ failure, cause }: FileStoreError): HttpRefusal | undefined {
  switch (failure) {
    case 'full':
      return { status: 507, message: 'The server has no room for more files at the moment.' };
    case 'unavailable':
      return {
        status: 503,
        message: 'The server cannot reach its files at the moment. Please try again.',
        retryAfterMs: 10_000,
      };
    case 'aborted':
      return cause instanceof BodyLostError ? cause.refusal : refusals.bodyIncomplete;
    case 'missing':
      return undefined;
  }
}

/** For the log: the message of a runtime error and that of its cause. Neither holds personal data. */
export function reasonOf(error: unknown): string | undefined {
  if (!(error instanceof ActorError)) return undefined;
  const cause = error.cause instanceof Error ? `: ${error.cause.message}` : '';
  return `${error.class}: ${error.message}${cause}`;
}
