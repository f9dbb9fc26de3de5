/**
 * The page origins that may open the lane: exactly those of a list, and those of the server itself. Another page
 * could otherwise use a cookie or a ticket that it got hold of.
 */
import type { ClientAddress } from '../../admission/client-address.ts';
import type { RequestHeaders } from '../../http/headers.ts';
import type { GatewaySettings } from '../../settings.ts';

export type AdmitsOrigin = (headers: RequestHeaders, peer: () => string) => boolean;

const originCharactersMax = 256;
/** An address reserved for documentation: it appears only if the peer is a trusted proxy. */
const nobody = '192.0.2.1';

export function createOrigins(
  { origins, sameOrigin }: Pick<GatewaySettings['syncLane'], 'origins' | 'sameOrigin'>,
  clientAddress: ClientAddress,
): AdmitsOrigin {
  const listed = new Set(origins);

  function schemeOf(headers: RequestHeaders, peer: () => string): string | undefined {
    const forwarded = headers.get('x-forwarded-proto').trim().toLowerCase();
    if (forwarded === '' || clientAddress.resolve(peer(), nobody) !== nobody) return 'http';
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
 * Whether to tell the client about the lane. Browsers send no `Origin` with a GET to their own server. This does not admit the
 * client: the upgrade decides, and knows the scheme.
 */
export function mayOpenLane(
  { origins, sameOrigin }: Pick<GatewaySettings['syncLane'], 'origins' | 'sameOrigin'>,
  origin: string | undefined,
  host = '',
): boolean {
  if (origin === undefined || origin === '' || origins.includes(origin)) return true;
  return sameOrigin && [`https://${host}`, `http://${host}`].includes(origin);
}
