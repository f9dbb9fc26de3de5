/**
 * Whether an upgrade may go on to ask the user's actor, decided from its head alone: origin, access key, token, rate.
 * Each gets its own refusal, before the upgrade: clients take every socket that opens as a sign to sync.
 */
import { type AccessKeyGate, accessKeyHeader } from '../admission/access-key.ts';
import { type ClientAddress, forwardedForOf } from '../admission/client-address.ts';
import type { Cors } from '../admission/cors.ts';
import type { RateLimiter } from '../admission/rate-limit.ts';
import { type Refusal, refusals, tooManyRequests } from '../http/refusal.ts';
import type { HttpRequest, HttpResponse } from '../http/uws.ts';
import type { SocketClaims, SocketTokens } from './tokens.ts';

export const socketPath = '/sockets';

export interface SocketAdmissionOptions {
  readonly cors: Cors;
  readonly gate: AccessKeyGate | undefined;
  readonly limiter: RateLimiter;
  readonly clientAddress: ClientAddress;
  readonly tokens: Pick<SocketTokens, 'verify'>;
}

export type AdmitSocket = (res: HttpResponse, req: HttpRequest) => SocketClaims | Refusal;

const foreignOrigin: Refusal = { status: 403, message: 'Pages of this origin may not connect.' };

export function createSocketAdmission(options: SocketAdmissionOptions): AdmitSocket {
  const { cors, gate, limiter, clientAddress, tokens } = options;

  /** Counted like any request without a session. */
  function counted(res: HttpResponse, req: HttpRequest, refusal: Refusal): Refusal {
    if (!limiter.limits(limiter.public)) return refusal;
    const address = Buffer.from(res.getRemoteAddressAsText()).toString('latin1');
    const forwardedFor = clientAddress.readsForwardedFor ? forwardedForOf(req) : '';
    const waitMs = limiter.take(limiter.public, clientAddress.resolve(address, forwardedFor));
    return waitMs > 0 ? tooManyRequests(waitMs) : refusal;
  }

  return (res, req) => {
    if (!cors.admits(req.getHeader('origin'))) return counted(res, req, foreignOrigin);
    const needsKey = gate?.guards('get', socketPath, socketPath) ?? false;
    if (needsKey && !gate?.isKey(req.getHeader(accessKeyHeader))) {
      return counted(res, req, refusals.accessRestricted);
    }
    const claims = tokens.verify(req.getQuery('authToken') ?? '');
    if (claims === undefined) return counted(res, req, refusals.invalidAuth);
    const waitMs = limiter.take(limiter.session, claims.userUuid);
    return waitMs > 0 ? tooManyRequests(waitMs) : claims;
  };
}
