/**
 * Clients that come over https are told to use nothing else (HSTS): if `PUBLIC_URL` is https, and if a proxy
 * says so, trusted or not, as the line concerns only the reader of that one reply and means nothing over
 * http. If a trusted proxy says it and `PUBLIC_URL` does not, cookies lack the right attributes: the operator
 * is warned, once.
 */
import type { ClientAddress } from '../admission/client-address.ts';
import type { RequestHeaders } from './headers.ts';
import type { HttpResponse } from './uws.ts';

export interface HttpsOptions {
  /** Whether `PUBLIC_URL` is https. */
  readonly isPublicUrlHttps: boolean;
  /** 0: no header is sent. */
  readonly hstsSeconds: number;
  readonly clientAddress: ClientAddress;
  readonly log: { warn(message: string): void };
}

export interface Https {
  /** Header lines for the reply, each preceded by a line break. */
  replyLines(res: HttpResponse, headers: RequestHeaders): string;
}

export function createHttps({ isPublicUrlHttps, hstsSeconds, clientAddress, log }: HttpsOptions): Https {
  const line = hstsSeconds === 0 ? '' : `\r\nStrict-Transport-Security: max-age=${hstsSeconds}`;
  let isTold = false;

  function tell(res: HttpResponse): void {
    if (isTold || !isTrusted(res)) return;
    isTold = true;
    log.warn(
      'Clients come over https, but PUBLIC_URL is not https: set it, or cookies will not work in apps of other sites and will be sent over http too.',
    );
  }

  function isTrusted(res: HttpResponse): boolean {
    const peer = Buffer.from(res.getRemoteAddressAsText()).toString('latin1');
    return clientAddress.resolve(peer, nobody) === nobody;
  }

  if (isPublicUrlHttps) return { replyLines: () => line };
  return {
    replyLines(res, headers) {
      if (!isHttps(headers.get('x-forwarded-proto'))) return '';
      tell(res);
      return line;
    },
  };
}

/** An address reserved for documentation: it can only come out if the proxy is trusted. */
const nobody = '192.0.2.1';

/** With several proxies, the first is the one that clients reach. */
const isHttps = (forwardedProto: string): boolean => /^\s*https\s*(,|$)/i.test(forwardedProto);
