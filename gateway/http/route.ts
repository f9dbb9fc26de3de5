/**
 * One endpoint, one place: its method, path, access, input, answers and text in the API description are declared
 * together. From that the gateway does the rest (envelope, errors, limits, CORS, cookies).
 */
import type { z } from 'zod';
import type { Credentials } from '../../actors/identity/session-tokens.ts';
import type { Caller } from '../../actors/reply.ts';
import type { Actors, AskOptions } from '../../runtime/handles.ts';
import type { RateBucket } from '../admission/rate-limit.ts';
import type { BodyStream } from './body-stream.ts';
import type { AskPermission } from './permission.ts';
import type { HeaderValues } from './reply-headers.ts';

/** The methods that a route may declare: those of HTTP and those of DAV. */
export type Method =
  | ('GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS')
  | ('PROPFIND' | 'PROPPATCH' | 'REPORT' | 'SEARCH' | 'MKCOL' | 'MKCALENDAR' | 'COPY' | 'MOVE')
  | ('LOCK' | 'UNLOCK' | 'ACL');

/**
 * The access to a route. `public` needs nothing. `session` needs a bearer whose MAC is right; the actor decides the
 * rest. `optional-session` treats an absent or wrong bearer as none (docs/protocol/authentication.md, "Authenticating
 * a request").
 */
export type RouteAccess = 'public' | 'session' | 'optional-session';

/**
 * How a request's body reaches the handler. `json`: an object, merged into the request. `bytes`: whole, as the client
 * sent it. `stream`: while it arrives, held back while the handler is busy.
 */
export type BodyKind = 'json' | 'bytes' | 'stream';

export interface Client {
  /** Found by the trusted-proxy rule; never logged. */
  readonly ipAddress: string | null;
  readonly userAgent: string | null;
  readonly snjsVersion: string | null;
  readonly applicationVersion: string | null;
}

export interface RequestContext<A extends RouteAccess, B extends BodyKind = 'json'> {
  readonly actors: Actors;
  readonly credentials: A extends 'session'
    ? Credentials
    : A extends 'optional-session'
      ? Credentials | undefined
      : undefined;
  readonly client: Client;
  /** As in `client`. A route that needs nothing else is spared the costly search for the address. */
  readonly snjsVersion: string | null;
  /** One cookie name may come with several values; all are kept, in order. */
  readonly cookies: ReadonlyMap<string, readonly string[]>;
  /** One of the headers that the route declares in `headers`, lower case. Any other name is a defect. */
  header(name: string): string | undefined;
  readonly requestId: string;
  /** Deadline and call id of this request; pass them to every ask. */
  readonly ask: AskOptions;
  /** The body of a route with `bytes` or `stream`. What a handler has not read when it answers is discarded. */
  readonly body: { readonly json: undefined; readonly bytes: Buffer; readonly stream: BodyStream }[B];
  /** Aborted when the reply is no longer wanted: the client has left, or the gateway gave up on it. */
  readonly gone: AbortSignal;
  /** Aborted when the process is about to stop: long-running work should finish. */
  readonly stopping: AbortSignal;
  /**
   * Aborted when this session of the caller ends during the reply, also by a ban, so that work begun in a session
   * ends with it. Use it for one session at a time.
   */
  untilSessionEnds(sessionUuid: string): AbortSignal;
  /**
   * Asks every few seconds whether the request may go on, and ends it when it may not. If a session is needed and
   * this is not called, the gateway checks the session while its reply goes out.
   */
  onlyWhile(ask: AskPermission): void;
  /**
   * Reserves memory for this many bytes of the reply in all, before the handler asks for content that is given only once. The reply
   * then counts in no other bound, and no lack of memory breaks it off. False if no memory became free within seconds, or if the
   * client has left.
   */
  reserveReply(bytes: number): Promise<boolean>;
}

/** A body that goes out as it is made, no faster than its reader takes it. */
export interface ReplyStream {
  /**
   * Called when the bytes are wanted, which for HEAD is never. A source that holds something open releases it when
   * its iterator returns, and stops waiting when the request's `gone` is aborted. The head goes out with the first
   * chunk. If the source fails before it, the client gets an error as from a failing handler; a later failure breaks
   * the connection.
   */
  readonly open: () => AsyncIterable<Uint8Array>;
  /** The exact number of bytes to come; absent if unknown. */
  readonly lengthBytes?: number;
}

