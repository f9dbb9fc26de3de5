/**
 * Traces: what a sampled request does, as a tree of spans across the processes that take part.
 *
 *   request            at the gateway, until its reply is complete
 *     call             from an ask to its answer, with all repeats
 *       serve          at the owner's process, if that is another one
 *         turn         from the mailbox to the answer
 *           reads      until the rows of its plan are there
 *           commit     from the committer to the durable state; linked to the batch that carried it
 *             notice   at each gateway that is told of it
 *         read         a shared read, from durable state
 *
 * Invariants
 * - A request that is not sampled has no span, and nothing below it costs more than a look at an absent field.
 * - A span's name and attributes say what was done, never to whom: no user, address, item or token.
 * - A trace decides nothing. A lost or wrong context changes no answer.
 */

/** One step of a sampled request. */
export interface Span {
  /** A step within this one. */
  child(name: string): Span;
  /** The value of a W3C `traceparent` header, for another process. */
  readonly traceparent: string;
  /** The HTTP status of the reply; 0 if the client did not get a whole one. */
  replied(status: number): void;
  /** Marks the step as failed. The reason is the name of the error's class, because messages may name people. */
  failed(error: unknown): void;
  end(): void;
}

/** Undefined in place of a tracer: tracing is off. */
export interface Tracer {
  /** Undefined if this request is not sampled. */
  request(name: string): Span | undefined;
  /** A step of a request of another process. */
  continued(traceparent: string, name: string): Span | undefined;
  /** Work for several requests at once, linked to these steps of theirs. */
  batch(name: string, steps: readonly Span[]): Span;
}

/** Ends a step with its outcome. */
export function endSpan(span: Span, outcome: { readonly error: unknown } | object): void {
  if ('error' in outcome) span.failed(outcome.error);
  span.end();
}

/** Runs the work as this step, if there is one. */
export function inSpan<T>(span: Span | undefined, work: () => Promise<T>): Promise<T> {
  if (span === undefined) return work();
  return work().then(
    (value) => {
      span.end();
      return value;
    },
    (error) => {
      span.failed(error);
      span.end();
      throw error;
    },
  );
}
