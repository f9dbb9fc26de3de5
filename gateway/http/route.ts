/**
 * One endpoint, one place: method, path, who may call, what it takes, what it answers and its text in the API
 * description are declared together. The gateway does the rest (envelope, errors, limits, CORS, cookies) from it.
 */
import type { z } from 'zod';
import type { Credentials } from '../../actors/identity/session-tokens.ts';
import type { Caller } from '../../actors/reply.ts';
import type { Actors, AskOptions } from '../../runtime/handles.ts';
import type { RateBucket } from '../admission/rate-limit.ts';
import type { BodyStream } from './body-stream.ts';
import type { AskPermission } from './permission.ts';
import type { HeaderValues } from './reply-headers.ts';

/** What routes may be declared for: the methods of HTTP, and those of DAV. */
export type Method =
  | ('GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS')
  | ('PROPFIND' | 'PROPPATCH' | 'REPORT' | 'SEARCH' | 'MKCOL' | 'MKCALENDAR' | 'COPY' | 'MOVE')
  | ('LOCK' | 'UNLOCK' | 'ACL');

/**
 * Who may call: `public` needs nothing, `session` a bearer whose MAC is right (the actor decides the rest),
 * `optional-session` treats an absent or wrong bearer as none (docs/protocol/authentication.md, "Authenticating a
 * request").
 */
export type Access = 'public' | 'session' | 'optional-session';

/**
 * How a request's body reaches the handler. `json`: an object, merged into the request. `bytes`: whole, as it came.
 * `stream`: while it arrives, held back while the handler is busy with what it has.
 */
export type BodyKind = 'json' | 'bytes' | 'stream';

export interface Client {
  /** By the trusted-proxy rule; never logged. */
  readonly ipAddress: string | null;
  readonly userAgent: string | null;
  readonly snjsVersion: string | null;
  readonly applicationVersion: string | null;
}

export interface RequestContext<A extends Access, B extends BodyKind = 'json'> {
  readonly actors: Actors;
  readonly credentials: A extends 'session'
    ? Credentials
    : A extends 'optional-session'
      ? Credentials | undefined
      : undefined;
  readonly client: Client;
  /** That of `client`, for routes that need nothing else of it: its address is costly to find. */
  readonly snjsVersion: string | null;
  /** One cookie name may come with several values; all are kept, in order. */
  readonly cookies: ReadonlyMap<string, readonly string[]>;
  /** One of the headers that the route declares in `headers`, lower case. Asking for another is a defect. */
  header(name: string): string | undefined;
  readonly requestId: string;
  /** Deadline and call id of this request, to be handed to every ask. */
  readonly ask: AskOptions;
  /** What a route of `bytes` or `stream` was sent. What a handler has not read when it answers is thrown away. */
  readonly body: { readonly json: undefined; readonly bytes: Buffer; readonly stream: BodyStream }[B];
  /** Aborted when the reply is no longer wanted: the client has left, or was given up on. */
  readonly gone: AbortSignal;
  /** Aborted when the process is about to stop: long-running work should finish. */
  readonly stopping: AbortSignal;
  /**
   * Aborted when this session of the caller ends while the reply goes on, be it by a ban: what was begun in a session
   * should end with it. Of one session at a time.
   */
  untilSessionEnds(sessionUuid: string): AbortSignal;
  /**
   * Asks every few seconds whether the request may go on, and ends it when it may not. Where a session is needed and nothing
   * is asked here, the session itself is asked about while its reply goes out.
   */
  onlyWhile(ask: AskPermission): void;
  /**
   * Has memory for this many bytes of the reply in all, before what is given only once is asked for. It then counts in
   * no other bound, and no want of memory breaks it off. False: for seconds there was none, or the client has left.
   */
  takeReplyRoom(bytes: number): Promise<boolean>;
}

/** A body that goes out as it is made, no faster than its reader takes it. */
export interface ReplyStream {
  /**
   * Called when the bytes are wanted, which for HEAD they never are. What holds something open lets go of it when its
   * iterator returns, and does not wait on when the request's `gone` is aborted. The head goes out with the first
   * chunk: a source that fails before it is answered like a handler that does, one that fails later breaks the
   * connection.
   */
  readonly open: () => AsyncIterable<Uint8Array>;
  /** Exactly how many bytes will come; absent when that is not known. */
  readonly lengthBytes?: number;
}

