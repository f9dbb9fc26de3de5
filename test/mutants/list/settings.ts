import type { Mutant } from '../mutant.ts';

const tests = ['test/behaviour/settings.test.ts'];

/** A setting that is read under another name than operators give it, and so has no effect. */
const unwired = (setting: string, harm: string, file: string): Mutant => ({
  name: `${setting.toLowerCase().replaceAll('_', '-')}-without-effect`,
  harm,
  file,
  find: `name: '${setting}',`,
  replace: `name: '${setting}_',`,
  tests,
  match: `${setting} *`,
});

const ofAccounts = (setting: string, harm: string) => unwired(setting, harm, 'actors/settings.ts');
const ofGateway = (setting: string, harm: string) => unwired(setting, harm, 'gateway/settings.ts');

export const mutants: readonly Mutant[] = [
  ofAccounts('ACCESS_TOKEN_AGE', 'Stolen tokens work for two months, whatever was set.'),
  ofAccounts('REFRESH_TOKEN_AGE', 'Sessions last a year, whatever was set.'),
  ofAccounts('SESSION_FRESHNESS_BUFFER', 'A shortened age signs everybody out.'),
  ofAccounts('EPHEMERAL_SESSION_AGE', 'Sessions on borrowed computers last days.'),
  ofAccounts('COOLDOWN_SESSION_TOKENS_TTL', 'Replaced pairs refresh for two minutes.'),
  ofAccounts('FAILED_LOGIN_LOCKOUT', 'Failures are remembered for an hour, whatever was set.'),
  ofAccounts('FAILED_LOGIN_CAPTCHA_LOCKOUT', 'Accounts are locked for a day, whatever was set.'),
  ofAccounts('MAX_LOGIN_ATTEMPTS', 'A captcha is asked for after six failures, whatever was set.'),
  ofAccounts('MAX_CAPTCHA_LOGIN_ATTEMPTS', 'Accounts are locked by other numbers than were set.'),
  ofAccounts('DISABLE_USER_REGISTRATION', 'A closed server takes strangers in.'),
  ofAccounts('WORKSPACES_PER_EMAIL_ENABLED', 'Workspaces that were enabled are not.'),
  ofAccounts('READONLY_USERS', 'Guests who may only read may write.'),
  ofAccounts('ADMIN_EMAILS', 'The administrator is none.'),
  ofAccounts('E2E_TESTING', 'Conformance runs are slowed down and fail.'),
  ofGateway('CORS_ORIGIN_STRICT_MODE_ENABLED', 'Pages of any site read answers.'),
  ofGateway('CORS_ALLOWED_ORIGINS', 'The operator’s own pages are shut out.'),
  ofGateway('TRUST_PROXY', 'Anybody types an address.'),
  ofGateway('RATE_LIMIT_PUBLIC', 'Floods are not slowed down.'),
  ofGateway('RATE_LIMIT_SESSION', 'Floods of the signed-in are not slowed down.'),
  ofGateway('HTTP_REQUEST_PAYLOAD_LIMIT_MEGABYTES', 'Bodies are larger than the operator allows.'),
  ofGateway('BODY_MEMORY_BYTES', 'Bodies take more memory than the operator gives.'),
  ofGateway('SOCKETS_MAX', 'The process runs out of file descriptors.'),
  ofAccounts('ITEM_CONTENT_LIMIT', 'Notes are larger than the operator allows.'),
  ofAccounts('CONTENT_SIZE_TRANSFER_LIMIT', 'Pages are larger than a slow line carries in time.'),
  ofGateway('COOKIE_SAME_SITE', 'Cookies go out with requests of other sites.'),
  ofGateway('COOKIE_DOMAIN', 'Clients on another host of the domain have no session.'),
  ofGateway('SHARED_SERVER_ACCESS_KEY', 'A server meant for a family is open to the world.'),
  ofGateway('SHARED_SERVER_ACCESS_KEY_MODE', 'A key for registration is asked for everywhere.'),
  ofGateway('SHARED_SERVER_ACCESS_KEY_EXEMPT', 'Web clients behind a key open no socket.'),
  ofAccounts('CAPTCHA_SERVER_URL', 'The captcha that was configured is asked for by nobody.'),
  ofAccounts('CAPTCHA_UI_URL', 'Clients are not told where the captcha is.'),
  {
    name: 'addresses-compared-in-capitals',
    harm: 'An operator who writes a guest’s address in capitals has made no guest of him.',
    file: 'actors/settings.ts',
    find: 'email.toLowerCase()',
    replace: 'email',
    tests,
    match: 'READONLY_USERS *',
  },
  {
    name: 'a-mistyped-key-mode-opens-the-gate',
    harm: 'One wrong letter in a mode, and the key guards nothing.',
    file: 'gateway/settings.ts',
    find: "given === 'registration' || given === 'off' ? given : 'all'",
    replace: "given === 'registration' || given === 'all' ? given : 'off'",
    tests,
    match: 'SHARED_SERVER_ACCESS_KEY*',
  },
  {
    name: 'an-access-key-without-a-gate',
    harm: 'A server meant for a family is open to the world.',
    file: 'process/gateway.ts',
    find: '      accessKey,\n',
    replace: '',
    tests,
    match: 'SHARED_SERVER_ACCESS_KEY *',
  },
  {
    name: 'a-captcha-nobody-is-sent-to',
    harm: 'Clients are not told where the captcha is.',
    file: 'process/gateway.ts',
    find: 'captchaUiUrl: config.captchaUiUrl ?? null',
    replace: 'captchaUiUrl: null',
    tests,
    match: 'CAPTCHA_UI_URL *',
  },
];
