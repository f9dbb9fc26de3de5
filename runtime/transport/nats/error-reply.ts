/** How an error of the handler travels: its class and the fields that decide the caller's behaviour, and nothing else. */
import {
  ActorError,
  FencedError,
  ForbiddenError,
  MovedError,
  NotFoundError,
  OverloadedError,
  RetryableError,
  TerminalError,
  UnavailableError,
} from '../../errors.ts';
import type { FrameOf } from './frame.ts';

type ErrorReply = FrameOf<'refusal'>;

export function errorReplyOf(error: ActorError): ErrorReply {
  const { class: kindOfError, message } = error;
  return {
    kind: 'refusal',
    class: kindOfError,
    message,
    ...(error instanceof RetryableError && { outcome: error.outcome }),
    ...(error instanceof MovedError && error.epoch !== undefined && { epoch: error.epoch }),
    ...('retryAfterMs' in error && { retryAfterMs: error.retryAfterMs as number }),
  };
}

/** The error that the caller gets. The message of a defect stays in its own process. */
export const asActorError = (error: unknown): ActorError =>
  error instanceof ActorError ? error : new TerminalError('the owner of the actor failed');

export function actorErrorOf({
  class: kindOfError,
  message,
  outcome,
  retryAfterMs,
  epoch,
}: ErrorReply): ActorError {
  switch (kindOfError) {
    case 'terminal':
      return new TerminalError(message);
    case 'retryable':
      // Absent means not known.
      return new RetryableError(message, {
        outcome: outcome ?? 'unknown',
        ...(retryAfterMs !== undefined && { retryAfterMs }),
      });
    case 'fenced':
      return new FencedError(message);
    case 'overloaded':
      return new OverloadedError(message, retryAfterMs);
    case 'unavailable':
      return new UnavailableError(message, retryAfterMs);
    case 'moved':
      return new MovedError(message, { epoch });
    case 'not-found':
      return new NotFoundError(message);
    case 'forbidden':
      return new ForbiddenError(message);
  }
}
