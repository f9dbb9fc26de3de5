import { defaultItemSettings } from '../../actors/settings.ts';
import { type AccessKeyExemption, accessKeyExemptions } from '../../gateway/admission/access-key.ts';
import { createClientAddress } from '../../gateway/admission/client-address.ts';
import { defaultGatewayConfig as defaults } from '../../gateway/server.ts';
import { integer, list, setting, text } from '../setting.ts';

const group = 'Access and limits';
const mebibyte = 1_048_576;

export const accessSettings = {
  TRUST_PROXY: setting({
    group,
    schema: text.refine(isTrustRule, 'is no list of addresses, ranges and names'),
    default: defaults.trustProxy,
    description:
      'Proxies whose `X-Forwarded-For` is believed: `true`, `false`, or addresses, CIDR ranges and the names `loopback`, `linklocal`, `uniquelocal`.',
  }),
  SHARED_SERVER_ACCESS_KEY: setting({
    group,
    schema: text,
    secret: true,
    description: 'A key that requests have to carry in the header `X-Shared-Server-Key`.',
  }),
  SHARED_SERVER_ACCESS_KEY_MODE: setting({
    group,
    // A mode mistyped must not open the gate, so whatever is unknown is the strictest (auth.md 1.5).
    schema: text.transform((mode) => (mode === 'registration' || mode === 'off' ? mode : 'all')),
    default: 'all',
    description: 'What the access key guards: `all`, `registration` or `off`. Anything else counts as `all`.',
  }),
  SHARED_SERVER_ACCESS_KEY_EXEMPT: setting({
    group,
    schema: list.refine(isExemptions, `is not a list of ${accessKeyExemptions.join(', ')}`),
    default: [],
    defaultText: 'none: health checks alone need no key',
    description:
      'What needs no access key in mode `all`, separated by commas. `sockets`: browsers cannot send it when they open one, and the token this takes was got with the key. Without it, web clients learn of changes by polling.',
  }),
  RATE_LIMIT_PUBLIC: setting({
    group,
    schema: integer(0),
    default: defaults.rateLimits.publicPerMinute,
    unit: 'requests/min',
    description:
      'Requests of one address to routes that need no session, or without the session a route needs. 0 is no limit.',
  }),
  RATE_LIMIT_SESSION: setting({
    group,
    schema: integer(0),
    default: defaults.rateLimits.sessionPerMinute,
    unit: 'requests/min',
    description: 'Requests of one account, by all its devices, to routes that need a session. 0 is no limit.',
  }),
  HTTP_REQUEST_PAYLOAD_LIMIT_MEGABYTES: setting({
    group,
    schema: integer(1, 1_024),
    default: defaults.largeBodyBytes / mebibyte,
    unit: 'MiB',
    description: 'The largest body of a sync. Requests without a session have 64 KiB.',
  }),
  BODY_MEMORY_BYTES: setting({
    group,
    schema: integer(mebibyte),
    default: defaults.bodyMemoryBytes,
    unit: 'bytes',
    description: 'What unfinished bodies may take of the memory of the process. More get 503.',
  }),
  SOCKETS_MAX: setting({
    group,
    schema: integer(0),
    default: defaults.sockets.socketsMax,
    unit: 'sockets',
    description:
      'Open sockets of this process. More are refused, and their clients poll. The process needs as many file descriptors and some more.',
  }),
  CONTENT_SIZE_TRANSFER_LIMIT: setting({
    group,
    schema: integer(1),
    default: defaultItemSettings.transferLimitBytes,
    unit: 'bytes',
    description: 'The size at which a page of a sync ends.',
  }),
  ITEM_CONTENT_LIMIT: setting({
    group,
    schema: integer(1, 64 * mebibyte),
    default: defaultItemSettings.contentLimitBytes,
    unit: 'bytes',
    description: 'The largest encrypted content of an item.',
  }),
};

function isExemptions(names: readonly string[]): names is readonly AccessKeyExemption[] {
  return names.every((name) => accessKeyExemptions.some((known) => known === name));
}

function isTrustRule(rule: string): boolean {
  try {
    createClientAddress(rule);
    return true;
  } catch {
    return false;
  }
}
