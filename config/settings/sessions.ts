import { defaultAccountSettings as defaults } from '../../actors/settings.ts';
import { address, integer, setting } from '../setting.ts';

const seconds = (ms: number): number => ms / 1_000;
const daySeconds = 86_400;

const sessions = 'Sessions';
const signingIn = 'Signing in';

export const sessionSettings = {
  ACCESS_TOKEN_AGE: setting({
    group: sessions,
    schema: integer(1),
    default: seconds(defaults.accessTokenAgeMs),
    unit: 's',
    description: 'How long an access token is valid.',
  }),
  REFRESH_TOKEN_AGE: setting({
    group: sessions,
    schema: integer(1),
    default: seconds(defaults.refreshTokenAgeMs),
    unit: 's',
    description: 'How long a session can be refreshed.',
  }),
  SESSION_FRESHNESS_BUFFER: setting({
    group: sessions,
    schema: integer(0),
    default: seconds(defaults.sessionFreshnessBufferMs),
    unit: 's',
    description:
      'How much further away than `ACCESS_TOKEN_AGE` the end of an access token may be and still count.',
  }),
  EPHEMERAL_SESSION_AGE: setting({
    group: sessions,
    schema: integer(1),
    default: seconds(defaults.ephemeralSessionAgeMs),
    unit: 's',
    description: 'How long an ephemeral session is kept after its last refresh.',
  }),
  COOLDOWN_SESSION_TOKENS_TTL: setting({
    group: sessions,
    schema: integer(0, daySeconds),
    default: seconds(defaults.replacedPairGraceMs),
    unit: 's',
    description: 'How long a pair of tokens that was replaced can still refresh.',
  }),
  MAX_LOGIN_ATTEMPTS: setting({
    group: signingIn,
    schema: integer(1, 1_000),
    default: defaults.plainAttemptsMax,
    unit: 'attempts',
    description: 'Failures after which a captcha is asked for, where there is one.',
  }),
  FAILED_LOGIN_LOCKOUT: setting({
    group: signingIn,
    schema: integer(1),
    default: seconds(defaults.plainLockoutMs),
    unit: 's',
    description: 'How long those failures are remembered after the last of them.',
  }),
  MAX_CAPTCHA_LOGIN_ATTEMPTS: setting({
    group: signingIn,
    schema: integer(1, 1_000),
    default: defaults.captchaAttemptsMax,
    unit: 'attempts',
    description: 'Further failures after which the account is locked.',
  }),
  FAILED_LOGIN_CAPTCHA_LOCKOUT: setting({
    group: signingIn,
    schema: integer(1),
    default: seconds(defaults.captchaLockoutMs),
    unit: 's',
    description: 'How long the account stays locked after the last failure.',
  }),
  CAPTCHA_SERVER_URL: setting({
    group: signingIn,
    schema: address,
    description:
      'The captcha server that verifies tokens (`GET /verify?token=`). Without it no captcha is asked for.',
  }),
  CAPTCHA_UI_URL: setting({
    group: signingIn,
    schema: address,
    description: 'The page that shows the captcha, told to clients.',
  }),
};
