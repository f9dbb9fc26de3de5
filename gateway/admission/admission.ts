/**
 * Decides by the head of a request whether it goes on to its handler. The order is: preflight, path, access key (a wrong one counts
 * like any public request), bearer, rate. The checks are cheap and synchronous, so most of a flood gets no further.
 */
import type { Credentials } from '../../actors/identity/session-tokens.ts';
import type { RequestHeaders } from '../http/headers.ts';
import type { Https } from '../http/https.ts';
import { type HttpRefusal, refusals, tooManyRequests } from '../http/refusal.ts';
import type { Responder } from '../http/responder.ts';
import type { AnyRoute } from '../http/route.ts';
import { isMatch, type Match, type RoutedArea, type Router } from '../http/router.ts';
import type { HttpRequest, HttpResponse } from '../http/uws.ts';
import { type AccessKeyGate, accessKeyHeader } from './access-key.ts';
import type { VerifyBearer } from './bearer.ts';
import type { ClientAddress } from './client-address.ts';
import type { Cors } from './cors.ts';
import type { RateBucket, RateLimiter } from './rate-limit.ts';

export interface Admitted {
  readonly match: Match;
  /** In lower case. */
  readonly method: string;
  readonly query: string;
  readonly headers: RequestHeaders;
  readonly credentials: Credentials | undefined;
  /** The client's address, empty when it can no longer be found. */
  readonly address: () => string;
}

/** The exchange's view of the request. Admission records there what it found, even if it refuses the request. */
export interface Arrival {
  readonly responder: Responder;
  match: Match | undefined;
}

export interface Admission {
  /** Undefined: the request was a preflight and has been answered. */
  admit(
    res: HttpResponse,
    req: HttpRequest,
    headers: RequestHeaders,
    arrival: Arrival,
  ): Admitted | HttpRefusal | undefined;
}

export const isAdmitted = (result: Admitted | HttpRefusal | undefined): result is Admitted =>
  result !== undefined && 'match' in result;

export interface AdmissionOptions {
  readonly router: Router;
  readonly cors: Cors;
  readonly https: Https;
  readonly gate: AccessKeyGate | undefined;
  readonly limiter: RateLimiter;
  readonly clientAddress: ClientAddress;
  readonly verifyBearer: VerifyBearer;
}

/**
 * Whether a page of another origin can make a browser send this request without a preflight.
 *
 * Such a page can send any POST with the type of a form or plain text, and any GET, as an image does. Fields may also
 * come in the query, so the page needs no body. Such a request does harm with the user's cookies. Without cookies it
 * does harm where a guess counts against the user's network. That is every route that needs no session, because the
 * page cannot add a bearer.
 */
const mayBeForged = (method: string, route: AnyRoute, headers: RequestHeaders): boolean =>
  isForgeable(method, route) &&
  (headers.get('cookie') !== '' || (route.access !== 'session' && isOfBrowser(headers))) &&
  !jsonTypePattern.test(headers.get('content-type'));

/**
 * A GET that takes guesses may also carry a session. Other GETs that change something are links that people open in a
 * browser.
 */
const isForgeable = (method: string, { body = 'json', access, safe }: AnyRoute): boolean =>
  body === 'json' && (method === 'post' || (method === 'get' && !safe && access === 'optional-session'));

/** Browsers say which site a request comes from. Other programs do not. */
const isOfBrowser = (headers: RequestHeaders): boolean =>
  headers.get('origin') !== '' || headers.get('sec-fetch-site') !== '';

/** Browsers also compare only the part before the parameters. */
const jsonTypePattern = /^application\/json *(;|$)/i;

export function createAdmission(options: AdmissionOptions): Admission {
  const { router, cors, https, gate, limiter, clientAddress, verifyBearer } = options;

  function addressReader(res: HttpResponse, headers: RequestHeaders, responder: Responder): () => string {
    let address: string | undefined;
    return () => {
      if (address === undefined && responder.isOver) return '';
      address ??= clientAddress.resolve(
        Buffer.from(res.getRemoteAddressAsText()).toString('latin1'),
        headers.get('x-forwarded-for'),
      );
      return address;
    };
  }

  /** Milliseconds until the client may make the request again, 0 if it may do so now. */
  function waitMs(
    route: AnyRoute | undefined,
    credentials: Credentials | undefined,
    address: () => string,
  ): number {
    const bucket = bucketOf(route, credentials);
    if (credentials !== undefined && bucket.by === 'user') return limiter.take(bucket, credentials.userUuid);
    // Finding the address costs as much as everything else here, so it happens only when needed.
    return limiter.limits(bucket) ? limiter.take(bucket, address()) : 0;
  }

  function bucketOf(route: AnyRoute | undefined, credentials: Credentials | undefined): RateBucket {
    const declared = route?.rate;
    if (declared !== undefined && (declared.by === 'address' || credentials !== undefined)) return declared;
    return route?.access === 'session' && credentials !== undefined ? limiter.session : limiter.public;
  }

  function preflight(area: RoutedArea, headers: RequestHeaders, responder: Responder, origin: string): void {
    responder.headers = area.headers;
    responder.corsLines = cors.preflightLines(origin, headers.get('access-control-request-headers'));
    responder.send({ status: 204, contentType: 'text/plain', body: undefined });
  }

  return {
    // biome-ignore lint/complexity/noExcessiveCognitiveComplexity: the order of the checks is what clients rely on.
    admit(res, req, headers, arrival) {
      const { responder } = arrival;
      const method = req.getMethod();
      const path = req.getUrl();
      const origin = headers.get('origin');
      responder.securityLines = https.replyLines(res, headers);
      const ownArea = method === 'options' ? router.areaOf(path) : undefined;
      if (ownArea?.ownOptions === false) {
        preflight(ownArea, headers, responder, origin);
        return undefined;
      }
      responder.corsLines = cors.replyLines(origin);
      responder.headOnly = method === 'head';

      const match = router.find(method, path);
      arrival.match = isMatch(match) ? match : undefined;
      const route = arrival.match?.route;
      responder.headers = arrival.match?.headers ?? router.areaOf(path).headers;
      const address = addressReader(res, headers, responder);
      if (gate?.guards(method, path, route?.path) && !gate.isKey(headers.get(accessKeyHeader))) {
        const waitToGuessMs = waitMs(undefined, undefined, address);
        return waitToGuessMs > 0 ? tooManyRequests(waitToGuessMs) : refusals.accessRestricted;
      }
      const credentials =
        route === undefined || route.access === 'public'
          ? undefined
          : verifyBearer(headers.get('authorization'), headers.get('cookie'));
      const retryAfterMs = waitMs(route, credentials, address);
      if (retryAfterMs > 0) return tooManyRequests(retryAfterMs);
      if (!isMatch(match)) return match;
      if (credentials === undefined && match.route.access === 'session') return refusals.invalidAuth;
      if (mayBeForged(method, match.route, headers)) return refusals.bodyNotDeclaredJson;
      return { match, method, query: req.getQuery() ?? '', headers, credentials, address };
    },
  };
}
