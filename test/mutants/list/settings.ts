import type { Mutant } from '../mutant.ts';

const tests = ['test/behaviour/settings.test.ts'];

/** A setting that is read and goes nowhere. */
const unwired = (
  setting: string,
  harm: string,
  find: string,
  replace: string,
  file = 'config.ts',
): Mutant => ({
  name: `${setting.toLowerCase().replaceAll('_', '-')}-without-effect`,
  harm,
  file,
  find,
  replace,
  tests,
  match: `${setting} *`,
});

const ofAccounts = (setting: string, field: string, harm: string): Mutant =>
  unwired(setting, harm, `ms(values.${setting})`, `defaultAccountSettings.${field}`);

export const mutants: readonly Mutant[] = [
  ofAccounts('ACCESS_TOKEN_AGE', 'accessTokenAgeMs', 'Stolen tokens work for two months, whatever was set.'),
  ofAccounts('REFRESH_TOKEN_AGE', 'refreshTokenAgeMs', 'Sessions last a year, whatever was set.'),
  ofAccounts('SESSION_FRESHNESS_BUFFER', 'sessionFreshnessBufferMs', 'A shortened age signs everybody out.'),
  ofAccounts('EPHEMERAL_SESSION_AGE', 'ephemeralSessionAgeMs', 'Sessions on borrowed computers last days.'),
  ofAccounts('COOLDOWN_SESSION_TOKENS_TTL', 'replacedPairGraceMs', 'Replaced pairs refresh for two minutes.'),
  ofAccounts(
    'FAILED_LOGIN_LOCKOUT',
    'plainLockoutMs',
    'Failures are remembered for an hour, whatever was set.',
  ),
  ofAccounts(
    'FAILED_LOGIN_CAPTCHA_LOCKOUT',
    'captchaLockoutMs',
    'Accounts are locked for a day, whatever was set.',
  ),
  unwired(
    'MAX_LOGIN_ATTEMPTS',
    'A captcha is asked for after six failures, whatever was set.',
    'plainAttemptsMax: values.MAX_LOGIN_ATTEMPTS,',
    '',
  ),
  unwired(
    'MAX_CAPTCHA_LOGIN_ATTEMPTS',
    'Accounts are locked by other numbers than were set.',
    'captchaAttemptsMax: values.MAX_CAPTCHA_LOGIN_ATTEMPTS,',
    'captchaAttemptsMax: values.MAX_LOGIN_ATTEMPTS,',
  ),
  unwired(
    'DISABLE_USER_REGISTRATION',
    'A closed server takes strangers in.',
    'registrationDisabled: values.DISABLE_USER_REGISTRATION,',
    '',
  ),
  unwired(
    'WORKSPACES_PER_EMAIL_ENABLED',
    'Workspaces that were enabled are not.',
    'workspacesPerEmail: values.WORKSPACES_PER_EMAIL_ENABLED,',
    '',
  ),
  unwired(
    'READONLY_USERS',
    'Guests who may only read may write.',
    'readonlyUsers: emailsOf(values.READONLY_USERS),',
    '',
  ),
  unwired('ADMIN_EMAILS', 'The administrator is none.', 'adminEmails: emailsOf(values.ADMIN_EMAILS),', ''),
  {
    name: 'addresses-compared-in-capitals',
    harm: 'An operator who writes a guest’s address in capitals has made no guest of him.',
    file: 'config.ts',
    find: 'email.toLowerCase()',
    replace: 'email',
    tests,
    match: 'READONLY_USERS *',
  },
  unwired(
    'E2E_TESTING',
    'Conformance runs are slowed down and fail.',
    'const unlimited = values.E2E_TESTING;',
    'const unlimited = false;',
  ),
  unwired(
    'CORS_ORIGIN_STRICT_MODE_ENABLED',
    'Pages of any site read answers.',
    'strict: values.CORS_ORIGIN_STRICT_MODE_ENABLED',
    'strict: false',
  ),
  unwired(
    'CORS_ALLOWED_ORIGINS',
    'The operator’s own pages are shut out.',
    'allowedOrigins: values.CORS_ALLOWED_ORIGINS',
    "allowedOrigins: ['https://nobody.example']",
  ),
  unwired('TRUST_PROXY', 'Anybody types an address.', 'trustProxy: values.TRUST_PROXY,', ''),
  unwired(
    'RATE_LIMIT_PUBLIC',
    'Floods are not slowed down.',
    'unlimited ? 0 : values.RATE_LIMIT_PUBLIC',
    '0',
  ),
  unwired(
    'RATE_LIMIT_SESSION',
    'Floods of the signed-in are not slowed down.',
    'unlimited ? 0 : values.RATE_LIMIT_SESSION',
    '0',
  ),
  unwired(
    'HTTP_REQUEST_PAYLOAD_LIMIT_MEGABYTES',
    'Bodies are larger than the operator allows.',
    'largeBodyBytes: values.HTTP_REQUEST_PAYLOAD_LIMIT_MEGABYTES * 1_048_576,',
    '',
  ),
  unwired(
    'BODY_MEMORY_BYTES',
    'Bodies take more memory than the operator gives.',
    'bodyMemoryBytes: values.BODY_MEMORY_BYTES,',
    '',
  ),
  unwired(
    'SOCKETS_MAX',
    'The process runs out of file descriptors.',
    ', socketsMax: values.SOCKETS_MAX }',
    ' }',
  ),
  unwired(
    'ITEM_CONTENT_LIMIT',
    'Notes are larger than the operator allows.',
    'contentLimitBytes: values.ITEM_CONTENT_LIMIT,',
    'contentLimitBytes: 16_777_216,',
  ),
  unwired(
    'CONTENT_SIZE_TRANSFER_LIMIT',
    'Pages are larger than a slow line carries in time.',
    'transferLimitBytes: values.CONTENT_SIZE_TRANSFER_LIMIT,',
    'transferLimitBytes: 10_000_000,',
  ),
  unwired(
    'COOKIE_SAME_SITE',
    'Cookies go out with requests of other sites.',
    "sameSite: values.COOKIE_SAME_SITE ?? (secure ? 'None' : 'Lax'),",
    "sameSite: secure ? 'None' : 'Lax',",
  ),
  unwired(
    'COOKIE_DOMAIN',
    'Clients on another host of the domain have no session.',
    'domain: values.COOKIE_DOMAIN,',
    "domain: '',",
  ),
  unwired(
    'SHARED_SERVER_ACCESS_KEY',
    'A server meant for a family is open to the world.',
    'config: { ...config.gateway, accessKey }',
    'config: config.gateway',
    'process/gateway.ts',
  ),
  unwired(
    'SHARED_SERVER_ACCESS_KEY_MODE',
    'A key for registration is asked for everywhere.',
    'mode: config.accessKeyMode',
    "mode: 'all'",
    'process/gateway.ts',
  ),
  unwired(
    'SHARED_SERVER_ACCESS_KEY_EXEMPT',
    'Web clients behind a key open no socket.',
    ', exempt: config.accessKeyExempt }',
    ' }',
    'process/gateway.ts',
  ),
  {
    name: 'a-mistyped-key-mode-opens-the-gate',
    harm: 'One wrong letter in a mode, and the key guards nothing.',
    file: 'config/settings/access.ts',
    find: "mode === 'registration' || mode === 'off' ? mode : 'all'",
    replace: "mode === 'registration' || mode === 'all' ? mode : 'off'",
    tests,
    match: 'SHARED_SERVER_ACCESS_KEY*',
  },
  unwired(
    'CAPTCHA_SERVER_URL',
    'The captcha that was configured is asked for by nobody.',
    'config.captchaServerUrl === undefined ? undefined : createCaptchaVerifier(config.captchaServerUrl)',
    'undefined',
    'process/node.ts',
  ),
  unwired(
    'CAPTCHA_UI_URL',
    'Clients are not told where the captcha is.',
    'captchaUiUrl: config.captchaUiUrl ?? null',
    'captchaUiUrl: null',
    'process/gateway.ts',
  ),
];
