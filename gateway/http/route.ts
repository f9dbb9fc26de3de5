/**
 * One endpoint, one place: method, path, who may call, what it takes, what it answers and its text in the API
 * description are declared together. The gateway does the rest (envelope, errors, limits, CORS, cookies) from it.
 */
import type { z } from 'zod';
import type { Credentials } from '../../actors/identity/session-tokens.ts';
import type { Caller } from '../../actors/reply.ts';
import type { Actors, AskOptions } from '../../runtime/kind.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/**
 * Who may call: `public` needs nothing, `session` a bearer whose MAC is right (the actor decides the rest),
 * `optional-session` treats an absent or wrong bearer as none (auth.md 3.5).
 */
export type Access = 'public' | 'session' | 'optional-session';

export interface Client {
  /** By the trusted-proxy rule; never logged. */
  readonly ipAddress: string | null;
  readonly userAgent: string | null;
  readonly snjsVersion: string | null;
  readonly applicationVersion: string | null;
}

export interface RequestContext<A extends Access> {
  readonly actors: Actors;
  readonly credentials: A extends 'session'
    ? Credentials
    : A extends 'optional-session'
      ? Credentials | undefined
      : undefined;
  readonly client: Client;
  /** That of `client`, for those that need nothing else of it: its address is dear to make out. */
  readonly snjsVersion: string | null;
  /** One cookie name may come with several values; all are kept, in order. */
  readonly cookies: ReadonlyMap<string, readonly string[]>;
  /** One of the headers that the route declares in `headers`, lower case. Asking for another is a defect. */
  header(name: string): string | undefined;
  readonly requestId: string;
  /** Deadline and call id of this request, to be handed to every ask. */
  readonly ask: AskOptions;
}

/** What a handler answers; one writer turns it into bytes. */
export interface RouteReply {
  readonly status: number;
  /** The inner body. Absent, and no `json` either: no body at all (204). */
  readonly body?: unknown;
  /** Instead of `body`: the complete inner body as JSON text, for what was serialised already. */
  readonly json?: string;
  /** Another type than JSON: `body` is then a text and goes out as it is, never in the envelope. */
  readonly contentType?: string;
  /** Complete `Set-Cookie` values. */
  readonly setCookies?: readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
  /** For the envelope's `meta.auth`; absent on unauthenticated replies. */
  readonly caller?: Caller | undefined;
  /** Without the envelope (auth.md 1.1, "Not wrapped"). */
  readonly bare?: boolean;
}

export interface Route<A extends Access = Access, Request = unknown> {
  readonly method: Method;
  /** Segments separated by `/`; a segment `:name` is a parameter. Without a trailing slash; both are served. */
  readonly path: string;
  readonly access: A;
  /** One sentence for the API description. */
  readonly summary: string;
  readonly tag: string;
  /**
   * The schema of path parameters, query and JSON body merged into one object, parameters winning over the body
   * and the body over the query. Unknown keys are dropped.
   */
  readonly request: z.ZodType<Request>;
  /** False for the few whose answers are never wrapped (auth.md 1.1, "Not wrapped"). */
  readonly enveloped?: false;
  /** The inner bodies by status, for the API description. */
  readonly replies: Readonly<Record<number, z.ZodType>>;
  /**
   * Names of the headers the handler reads, lower case. Only these are copied: a request is gone after the first
   * await. What `client`, `cookies` and `credentials` hold needs no declaration.
   */
  readonly headers?: readonly string[];
  /** Probes: no rate limit counts them (see rate-limit.ts). */
  readonly unlimited?: true;
  /** `small`: 64 KiB, every public route. `large`: the configured limit (50 MB). */
  readonly bodyLimit?: 'small' | 'large';
  /** The message of the 400 when the request does not fit, where clients compare it. */
  readonly invalidMessage?: string;
  readonly handle: (context: RequestContext<A>, request: Request) => Promise<RouteReply>;
}

// biome-ignore lint/suspicious/noExplicitAny: the router holds routes of any request
export type AnyRoute = Route<any, any>;

export function route<const A extends Access, Request>(definition: Route<A, Request>): Route<A, Request> {
  return definition;
}
