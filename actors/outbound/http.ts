/**
 * The one way out of this server over HTTP: for captcha servers, mail relays and other providers.
 *
 *   - The caller says who chose the destination. A destination that the operator has fixed may be anywhere. Any other is checked on
 *     every connection: it has to be an address that the whole internet can reach (`public-address.ts`).
 *   - `http` and `https` alone, and no credentials in addresses. A redirect is an answer like any other unless asked for.
 *   - Everything is bounded: the time from the call to the last byte, the size of the decompressed answer, and the requests in
 *     flight and waiting.
 *   - No error contains an address, header or body, and nothing is logged: any of them may hold a secret.
 */
import { dependency } from '../../runtime/dependency.ts';

/**
 * `fixed`   the operator's settings name it: it may be private
 * `checked` a user or another server has named it
 */
export type Destination = 'fixed' | 'checked';

export interface OutboundRequest {
  readonly destination: Destination;
  readonly url: string | URL;
  readonly method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** In lower case. Headers of the connection cannot be set. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** The time for everything: waiting for room, names, connections, redirects, the answer to its last byte. */
  readonly timeoutMs: number;
  /** The longest body of an answer, decompressed. */
  readonly answerBytesMax: number;
  /** None unless given. A redirect to another origin is checked, and carries neither headers nor a body. */
  readonly redirectsMax?: number;
  readonly signal?: AbortSignal;
}

export interface OutboundAnswer {
  readonly status: number;
  /** Keyed by names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Buffer;
}

/** An answer that is read while it comes. It is not among those in flight or waiting: its caller bounds how many there are. */
export interface OutboundStreamRequest extends Omit<OutboundRequest, 'redirectsMax'> {
  /** How long the server may be silent while the caller waits: before the head, and between any two chunks. */
  readonly idleTimeoutMs: number;
}

export interface OutboundStream extends Omit<OutboundAnswer, 'body'> {
  /**
   * Decompressed. The server is asked for more only as these are consumed. Iterate it once, or abort `signal`.
   * @throws OutboundError and nothing else
   */
  readonly chunks: AsyncIterable<Buffer>;
}

export interface OutboundStreams {
  /** Resolves once the head of the answer is there, whatever its status. @throws OutboundError and nothing else */
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
  /** False if certainly no server has got anything of the request. */
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
