/**
 * The optional access-key gate (docs/protocol/http.md, "The access key"): with a key configured, requests must carry it
 * in `X-Shared-Server-Key`. Health paths are exempt, and preflights are answered before the gate.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { SettingsOf } from '../../runtime/setting.ts';
import { administrationPath } from '../pages/administration/path.ts';
import type { accessKeySettings } from '../settings.ts';

export interface AccessKeyOptions extends SettingsOf<typeof accessKeySettings> {
  readonly key: string;
  /** Calendar programs ask here, and they cannot send the key. */
  readonly davPath?: string;
}

export const accessKeyHeader = 'x-shared-server-key';

export interface AccessKeyGate {
  /** Whether a request needs the key. `pattern` is the matched route's, `method` lower case. */
  guards(method: string, path: string, pattern: string | undefined): boolean;
  isKey(key: string): boolean;
}

/** Undefined when there is nothing to guard. */
export function createAccessKeyGate(options: AccessKeyOptions | undefined): AccessKeyGate | undefined {
  if (options === undefined || options.key === '' || options.mode === 'off') return undefined;
  const expected = digest(options.key);
  const registrationOnly = options.mode === 'registration';
  const isExempt = exemptionOf(options);
  return {
    guards(method, path, pattern) {
      if (registrationOnly) return method === 'post' && (pattern === '/v1/users' || pattern === '/auth');
      // Mail programs, and people without an account, have no key; the link's own MAC guards it.
      if (pattern === '/v1/mail/unsubscribe/:token') return false;
      // A browser cannot send the key for a page. The page tells nothing, and asks for the key before it asks the server.
      if (pattern === administrationPath) return false;
      return (
        path !== '/health' &&
        path !== '/healthcheck' &&
        !path.startsWith('/healthcheck/') &&
        !isExempt(method, path, pattern)
      );
    },
    // Digests have one length, so the comparison always takes the same time.
    isKey: (key) => timingSafeEqual(digest(key), expected),
  };
}

type GatedRequest = Parameters<AccessKeyGate['guards']>;

function exemptionOf({ exempt, davPath }: AccessKeyOptions): (...request: GatedRequest) => boolean {
  const isNamed = new Set<string>(exempt);
  return (method, path, pattern) =>
    (isNamed.has('sockets') && path === '/sockets') ||
    (isNamed.has('dav') && davPath !== undefined && `${path}/`.startsWith(`${davPath}/`)) ||
    (isNamed.has('shares') && isOpening(method, pattern)) ||
    (isNamed.has('assistant') && assistantPatterns.has(pattern ?? '')) ||
    (isNamed.has('callback') && method === 'get' && pattern === '/v1/assistant/subscription/callback') ||
    (isNamed.has('codehost') && codeHostPatterns.has(pattern ?? ''));
}

/** All but the first of these need a session, and the client needed the key to open it. */
const assistantPatterns = new Set(
  ['config', 'models', 'usage', 'stream'].map((name) => `/v1/assistant/${name}`),
);
const codeHostPatterns = new Set(['codehost', 'github'].map((name) => `/v1/integrations/${name}/publish`));

/** The page that opens shares, and the endpoint that the page asks. */
const isOpening = (method: string, pattern: string | undefined): boolean =>
  pattern === '/' || (method === 'get' && pattern === '/v1/shares/:shareId');

const digest = (text: string) => createHash('sha256').update(text).digest();
