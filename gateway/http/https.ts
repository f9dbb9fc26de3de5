/**
 * Tells clients that come over https to use nothing else (HSTS). It does so if `PUBLIC_URL` is https, or if
 * `X-Forwarded-Proto` says so. The proxy need not be trusted, because the line concerns only the reader of that one reply and means
 * nothing over http. If a trusted proxy says https and `PUBLIC_URL` does not, cookies lack `Secure`. The server
 * then warns the operator, once.
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
  let isLogged = false;

  function warn(res: HttpResponse): void {
    if (isLogged || !isFromTrustedProxy(res)) return;
    isLogged = true;
    log.warn(
      'Clients come over https, but PUBLIC_URL is not https: set it, or cookies will not work in apps of other sites and will be sent over http too.',
    );
  }

  function isFromTrustedProxy(res: HttpResponse): boolean {
    const peer = Buffer.from(res.getRemoteAddressAsText()).toString('latin1');
    return clientAddress.isProxy(peer);
  }

  if (isPublicUrlHttps) return { replyLines: () => line };
  return {
    replyLines(res, headers) {
      if (!isHttps(headers.get('x-forwarded-proto'))) return '';
      warn(res);
      return line;
    },
  };
}

/** With several proxies, the first is the one that clients reach. */
const isHttps = (forwardedProto: string): boolean => /^\s*https\s*(,|$)/i.test(forwardedProto);
