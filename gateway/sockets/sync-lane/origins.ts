/**
 * Pages of which origins may open the lane: those of a list, exactly, and those of the server itself. A cookie or a ticket in
 * the hands of another page would otherwise be used by it.
 */
import type { ClientAddress } from '../../admission/client-address.ts';
import type { RequestHeaders } from '../../http/headers.ts';
import type { GatewaySettings } from '../../settings.ts';

export type AdmitsOrigin = (headers: RequestHeaders, peer: () => string) => boolean;

const originCharactersMax = 256;
/** An address reserved for documentation: it can only come out if the peer is a proxy that is trusted. */
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
 * Whether the lane is worth telling of. Browsers send no `Origin` with a GET to their own server, and nobody is let in by this:
 * the upgrade decides, and knows the scheme.
 */
export function mayOpenLane(
  { origins, sameOrigin }: Pick<GatewaySettings['syncLane'], 'origins' | 'sameOrigin'>,
  origin: string | undefined,
  host = '',
): boolean {
  if (origin === undefined || origin === '' || origins.includes(origin)) return true;
  return sameOrigin && [`https://${host}`, `http://${host}`].includes(origin);
}
