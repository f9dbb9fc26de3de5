import type { Credentials } from '../../actors/identity/session-tokens.ts';
import type { Actors, AskOptions } from '../../runtime/handles.ts';
import { type Cookies, parseCookies } from './cookies.ts';
import type { RawBody } from './receiving.ts';
import type { AnyRoute, Client, RequestContext } from './route.ts';
import type { HttpRequest } from './uws.ts';

/** What is copied from a request's head before the first await. */
export interface Head {
  readonly cookie: string;
  readonly userAgent: string;
  readonly snjsVersion: string;
  readonly applicationVersion: string;
  /** The values of the headers the route declares, in its order. */
  readonly declared: readonly string[];
}

const none: readonly string[] = [];

export function copyHead(req: HttpRequest, route: AnyRoute, cookie: string): Head {
  return {
    cookie,
    userAgent: req.getHeader('user-agent'),
    snjsVersion: req.getHeader('x-snjs-version'),
    applicationVersion: req.getHeader('x-application-version'),
    declared: route.headers === undefined ? none : route.headers.map((name) => req.getHeader(name)),
  };
}

const headerCharactersMax = 512;
const orNull = (text: string) => (text === '' ? null : text.slice(0, headerCharactersMax));

/** What goes on of a request while its handler runs. */
export interface Live {
  readonly gone: AbortSignal;
  readonly stopping: AbortSignal;
}

/** What a handler sees of its request. What few handlers need is made on demand. */
export class Context implements Omit<RequestContext<'optional-session'>, 'body'> {
  readonly actors: Actors;
  readonly credentials: Credentials | undefined;
  readonly requestId: string;
  readonly ask: AskOptions;
  readonly body: RawBody;
  readonly #route: AnyRoute;
  readonly #head: Head;
  readonly #address: () => string;
  readonly #live: Live;

  constructor(
    actors: Actors,
    credentials: Credentials | undefined,
    requestId: string,
    ask: AskOptions,
    body: RawBody,
    route: AnyRoute,
    head: Head,
    address: () => string,
    live: Live,
  ) {
    this.actors = actors;
    this.credentials = credentials;
    this.requestId = requestId;
    this.ask = ask;
    this.body = body;
    this.#route = route;
    this.#head = head;
    this.#address = address;
    this.#live = live;
  }

  get cookies(): Cookies {
    return parseCookies(this.#head.cookie);
  }

  get client(): Client {
    const { userAgent, applicationVersion } = this.#head;
    return {
      ipAddress: orNull(this.#address()),
      userAgent: orNull(userAgent),
      snjsVersion: this.snjsVersion,
      applicationVersion: orNull(applicationVersion),
    };
  }

  get snjsVersion(): string | null {
    return orNull(this.#head.snjsVersion);
  }

  get gone(): AbortSignal {
    return this.#live.gone;
  }

  get stopping(): AbortSignal {
    return this.#live.stopping;
  }

  header(name: string): string | undefined {
    const index = this.#route.headers?.indexOf(name) ?? -1;
    if (index < 0) throw new TypeError(`route ${this.#route.path} does not declare the header ${name}`);
    const value = this.#head.declared[index];
    return value === '' ? undefined : value;
  }
}
