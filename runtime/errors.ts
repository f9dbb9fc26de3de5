/**
 * The errors that a caller of an actor can meet. The class decides the behaviour: each is mapped once to HTTP, and once to gRPC.
 * A refusal of the domain, such as a wrong password, is not an error but a reply. The turn that produced it may have to commit.
 */
export abstract class ActorError extends Error {
  abstract readonly class: ErrorClass;
  override get name(): string {
    return this.constructor.name;
  }
}

export type ErrorClass =
  | 'terminal'
  | 'retryable'
  | 'fenced'
  | 'overloaded'
  | 'unavailable'
  | 'moved'
  | 'not-found'
  | 'forbidden';

/** Asking again cannot help: a defect, a malformed call, or a turn that collides with a key by itself. */
export class TerminalError extends ActorError {
  readonly class = 'terminal';
}

/**
 * Asking again may help. With `outcome: 'unknown'` the call may have taken effect, and may be repeated only under the same call
 * id. With `'none'` it certainly had no effect.
 */
export class RetryableError extends ActorError {
  readonly class = 'retryable';
  readonly outcome: 'none' | 'unknown';
  readonly retryAfterMs: number;
  constructor(message: string, options: { outcome: 'none' | 'unknown'; retryAfterMs?: number }) {
    super(message);
    this.outcome = options.outcome;
    this.retryAfterMs = options.retryAfterMs ?? 1_000;
  }
}

/** A newer owner holds the actor; this host has dropped it. Nothing of the call took effect. */
export class FencedError extends ActorError {
  readonly class = 'fenced';
}

/** Nothing of the call took effect, and asking again after a while may help. */
abstract class LaterError extends ActorError {
  readonly retryAfterMs: number;
  constructor(message: string, retryAfterMs: number, options?: ErrorOptions) {
    super(message, options);
    this.retryAfterMs = retryAfterMs;
  }
}

/** A limit was reached (mailbox, actors in memory, workers). Nothing of the call took effect. */
export class OverloadedError extends LaterError {
  readonly class = 'overloaded';
  constructor(message: string, retryAfterMs = 1_000) {
    super(message, retryAfterMs);
  }
}

/** A dependency (database, transport, lease) cannot serve now. Nothing of the call took effect. */
export class UnavailableError extends LaterError {
  readonly class = 'unavailable';
  constructor(message: string, retryAfterMs = 2_000, options?: ErrorOptions) {
    super(message, retryAfterMs, options);
  }
}

/** The dependency that cannot serve is the database. */
export class DatabaseUnavailableError extends UnavailableError {}

/**
 * The actor is not where the call was sent: its shard is between owners, or routing is behind. The host that answers this did
 * nothing. The caller asks again after a short pause (`runtime/host/actors.ts`), because the next owner is on its way.
 */
export class MovedError extends ActorError {
  readonly class = 'moved';
  /** The call certainly reached no handler. Otherwise it may have reached the next owner, too. */
  readonly reachedNobody: boolean;
  /** The epoch of the host that answers this. It owns the shard, and the call named another epoch. */
  readonly epoch: number | undefined;
  constructor(message: string, options: { reachedNobody?: boolean; epoch?: number | undefined } = {}) {
    super(message);
    this.reachedNobody = options.reachedNobody ?? false;
    this.epoch = options.epoch;
  }
}

/** Whether an error promises its caller that nothing took effect. */
export function promisesNothing(error: unknown): boolean {
  if (error instanceof RetryableError) return error.outcome === 'none';
  return error instanceof MovedError || error instanceof FencedError || error instanceof LaterError;
}

/** When the caller may ask again, for an error after which that may help. */
export const retryAfterMsOf = (error: ActorError): number =>
  error instanceof RetryableError || error instanceof LaterError ? error.retryAfterMs : 1_000;

/** There is no such actor, and the command does not create one. */
export class NotFoundError extends ActorError {
  readonly class = 'not-found';
}

/** The caller may not do this. */
export class ForbiddenError extends ActorError {
  readonly class = 'forbidden';
}

/**
 * The loggable part of an unforeseen error. Drivers and libraries attach values of the failed statement to their errors, which
 * may be a user's.
 */
export function loggable(error: unknown): { name: string; message: string; stack: string | undefined } {
  if (!(error instanceof Error)) return { name: typeof error, message: 'not an Error', stack: undefined };
  return { name: error.name, message: error.message, stack: error.stack };
}

/** The message of any thrown value, for logs and start errors; never for clients. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : 'unknown');
