/**
 * All HTTP requests of this server to other servers, such as captcha servers and mail providers, go through this port.
 *
 *   - The caller says where the destination comes from. The operator may name any destination. One that a user or another server
 *     has named must be a public internet address, which is checked on every connection (`public-address.ts`).
 *   - URLs are `http` or `https`, without credentials. Redirects are returned to the caller unless `redirectsMax` allows them.
 *   - Everything is bounded: the time from the call to the last byte, the size of the decompressed answer, and the requests in
 *     flight and in the queue.
 *   - No error contains a URL, a header or a body, and nothing is logged, because any of them may hold a secret.
 */
import { dependency } from '../../runtime/dependency.ts';

/**
 * `fixed`   the operator's settings name it, so it may be in a private network
 * `checked` a user or another server names it, so it must be public
 */
export type Destination = 'fixed' | 'checked';

export interface OutboundRequest {
  readonly destination: Destination;
  readonly url: string | URL;
  readonly method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Names in lower case. Headers of the connection cannot be set. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** The time for everything: the queue, name resolution, connections, redirects, and the answer to its last byte. */
  readonly timeoutMs: number;
  /** The longest body of an answer, decompressed. */
  readonly answerBytesMax: number;
  /** 0 by default. A redirect to another origin is checked as `checked`, and carries neither headers nor a body. */
  readonly redirectsMax?: number;
  readonly signal?: AbortSignal;
}

export interface OutboundAnswer {
  readonly status: number;
  /** Keyed by names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Buffer;
}

/** A request whose answer is read while it arrives. It does not count as in flight: its caller bounds how many there are. */
export interface OutboundStreamRequest extends Omit<OutboundRequest, 'redirectsMax'> {
  /** How long the server may be silent while the caller waits: before the head, and between any two chunks. */
  readonly idleTimeoutMs: number;
}

export interface OutboundStream extends Omit<OutboundAnswer, 'body'> {
  /**
   * Decompressed. The other server's next bytes are read only once these are consumed. Iterate it once, or abort `signal`.
   * @throws OutboundError and nothing else
   */
  readonly chunks: AsyncIterable<Buffer>;
}

export interface OutboundStreams {
  /** Resolves once the head of the answer has arrived, whatever its status. @throws OutboundError and nothing else */
  open(request: OutboundStreamRequest): Promise<OutboundStream>;
}

export interface OutboundHttp {
  /** Resolves to the answer, whatever its status. @throws OutboundError and nothing else */
  send(request: OutboundRequest): Promise<OutboundAnswer>;
}
export const OutboundHttp = dependency<OutboundHttp>('outbound HTTP');

export type OutboundFailure =
  /** The request is refused for its address, its destination or its headers. */
  | 'refused'
  | 'overloaded'
  | 'unresolved'
  /** No connection, or the wrong certificate. */
  | 'unreachable'
  /** The connection broke, or the server sent something other than an answer. */
  | 'broken'
  | 'too-large'
  /** More redirects than allowed, or one that is not followed. */
  | 'redirected'
  | 'timeout'
  /** Aborted by the caller's signal. */
  | 'aborted';

export class OutboundError extends Error {
  readonly failure: OutboundFailure;
  /** False if it is certain that no server has received any of the request. */
  readonly mayHaveArrived: boolean;

  constructor(failure: OutboundFailure, mayHaveArrived: boolean) {
    super(`an outbound request failed: ${failure}`);
    this.failure = failure;
    this.mayHaveArrived = mayHaveArrived;
  }

  override get name(): string {
    return 'OutboundError';
  }
}
