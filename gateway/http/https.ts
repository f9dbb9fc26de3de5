/**
 * What clients reach over https they are told to reach over nothing else (HSTS). That is where `PUBLIC_URL` says so, and
 * where a proxy does, whoever typed it: the line concerns nobody but the reader of that one reply, and counts for nothing
 * over http. Where a trusted proxy says it and `PUBLIC_URL` does not, cookies are not what they should be: the operator
 * is told, once.
 */
import type { ClientAddress } from '../admission/client-address.ts';
import type { HttpRequest, HttpResponse } from './uws.ts';

export interface HttpsOptions {
  /** Whether `PUBLIC_URL` is https. */
  readonly isPublicUrlHttps: boolean;
  /** 0: nobody is told. */
  readonly hstsSeconds: number;
  readonly clientAddress: ClientAddress;
  readonly log: { warn(message: string): void };
}

export interface Https {
  /** Header lines for the reply, each preceded by a line break. To be asked while `req` is there. */
  replyLines(res: HttpResponse, req: HttpRequest): string;
}

export function createHttps({ isPublicUrlHttps, hstsSeconds, clientAddress, log }: HttpsOptions): Https {
  const line = hstsSeconds === 0 ? '' : `\r\nStrict-Transport-Security: max-age=${hstsSeconds}`;
  let isTold = false;

  function tell(res: HttpResponse): void {
    if (isTold || !isTrusted(res)) return;
    isTold = true;
    log.warn(
      'Clients come over https, and PUBLIC_URL does not say so: it is to be set, or cookies do not work in apps of other sites and go over http too.',
    );
  }

  function isTrusted(res: HttpResponse): boolean {
    if (!clientAddress.readsForwardedFor) return false;
    const peer = Buffer.from(res.getRemoteAddressAsText()).toString('latin1');
    return clientAddress.resolve(peer, nobody) === nobody;
  }

  if (isPublicUrlHttps) return { replyLines: () => line };
  return {
    replyLines(res, req) {
      if (!isHttps(req.getHeader('x-forwarded-proto'))) return '';
      tell(res);
      return line;
    },
  };
}

/** An address for documentation: only a trusted proxy is believed that somebody has it. */
const nobody = '192.0.2.1';

/** Of several proxies the first is the one that clients reach. */
const isHttps = (forwardedProto: string): boolean => /^\s*https\s*(,|$)/i.test(forwardedProto);
