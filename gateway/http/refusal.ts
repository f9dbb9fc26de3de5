import type { Refusal as DomainRefusal, RefusalReason } from '../../actors/reply.ts';

/**
 * An answer that the gateway gives instead of the handler. It is a value and not an exception: refusing must stay
 * cheap under a flood, and building a stack trace is not.
 */
export interface HttpRefusal {
  readonly status: number;
  readonly message: string;
  readonly tag?: string;
  /** Sent as `Retry-After`, rounded up to whole seconds. */
  readonly retryAfterMs?: number;
  /**
   * Inside the envelope (what a service would have said) or bare (what the gateway itself says, docs/protocol/http.md,
   * "The envelope").
   */
  readonly enveloped?: boolean;
  /** Ends the connection too: the rest of what arrives on it is not worth reading. */
  readonly closes?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
}

export const refusals = {
  invalidAuth: { status: 401, tag: 'invalid-auth', message: 'Invalid login credentials.' },
  accessRestricted: { status: 401, message: 'Access to this server is restricted.' },
  invalidPath: { status: 400, message: 'The path of the request is not valid.' },
  unknownRoute: { status: 404, message: 'There is no such endpoint.' },
  bodyEncoded: {
    status: 415,
    message: 'The request payload must not be encoded.',
    headers: { 'Accept-Encoding': 'identity' },
  },
  bodyTooLarge: { status: 413, message: 'The request payload is too large.' },
  bodyTooSlow: { status: 408, message: 'The request payload took too long to arrive.', closes: true },
  bodyIncomplete: { status: 400, message: 'The request payload did not arrive whole.' },
  bodyMemoryFull: {
    status: 503,
    message: 'The server is receiving too much at the moment. Please try again.',
    retryAfterMs: 2_000,
  },
  bodyNotUtf8: { status: 400, message: 'The request payload is not valid UTF-8.' },
  bodyNotJson: { status: 400, message: 'The request payload is not valid JSON.' },
  bodyNotObject: { status: 400, message: 'The request payload must be a JSON object.' },
  bodyTooDeep: { status: 400, message: 'The request payload is nested too deeply.' },
  bodyTooComplex: { status: 400, message: 'The request payload is too complex in one place.' },
  bodyTooManyValues: { status: 400, message: 'The request payload holds too many values.' },
  bodyOfOthersFirst: {
    status: 429,
    message: 'This account is sending much at once already. Please try again.',
    retryAfterMs: 5_000,
  },
  unexpected: { status: 500, message: 'The server could not answer this request. Please try again later.' },
  bodyNotDeclaredJson: {
    status: 415,
    message: 'A request with cookies, or of a browser, has to be sent as application/json.',
    headers: { Accept: 'application/json' },
  },
  noAnswer: {
    status: 503,
    message: 'The server did not finish in time. Please try again.',
    retryAfterMs: 1_000,
  },
} as const satisfies Record<string, HttpRefusal>;

export function tooManyRequests(retryAfterMs: number): HttpRefusal {
  return { status: 429, message: 'Too many requests. Please try again later.', retryAfterMs };
}

export function methodNotAllowed(allowed: readonly string[]): HttpRefusal {
  return {
    status: 405,
    message: 'This endpoint does not support that method.',
    headers: { Allow: allowed.join(', ') },
  };
}

export function refusalHeaders({
  headers,
  retryAfterMs,
}: HttpRefusal): Readonly<Record<string, string>> | undefined {
  if (retryAfterMs === undefined) return headers;
  return { ...headers, 'Retry-After': String(Math.max(1, Math.ceil(retryAfterMs / 1_000))) };
}

/** The inner body of a refusal as JSON text (docs/protocol/http.md, "Errors"). */
export function refusalJson(refusal: HttpRefusal): string {
  const { tag, message } = refusal;
  return JSON.stringify({ error: tag === undefined ? { message } : { tag, message } });
}

const statuses: Readonly<Record<RefusalReason, number>> = {
  'bad-request': 400,
  unauthenticated: 401,
  forbidden: 403,
  'not-found': 404,
  conflict: 409,
  'too-large': 413,
  locked: 423,
  'too-many': 429,
  // Clients exchange their tokens on this status.
  expired: 498,
  'not-implemented': 501,
  'upstream-failed': 502,
  unavailable: 503,
};

/** The status for a refusal of the domain. */
export const statusOf = ({ reason }: Pick<DomainRefusal, 'reason'>): number => statuses[reason];

/** A route's own refusal, in the form of a domain answer. */
export type RouteRefusal = Omit<DomainRefusal, 'reason'> & { readonly status: number };
