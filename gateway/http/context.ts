/** What a handler gets of its request: the checked fields, and a view of everything else. */

import { z } from 'zod';
import type { Credentials } from '../../actors/identity/session-tokens.ts';
import type { Actors, AskOptions } from '../../runtime/handles.ts';
import type { JsonObject } from './body.ts';
import { type Cookies, parseCookies } from './cookies.ts';
import type { RequestHeaders } from './headers.ts';
import type { AskPermission } from './permission.ts';
import type { RawBody } from './receiving.ts';
import type { HttpRefusal } from './refusal.ts';
import type { AnyRoute, Client, RequestContext, RouteAccess } from './route.ts';

const headerCharactersMax = 512;
const orNull = (text: string) => (text === '' ? null : text.slice(0, headerCharactersMax));

/** What happens to a request while its handler runs. */
export type Live = Pick<
  RequestContext<RouteAccess>,
  'gone' | 'stopping' | 'untilSessionEnds' | 'onlyWhile' | 'reserveReply'
>;

interface ContextParts {
  readonly actors: Actors;
  readonly credentials: Credentials | undefined;
  readonly requestId: string;
  readonly ask: AskOptions;
  readonly body: RawBody;
  readonly route: AnyRoute;
  readonly headers: RequestHeaders;
  readonly address: () => string;
  readonly live: Live;
}

/** A handler's view of its request. Values that few handlers need are made on demand. */
export class Context implements Omit<RequestContext<'optional-session'>, 'body'> {
  readonly actors: Actors;
  readonly credentials: Credentials | undefined;
  readonly requestId: string;
  readonly ask: AskOptions;
  readonly body: RawBody;
  readonly #parts: ContextParts;

  constructor(parts: ContextParts) {
    this.actors = parts.actors;
    this.credentials = parts.credentials;
    this.requestId = parts.requestId;
    this.ask = parts.ask;
    this.body = parts.body;
    this.#parts = parts;
  }

  get cookies(): Cookies {
    return parseCookies(this.#parts.headers.get('cookie'));
  }

  get client(): Client {
    return {
      ipAddress: orNull(this.#parts.address()),
      userAgent: orNull(this.#parts.headers.get('user-agent')),
      snjsVersion: this.snjsVersion,
      applicationVersion: orNull(this.#parts.headers.get('x-application-version')),
    };
  }

  get snjsVersion(): string | null {
    return orNull(this.#parts.headers.get('x-snjs-version'));
  }

  get gone(): AbortSignal {
    return this.#parts.live.gone;
  }

  get stopping(): AbortSignal {
    return this.#parts.live.stopping;
  }

  untilSessionEnds(sessionUuid: string): AbortSignal {
    return this.#parts.live.untilSessionEnds(sessionUuid);
  }

  onlyWhile(ask: AskPermission): void {
    this.#parts.live.onlyWhile(ask);
  }

  reserveReply(bytes: number): Promise<boolean> {
    return this.#parts.live.reserveReply(bytes);
  }

  header(name: string): string | undefined {
    const { route, headers } = this.#parts;
    if (!route.headers?.includes(name)) {
      throw new TypeError(`route ${route.path} does not declare the header ${name}`);
    }
    const value = headers.get(name);
    return value === '' ? undefined : value;
  }
}

// --- the fields --------------------------------------------------------------------------------------------

/*
 * What a handler gets: path parameters, query and body as one object, checked by the route's schema. Parameters win
 * over the body, and the body over the query. The API version comes under three names (docs/protocol/http.md,
 * "Requests"); a schema sees it as `api` only.
 */

/** `query` as the client sent it, without the question mark. `body` is consumed: it may become the result. */
export function mergeRequest(
  query: string,
  body: JsonObject,
  parameters: Readonly<Record<string, string>> | undefined,
): JsonObject {
  // Schemas copy what they know by name, so this key could only ever surprise.
  // biome-ignore lint/suspicious/noProto: an own property of a parsed body, not the accessor
  if (Object.hasOwn(body, '__proto__')) delete body['__proto__'];
  const merged = query === '' ? body : { ...queryFields(query), ...body };
  if (parameters !== undefined) Object.assign(merged, parameters);
  const version = merged['api'] ?? merged['api_version'] ?? merged['apiVersion'];
  if (version !== undefined) merged['api'] = version;
  return merged;
}

const versionFields = ['api', 'api_version', 'apiVersion'];

/** The fields of a body that the route's schema reads. Undefined if it reads any field. */
export function fieldNamesOf({ request }: AnyRoute): ReadonlySet<string> | undefined {
  if (!(request instanceof z.ZodObject) || request.def.catchall !== undefined) return undefined;
  return new Set([...Object.keys(request.shape), ...versionFields]);
}

const queryFieldsMax = 64;

/** The last value of a name counts, as in JSON. */
function queryFields(query: string): JsonObject {
  const fields: JsonObject = {};
  let left = queryFieldsMax;
  for (const [name, value] of new URLSearchParams(query)) {
    if (left-- === 0) break;
    if (name !== '__proto__') fields[name] = value;
  }
  return fields;
}

export type Validated = { readonly request: unknown } | HttpRefusal;

export function validateRequest(route: Pick<AnyRoute, 'request'>, merged: JsonObject): Validated {
  const result = route.request.safeParse(merged);
  if (result.success) return { request: result.data };
  return { status: 400, message: explain(result.error.issues[0], merged), enveloped: true };
}

const typeNames: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};

/** The first problem in words. It names fields and never values, which may be secrets. */
function explain(issue: z.core.$ZodIssue | undefined, merged: JsonObject): string {
  if (issue === undefined || issue.path.length === 0) return 'The request is not valid.';
  const field = fieldName(issue.path);
  if (isMissing(issue.path, merged)) return `${field} is missing.`;
  switch (issue.code) {
    case 'invalid_type': {
      const expected = typeNames[issue.expected];
      return expected === undefined ? `${field} is not valid.` : `${field} must be ${expected}.`;
    }
    case 'too_big':
      return issue.origin === 'string' ? `${field} is too long.` : `${field} is too large.`;
    case 'too_small':
      return issue.origin === 'string' ? `${field} is too short.` : `${field} is too small.`;
    default:
      return `${field} is not valid.`;
  }
}

const plainName = /^[A-Za-z]\w{0,63}$/;

/** `items[3].uuid`. The message leaves out a part that is no plain name, because the client chose it. */
function fieldName(path: readonly PropertyKey[]): string {
  let name = '';
  for (const part of path) {
    if (typeof part === 'number') name += `[${part}]`;
    else if (typeof part === 'string' && plainName.test(part)) name += name === '' ? part : `.${part}`;
    else return name === '' ? 'A field' : name;
  }
  return name;
}

function isMissing(path: readonly PropertyKey[], merged: JsonObject): boolean {
  let value: unknown = merged;
  for (const part of path) {
    if (typeof value !== 'object' || value === null) return false;
    value = (value as Record<PropertyKey, unknown>)[part];
  }
  return value === undefined;
}
