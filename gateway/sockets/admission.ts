/**
 * Decides from the head alone whether an upgrade may go on to the user's actor: origin, access key, token, rate. Each
 * refuses before the upgrade, with its own answer, because clients take every socket that opens as a sign to sync.
 */
import { type AccessKeyGate, accessKeyHeader } from '../admission/access-key.ts';
import type { ClientAddress } from '../admission/client-address.ts';
import type { Cors } from '../admission/cors.ts';
import type { RateLimiter } from '../admission/rate-limit.ts';
import type { RequestHeaders } from '../http/headers.ts';
import { type HttpRefusal, refusals, tooManyRequests } from '../http/refusal.ts';
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

export type AdmitSocket = (
  res: HttpResponse,
  req: HttpRequest,
  headers: RequestHeaders,
) => SocketClaims | HttpRefusal;

/** The library would open the socket and close it at once. */
export const endsConnection = (headers: RequestHeaders): boolean =>
  /\bclose\b/i.test(headers.get('connection'));

export const endingConnection: HttpRefusal = {
  status: 400,
  message:
    'The request says "Connection: close" instead of "Connection: Upgrade". A proxy may have changed it.',
};
const foreignOrigin: HttpRefusal = { status: 403, message: 'Pages of this origin may not connect.' };

export function createSocketAdmission(options: SocketAdmissionOptions): AdmitSocket {
  const { cors, gate, limiter, clientAddress, tokens } = options;

  /** Counted like any request without a session. */
  function counted(res: HttpResponse, headers: RequestHeaders, refusal: HttpRefusal): HttpRefusal {
    if (!limiter.limits(limiter.public)) return refusal;
    const address = Buffer.from(res.getRemoteAddressAsText()).toString('latin1');
    const waitMs = limiter.take(
      limiter.public,
      clientAddress.resolve(address, headers.get('x-forwarded-for')),
    );
    return waitMs > 0 ? tooManyRequests(waitMs) : refusal;
  }

  return (res, req, headers) => {
    if (endsConnection(headers)) return counted(res, headers, endingConnection);
    if (!cors.admits(headers.get('origin'))) return counted(res, headers, foreignOrigin);
    const needsKey = gate?.guards('get', socketPath, socketPath) ?? false;
    if (needsKey && !gate?.isKey(headers.get(accessKeyHeader))) {
      return counted(res, headers, refusals.accessRestricted);
    }
    const claims = tokens.verify(req.getQuery('authToken') ?? '');
    if (claims === undefined) return counted(res, headers, refusals.invalidAuth);
    const waitMs = limiter.take(limiter.session, claims.userUuid);
    return waitMs > 0 ? tooManyRequests(waitMs) : claims;
  };
}