/** What a handler answers; one writer turns it into bytes. */
export interface RouteReply {
  readonly status: number;
  /** The inner body. Absent, and nothing instead of it: no body at all (204). */
  readonly body?: unknown;
  /** Instead of `body`: the complete inner body as JSON text, for what was serialised already. */
  readonly json?: string;
  /** Instead of `body`: bytes, never in the envelope. */
  readonly bytes?: Uint8Array;
  /** Instead of `body`: a stream of bytes, never in the envelope. */
  readonly stream?: ReplyStream;
  /** Another type than JSON: `body` is then a text and goes out as it is, never in the envelope. */
  readonly contentType?: string;
  /** Complete `Set-Cookie` values. */
  readonly setCookies?: readonly string[];
  /** Each replaces the header of its name that all replies of the route have. */
  readonly headers?: HeaderValues;
  /** For the envelope's `meta.auth`; absent on unauthenticated replies. */
  readonly caller?: Caller | undefined;
  /** With a `body` that is an object: in the envelope and beside it, for readers that look in either place. */
  readonly bothWays?: boolean;
  /** Without the envelope (docs/protocol/http.md, "The envelope"). */
  readonly bare?: boolean;
}

/** For the API description: a body that is no JSON. */
export interface MediaBody {
  readonly mediaType: string;
}

export interface Route<A extends Access = Access, Request = unknown, B extends BodyKind = 'json'> {
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
   * Names of the headers the handler reads, lower case. Only these are copied: a request is gone after the first
   * await. What `client`, `cookies` and `credentials` hold needs no declaration.
   */
  readonly headers?: readonly string[];
  /**
   * For GET alone: answering changes nothing, not even that it was answered. HEAD then runs the handler too and keeps the body
   * back. Without it HEAD is a 405, unless a route of its own answers it.
   */
  readonly safe?: true;
  /** Absent: `json`. */
  readonly body?: B;
  /**
   * For a `stream` that comes without a session: the user whom these headers prove to be its sender, and whose share of memory it
   * takes. All streams without such a proof share one part.
   */
  readonly streamOf?: (header: (name: string) => string) => string | undefined;
  /** For the API description, of a body that is no JSON; `application/octet-stream` when absent. */
  readonly bodyType?: string;
  /** `small`: 64 KiB, when absent. `large`: the configured limit (50 MB). A number: so many bytes. */
  readonly bodyLimit?: 'small' | 'large' | number;
  /** The longest path parameter as sent, escapes included; 1,024 characters when absent. */
  readonly parameterCharactersMax?: number;
  /** The bearer of a cookie-style session is enough: that of its command (`SignedInShape`), for checks before it is asked. */
  readonly bearerAlone?: true | undefined;
  /** Instead of the count that all routes of its access share. */
  readonly rate?: RateBucket;
  /** Replace the headers of the same name that every reply has, on refusals too; an empty one leaves it out. */
  readonly replyHeaders?: HeaderValues;
  /**
   * `own`: the handler and its stream bound their time themselves. Otherwise each is given up on when it
   * keeps us waiting for longer than a request may take: for the answer, for the next chunk, or to take the
   * next chunk of the body.
   */
  readonly deadline?: 'own';
  /** The HTML page that says why the gateway refuses a request, for a route whose callers read no JSON. */
  readonly refusalPage?: (message: string) => string;
  /** The message of the 400 when the request does not fit, where clients compare it. */
  readonly invalidMessage?: string;
  readonly handle: (context: RequestContext<A, B>, request: Request) => Promise<RouteReply>;
}

// biome-ignore lint/suspicious/noExplicitAny: the router holds routes of any request
export type AnyRoute = Route<any, any, any>;

export function route<const A extends Access, Request, const B extends BodyKind = 'json'>(
  definition: Route<A, Request, B>,
): Route<A, Request, B> {
  return definition;
}

/**
 * All that lies below a path, whether a route answers there or not. It says what also holds for refusals that come
 * before a route is known.
 */
export interface Area {
  /** Without a trailing slash. The path itself is in the area too. */
  readonly prefix: string;
  /** As those of a route, whose own win. */
  readonly replyHeaders?: HeaderValues;
  /** OPTIONS is a method like any other here, and never answered as a preflight. */
  readonly ownOptions?: true;
  /** All that is answered anywhere in it: any other is a 405, at paths too where there is nothing. */
  readonly methods?: readonly Method[];
}
