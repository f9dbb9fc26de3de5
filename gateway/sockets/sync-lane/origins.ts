/**
 * The page origins that may open the lane: those of a list, and the server's own if that is allowed. A page of any other site
 * could use a cookie or a stolen ticket.
 */
import type { ClientAddress } from '../../admission/client-address.ts';
import type { RequestHeaders } from '../../http/headers.ts';
import type { GatewaySettings } from '../../settings.ts';

type OriginSettings = Pick<GatewaySettings['syncLane'], 'origins' | 'sameOrigin'>;
export type OriginCheck = (headers: RequestHeaders, peer: () => string) => boolean;

const originCharactersMax = 256;

export function createOriginCheck(
  { origins, sameOrigin }: OriginSettings,
  clientAddress: ClientAddress,
): OriginCheck {
  const listed = new Set(origins);

  function schemeOf(headers: RequestHeaders, peer: () => string): string | undefined {
    const forwarded = headers.get('x-forwarded-proto').trim().toLowerCase();
    if (forwarded === '' || !clientAddress.isProxy(peer())) return 'http';
    return forwarded === 'https' || forwarded === 'http' ? forwarded : undefined;
  }

  return (headers, peer) => {
    const origin = headers.get('origin');
    if (origin === '' || origin.length > originCharactersMax) return false;
    if (listed.has(origin)) return true;
    const scheme = sameOrigin ? schemeOf(headers, peer) : undefined;
    return scheme !== undefined && origin === `${scheme}://${headers.get('host').toLowerCase()}`;
  };
}

/**
 * Whether to tell the client about the lane. Browsers send no `Origin` with a GET to their own server. This admits nobody: the
 * upgrade checks again, and knows the scheme.
 */
export function isLaneAdvertised(
  { origins, sameOrigin }: OriginSettings,
  origin: string | undefined,
  host = '',
): boolean {
  if (origin === undefined || origin === '' || origins.includes(origin)) return true;
  return sameOrigin && ['https', 'http'].some((scheme) => origin === `${scheme}://${host.toLowerCase()}`);
}
