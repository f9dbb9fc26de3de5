import { choice, flag, list, setting, text } from '../setting.ts';

const group = 'Browsers';

export const browserSettings = {
  COOKIE_SAME_SITE: setting({
    group,
    schema: choice(['None', 'Lax', 'Strict']),
    defaultText: '`None` where `PUBLIC_URL` is https, else `Lax`',
    description:
      'The `SameSite` attribute of the session cookies: `None`, `Lax` or `Strict`. `None` needs `COOKIE_SECURE`.',
  }),
  COOKIE_SECURE: setting({
    group,
    schema: flag,
    defaultText: 'whether `PUBLIC_URL` is https',
    description: 'The `Secure` attribute: browsers send the cookies over https alone.',
  }),
  COOKIE_PARTITIONED: setting({
    group,
    schema: flag,
    defaultText: 'whether `PUBLIC_URL` is https',
    description: 'The `Partitioned` attribute. Needs `COOKIE_SECURE`.',
  }),
  COOKIE_DOMAIN: setting({
    group,
    schema: text.regex(/^[\w.-]+$/, 'is no domain'),
    default: '',
    defaultText: 'this host only',
    description: 'The `Domain` attribute of the session cookies.',
  }),
  CORS_ORIGIN_STRICT_MODE_ENABLED: setting({
    group,
    schema: flag,
    default: false,
    description:
      'Lets only the origins of `CORS_ALLOWED_ORIGINS`, desktop and extension apps and localhost read answers.',
  }),
  CORS_ALLOWED_ORIGINS: setting({
    group,
    schema: list,
    default: [],
    description: 'Origins, separated by commas, for the strict mode. An empty list allows every origin.',
  }),
};
