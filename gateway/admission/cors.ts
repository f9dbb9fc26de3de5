/**
 * Cross-origin access (docs/protocol/http.md, "Cross-origin access"). Requests carry credentials, so the reply echoes
 * the origin and never says `*`. By default every origin may call. In strict mode only desktop and extension origins,
 * localhost and a configured list may call; an empty list means every origin. Other origins get an answer without
 * these headers, and browsers withhold it from them.
 */
import type { GatewaySettings } from '../settings.ts';

export interface Cors {
  /**
   * Whether pages of this origin may call at all. Upgrades need this, because browsers do not withhold their answers.
   */
  admits(origin: string): boolean;
  /** Header lines for any reply, each preceded by a line break; empty when the origin may not read it. */
  replyLines(origin: string): string;
  /** The same for the answer to a preflight. `requestedHeaders` is `Access-Control-Request-Headers`. */
  preflightLines(origin: string, requestedHeaders: string): string;
}

const exposedHeaders =
  'x-captcha-required, X-Request-Id, Retry-After, Content-Range, Accept-Ranges, X-Sync-Command-Status, X-Sync-Command-Replayed';
const allowedMethods = 'GET, HEAD, PUT, PATCH, POST, DELETE';
const preflightAgeSeconds = 7_200;
const originCharactersMax = 256;
const headerListPattern = /^[\w!#$%&'*+.^`|~, -]{0,2048}$/;
const localhostPattern = /^http:\/\/localhost(:\d{1,5})?$/;

export function createCors(options: GatewaySettings['cors']): Cors {
  const listed = new Set(options.allowedOrigins);
  const everyOrigin = !options.strict || listed.size === 0;

  function mayRead(origin: string): boolean {
    if (origin.length > originCharactersMax) return false;
    if (everyOrigin || origin === 'null' || listed.has(origin)) return true;
    return (
      origin.startsWith('file://') || origin.startsWith('moz-extension://') || localhostPattern.test(origin)
    );
  }

  const granted = (origin: string) =>
    `\r\nAccess-Control-Allow-Origin: ${origin}\r\nAccess-Control-Allow-Credentials: true`;

  return {
    admits: (origin) => origin === '' || mayRead(origin),
    replyLines(origin) {
      if (origin === '' || !mayRead(origin)) return '';
      return `${granted(origin)}\r\nAccess-Control-Expose-Headers: ${exposedHeaders}`;
    },
    preflightLines(origin, requestedHeaders) {
      if (origin === '' || !mayRead(origin)) return '';
      const allowed = headerListPattern.test(requestedHeaders) ? requestedHeaders : '';
      const allowedLine = allowed === '' ? '' : `\r\nAccess-Control-Allow-Headers: ${allowed}`;
      return (
        `${granted(origin)}\r\nAccess-Control-Allow-Methods: ${allowedMethods}${allowedLine}` +
        `\r\nAccess-Control-Max-Age: ${preflightAgeSeconds}`
      );
    },
  };
}
