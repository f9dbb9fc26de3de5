import type { Credentials } from '../../actors/identity/session-tokens.ts';
import type { Actors, AskOptions } from '../../runtime/handles.ts';
import { type Cookies, parseCookies } from './cookies.ts';
import type { RequestHeaders } from './headers.ts';
import type { AskPermission } from './permission.ts';
import type { RawBody } from './receiving.ts';
import type { AnyRoute, Client, RequestContext } from './route.ts';

const headerCharactersMax = 512;
const orNull = (text: string) => (text === '' ? null : text.slice(0, headerCharactersMax));

/** What happens to a request while its handler runs. */
export interface Live {
  readonly gone: AbortSignal;
  readonly stopping: AbortSignal;
  untilSessionEnds(sessionUuid: string): AbortSignal;
  onlyWhile(ask: AskPermission): void;
  reserveReply(bytes: number): Promise<boolean>;
}

/** A handler's view of its request. Values that few handlers need are made on demand. */
export class Context implements Omit<RequestContext<'optional-session'>, 'body'> {
  readonly actors: Actors;
  readonly credentials: Credentials | undefined;
  readonly requestId: string;
  readonly ask: AskOptions;
  readonly body: RawBody;
  readonly #route: AnyRoute;
  readonly #headers: RequestHeaders;
  readonly #address: () => string;
  readonly #live: Live;

  constructor({
    actors,
    credentials,
    requestId,
    ask,
    body,
    route,
    headers,
    address,
    live,
  }: {
    readonly actors: Actors;
    readonly credentials: Credentials | undefined;
    readonly requestId: string;
    readonly ask: AskOptions;
    readonly body: RawBody;
    readonly route: AnyRoute;
    readonly headers: RequestHeaders;
    readonly address: () => string;
    readonly live: Live;
  }) {
    this.actors = actors;
    this.credentials = credentials;
    this.requestId = requestId;
    this.ask = ask;
    this.body = body;
    this.#route = route;
    this.#headers = headers;
    this.#address = address;
    this.#live = live;
  }

  get cookies(): Cookies {
    return parseCookies(this.#headers.get('cookie'));
  }

  get client(): Client {
    return {
      ipAddress: orNull(this.#address()),
      userAgent: orNull(this.#headers.get('user-agent')),
      snjsVersion: this.snjsVersion,
      applicationVersion: orNull(this.#headers.get('x-application-version')),
    };
  }

  get snjsVersion(): string | null {
    return orNull(this.#headers.get('x-snjs-version'));
  }

  get gone(): AbortSignal {
    return this.#live.gone;
  }

  get stopping(): AbortSignal {
    return this.#live.stopping;
  }

  untilSessionEnds(sessionUuid: string): AbortSignal {
    return this.#live.untilSessionEnds(sessionUuid);
  }

  onlyWhile(ask: AskPermission): void {
    this.#live.onlyWhile(ask);
  }

  reserveReply(bytes: number): Promise<boolean> {
    return this.#live.reserveReply(bytes);
  }

  header(name: string): string | undefined {
    if (!this.#route.headers?.includes(name)) {
      throw new TypeError(`route ${this.#route.path} does not declare the header ${name}`);
    }
    const value = this.#headers.get(name);
    return value === '' ? undefined : value;
  }
}
