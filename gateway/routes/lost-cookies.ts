/**
 * Refuses a sign-in whose cookies the browser would discard (docs/protocol/authentication.md, "Cookies"). Otherwise the client
 * would ask for the password again and again. The refusal says what to configure. In doubt the sign-in goes ahead: for clients
 * that are no browsers, for old browsers behind https, and for two host names of one domain.
 */
import { isIP } from 'node:net';
import type { RouteRefusal } from '../http/refusal.ts';
import type { AnyRoute, RequestContext, Route } from '../http/route.ts';
import type { CookieOptions } from '../settings.ts';
import { errorBodySchema, refusedAnswer } from './endpoint.ts';

const cookieApiVersion = '20240226';

const otherSite: RouteRefusal = {
  status: 400,
  tag: 'cookies-of-another-site',
  message:
    'This page and the server are different sites, so the browser would not keep the session. Open both under one host name, or let the server be reached over https and set PUBLIC_URL to that address.',
};
const notSecure: RouteRefusal = {
  status: 400,
  tag: 'cookies-need-https',
  message:
    'The browser would not keep the session, as its cookies need https. Open the server over https, or set PUBLIC_URL to the http address under which it is reached.',
};

interface OriginHeaders {
  readonly origin: string;
  /** With the port. */
  readonly host: string;
  /** `Sec-Fetch-Site`, or empty. Browsers send it only to https and to loopback. */
  readonly fetchSite: string;
  /** `X-Forwarded-Proto`, or empty. */
  readonly forwardedProto: string;
}

/** The route `opening`, which opens sessions, with this check before it. */
export function refusingLostCookies<Request extends { readonly api?: string | null | undefined }>(
  cookies: CookieOptions,
  opening: Route<'public', Request>,
): AnyRoute {
  return {
    ...opening,
    headers: [...(opening.headers ?? []), 'origin', 'host', 'sec-fetch-site', 'x-forwarded-proto'],
    replies: { 400: errorBodySchema, ...opening.replies },
    handle: async (context: RequestContext<'public'>, request: Request) => {
      const sent = (name: string) => context.header(name) ?? '';
      const headers = {
        origin: sent('origin'),
        host: sent('host'),
        fetchSite: sent('sec-fetch-site'),
        forwardedProto: sent('x-forwarded-proto'),
      };
      const refused = request.api === cookieApiVersion ? lostCookies(cookies, headers) : undefined;
      return refused === undefined ? opening.handle(context, request) : refusedAnswer(refused);
    },
  };
}

/** The refusal, if the browser would certainly not return the cookies. */
export function lostCookies(
  { sameSite, secure }: Pick<CookieOptions, 'sameSite' | 'secure'>,
  { origin, host, fetchSite, forwardedProto }: OriginHeaders,
): RouteRefusal | undefined {
  const page = URL.canParse(origin) ? new URL(origin) : undefined;
  const server = URL.canParse(`http://${host}`) ? new URL(`http://${host}`) : undefined;
  if (page === undefined || server === undefined || !page.protocol.startsWith('http')) return undefined;
  const isPlain = page.protocol === 'http:' && fetchSite === '' && !/^https$/i.test(forwardedProto.trim());
  const isCrossSite = fetchSite === '' ? !mayShareSite(page, server) : fetchSite === 'cross-site';
  const isLostByScheme = secure && isPlain && !isLoopbackName(server.hostname);
  if (isLostByScheme) return isCrossSite ? otherSite : notSecure;
  return isCrossSite && sameSite !== 'None' ? otherSite : undefined;
}

/** Two names with the same last two labels may belong to one site. This code does not know the list of public suffixes. */
function mayShareSite({ hostname: one }: URL, { hostname: other }: URL): boolean {
  if (one === other) return true;
  return !isAddress(one) && !isAddress(other) && endOf(one) === endOf(other);
}

const isAddress = (hostname: string): boolean => isIP(hostname.replace(/^\[|\]$/g, '')) !== 0;
const endOf = (hostname: string): string => hostname.split('.').slice(-2).join('.');
const isLoopbackName = (hostname: string): boolean =>
  /^(localhost|.+\.localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
