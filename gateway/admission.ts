/**
 * Whether a request may go on to its handler, decided from its head alone and in this order: preflight, path,
 * access key, rate, bearer. Cheap and synchronous, as it is all that most of a flood will ever see.
 */
import type { Credentials } from '../actors/mod.ts';
import { type AccessKeyGate, accessKeyHeader } from './access-key.ts';
import type { VerifyBearer } from './bearer.ts';
import type { ClientAddress } from './client-address.ts';
import type { Cors } from './cors.ts';
import type { RateLimiter } from './rate-limit.ts';
import { type Refusal, refusals, tooManyRequests } from './refusal.ts';
import type { Responder } from './responder.ts';
import type { AnyRoute, RateClass } from './route.ts';
import { isMatch, type Match, type Router } from './router.ts';
import type { HttpRequest, HttpResponse } from './uws.ts';

export interface Admitted {
  readonly match: Match;
  readonly query: string;
  readonly cookie: string;
  readonly credentials: Credentials | undefined;
  /** The client's address, empty when it can no longer be told. */
  readonly address: () => string;
}

export interface Admission {
  /** Undefined: the request was a preflight and has been answered. */
  admit(res: HttpResponse, req: HttpRequest, responder: Responder): Admitted | Refusal | undefined;
}

export const isAdmitted = (result: Admitted | Refusal | undefined): result is Admitted =>
  result !== undefined && 'match' in result;

export interface AdmissionPorts {
  readonly router: Router;
  readonly cors: Cors;
  readonly gate: AccessKeyGate | undefined;
  readonly limiter: RateLimiter;
  readonly clientAddress: ClientAddress;
  readonly verifyBearer: VerifyBearer;
}

export function createAdmission(ports: AdmissionPorts): Admission {
  const { router, cors, gate, limiter, clientAddress, verifyBearer } = ports;

  function addressReader(res: HttpResponse, req: HttpRequest, responder: Responder): () => string {
    const forwardedFor = clientAddress.readsForwardedFor ? req.getHeader('x-forwarded-for') : '';
    let address: string | undefined;
    return () => {
      if (address === undefined && responder.isFinished) return '';
      address ??= clientAddress.resolve(
        Buffer.from(res.getRemoteAddressAsText()).toString('latin1'),
        forwardedFor,
      );
      return address;
    };
  }

  function preflight(req: HttpRequest, responder: Responder, origin: string): void {
    responder.corsLines = cors.preflightLines(origin, req.getHeader('access-control-request-headers'));
    responder.send({ status: 204, contentType: 'text/plain', body: undefined });
  }

  return {
    admit(res, req, responder) {
      const method = req.getMethod();
      const origin = req.getHeader('origin');
      if (method === 'options') {
        preflight(req, responder, origin);
        return undefined;
      }
      responder.corsLines = cors.replyLines(origin);
      responder.headOnly = method === 'head';

      const path = req.getUrl();
      const match = router.find(method, path);
      const route = isMatch(match) ? match.route : undefined;
      if (gate?.guards(method, path, route?.path) && !gate.isKey(req.getHeader(accessKeyHeader))) {
        return refusals.accessRestricted;
      }
      const address = addressReader(res, req, responder);
      const rateClass = rateClassOf(route);
      const waitMs = limiter.limits(rateClass) ? limiter.take(rateClass, address()) : 0;
      if (waitMs > 0) return tooManyRequests(waitMs);
      if (!isMatch(match)) return match;

      const cookie = req.getHeader('cookie');
      const credentials =
        match.route.access === 'public' ? undefined : verifyBearer(req.getHeader('authorization'), cookie);
      if (credentials === undefined && match.route.access === 'session') return refusals.invalidAuth;
      return { match, query: req.getQuery() ?? '', cookie, credentials, address };
    },
  };
}

function rateClassOf(route: AnyRoute | undefined): RateClass {
  if (route === undefined) return 'public';
  return route.rateClass ?? (route.access === 'session' ? 'session' : 'public');
}