/** What a handler answers; one writer turns it into bytes. */
export interface RouteReply {
  readonly status: number;
  /** The inner body. If this and its alternatives are absent, there is no body at all (204). */
  readonly body?: unknown;
  /** Instead of `body`: the complete inner body as JSON text, if it is serialised already. */
  readonly json?: string;
  /** Instead of `body`: bytes, never in the envelope. */
  readonly bytes?: Uint8Array;
  /** Instead of `body`: a stream of bytes, never in the envelope. */
  readonly stream?: ReplyStream;
  /** Another type than JSON: `body` is then a text, which goes out unchanged and never in the envelope. */
  readonly contentType?: string;
  /** Complete `Set-Cookie` values. */
  readonly setCookies?: readonly string[];
  /** Each replaces the header of the same name that all replies of the route have. */
  readonly headers?: HeaderValues;
  /** For the envelope's `meta.auth`; absent on unauthenticated replies. */
  readonly caller?: Caller | undefined;
  /** With a `body` that is an object: both in the envelope and beside it, for readers that look in either place. */
  readonly duplicated?: boolean;
  /** Without the envelope (docs/protocol/http.md, "The envelope"). */
  readonly withoutEnvelope?: boolean;
}

/** For the API description: a body that is not JSON. */
export interface MediaBody {
  readonly mediaType: string;
}

export interface Route<A extends RouteAccess = RouteAccess, Request = unknown, B extends BodyKind = 'json'> {
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
  /** False for the few whose answers are never wrapped (docs/protocol/http.md, "The envelope"). */
  readonly enveloped?: false;
  /** The inner bodies by status, for the API description. */
  readonly replies: Readonly<Record<number, z.ZodType | MediaBody>>;
  /**
   * Names of the headers that the handler reads, lower case. Only these are available, because a request is gone
   * after the first await. What `client`, `cookies` and `credentials` hold needs no declaration.
   */
  readonly headers?: readonly string[];
  /**
   * For GET alone: answering changes nothing, and does not even record that it answered. HEAD then runs the handler
   * too and leaves out the body. Without it HEAD is a 405, unless a route of its own answers it.
   */
  readonly safe?: true;
  /** Absent: `json`. */
  readonly body?: B;
  /**
   * For a `stream` without a session: the user whom these headers prove to be its sender, and whose share of memory
   * it takes. All streams without such a proof share one part.
   */
  readonly streamOf?: (header: (name: string) => string) => string | undefined;
  /** For the API description of a body that is not JSON; `application/octet-stream` when absent. */
  readonly bodyType?: string;
  /** `small`: 64 KiB, when absent. `large`: the configured limit (50 MB). A number: that many bytes. */
  readonly bodyLimit?: 'small' | 'large' | number;
  /** The longest path parameter as the client sends it, escapes included; 1,024 characters when absent. */
  readonly parameterCharactersMax?: number;
  /**
   * The bearer of a cookie-style session is enough. Taken from its command (`SignedInShape`), for checks before the
   * command.
   */
  readonly bearerSuffices?: true | undefined;
  /** Instead of the counter that all routes of the same access share. */
  readonly rate?: RateBucket;
  /** Replace the headers of the same name that every reply has, on refusals too; an empty one leaves it out. */
  readonly replyHeaders?: HeaderValues;
  /**
   * `own`: the handler and its stream bound their time themselves. Otherwise the gateway gives up when one wait exceeds the time
   * of a request. It waits for the answer, for the next chunk, or for the handler to take the next chunk of the body.
   */
  readonly deadline?: 'own';
  /** The HTML page that says why the gateway refuses a request, for a route whose callers read no JSON. */
  readonly refusalPage?: (message: string) => string;
  readonly handle: (context: RequestContext<A, B>, request: Request) => Promise<RouteReply>;
}

// biome-ignore lint/suspicious/noExplicitAny: the router holds routes of any request
export type AnyRoute = Route<any, any, any>;

export function route<const A extends RouteAccess, Request, const B extends BodyKind = 'json'>(
  definition: Route<A, Request, B>,
): Route<A, Request, B> {
  return definition;
}

/**
 * Everything below a path, whether a route answers there or not. Its rules also hold for refusals that come before
 * the gateway knows the route.
 */
export interface Area {
  /** Without a trailing slash. The path itself is in the area too. */
  readonly prefix: string;
  /** Like those of a route, which win over these. */
  readonly replyHeaders?: HeaderValues;
  /** OPTIONS is a method like any other here, and never treated as a preflight. */
  readonly ownOptions?: true;
  /** All methods that any route in it answers. Any other method is a 405, also at paths without a route. */
  readonly methods?: readonly Method[];
}
