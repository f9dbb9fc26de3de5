/** Settings of the domain. Ages and lock-outs in milliseconds, sizes in bytes. */
import { dependency } from '../runtime/dependency.ts';
import {
  address,
  bytes,
  type Complete,
  days,
  defaultsOf,
  entriesOf,
  fixed,
  flag,
  integer,
  list,
  mebibyte,
  type SettingsOf,
  sameOnAllNodes,
  seconds,
  section,
  setting,
  text,
} from '../runtime/setting.ts';

const sessions = section('Sessions', {
  accessTokenAgeMs: seconds({
    name: 'ACCESS_TOKEN_AGE',
    min: 1,
    default: 5_184_000,
    description: 'How long an access token is valid.',
  }),
  refreshTokenAgeMs: seconds({
    name: 'REFRESH_TOKEN_AGE',
    min: 1,
    default: 31_556_926,
    description: 'How long a session can be refreshed.',
  }),
  /** An access expiry further away than age plus this is of a longer, older setting. */
  sessionFreshnessBufferMs: seconds({
    name: 'SESSION_FRESHNESS_BUFFER',
    min: 0,
    default: 10,
    description:
      'How much further away than `ACCESS_TOKEN_AGE` the end of an access token may be and still count.',
  }),
  ephemeralSessionAgeMs: seconds({
    name: 'EPHEMERAL_SESSION_AGE',
    min: 1,
    default: 259_200,
    description: 'How long an ephemeral session is kept after its last refresh.',
  }),
  replacedPairGraceMs: seconds({
    name: 'COOLDOWN_SESSION_TOKENS_TTL',
    min: 0,
    max: 86_400,
    default: 120,
    description: 'How long a pair of tokens that was replaced can still refresh.',
  }),
});

const signingIn = section('Signing in', {
  plainAttemptsMax: integer({
    name: 'MAX_LOGIN_ATTEMPTS',
    unit: 'attempts',
    min: 1,
    max: 1_000,
    default: 6,
    description: 'Failures of one network after which a captcha is asked for, where there is one.',
  }),
  plainLockoutMs: seconds({
    name: 'FAILED_LOGIN_LOCKOUT',
    min: 1,
    default: 3_600,
    description: 'How long those failures are remembered after the last of them.',
  }),
  captchaAttemptsMax: integer({
    name: 'MAX_CAPTCHA_LOGIN_ATTEMPTS',
    unit: 'attempts',
    min: 1,
    max: 1_000,
    default: 6,
    description: 'Further failures after which the account is locked for that network.',
  }),
  captchaLockoutMs: seconds({
    name: 'FAILED_LOGIN_CAPTCHA_LOCKOUT',
    min: 1,
    default: 86_400,
    description: 'How long the account stays locked after the last failure.',
  }),
  trustedDeviceAgeMs: days({
    name: 'AUTH_TRUSTED_DEVICE_DURATION_DAYS',
    min: 1,
    default: 30,
    description: 'How long a trusted device needs no second factor.',
  }),
  unknownOriginAttemptsMax: integer({
    name: 'MAX_STRANGER_LOGIN_ATTEMPTS',
    unit: 'attempts',
    min: 1,
    max: 100_000,
    default: 60,
    description:
      'Failures of all networks together from which nobody has signed in to the account. After them such networks have to wait a minute, then twice as long each time, an hour at most. Networks that are known are let through.',
  }),
  approvalAgeMs: seconds({
    name: 'AUTH_MFA_APPROVAL_TTL_SECONDS',
    min: 10,
    max: 3_600,
    default: 120,
    description: 'How long a sign-in waits for the approval of another device.',
  }),
  /** The time that a code challenge waits for its verifier. */
  challengeAgeMs: fixed(3_600_000),
});

const emails = (text: string): ReadonlySet<string> =>
  new Set(entriesOf(text).map((email) => email.toLowerCase()));

const accounts = section('Accounts', {
  registrationDisabled: flag({
    name: 'DISABLE_USER_REGISTRATION',
    default: false,
    description: 'Refuses new accounts.',
  }),
  workspacesPerEmail: flag({
    name: 'WORKSPACES_PER_EMAIL_ENABLED',
    default: false,
    description: 'Allows several accounts with one e-mail address, distinguished by a workspace.',
  }),
  readonlyUsers: setting(emails, {
    name: 'READONLY_USERS',
    default: '',
    description: 'E-mail addresses, separated by commas, whose sessions may only read.',
  }),
  auditAgeMs: days({
    name: 'AUDIT_TRAIL_DAYS',
    min: 1,
    max: 3_650,
    default: 365,
    description:
      'How long the audit trail of an account tells of an event: sign-ins, devices, factors, tokens, and what operators did.',
  }),
  openRegistration: flag({
    name: 'ALLOW_OPEN_REGISTRATION',
    default: false,
    description:
      'Says that anybody who reaches the server shall register. Where `HOST` is not a loopback address the start needs this, `DISABLE_USER_REGISTRATION` or an access key.',
  }),
  adminEmails: setting(emails, {
    name: 'ADMIN_EMAILS',
    default: '',
    description:
      'E-mail addresses, separated by commas. A user who registers one in the default workspace is an administrator. For installations that move to this server; `scriptorium user promote` is the safer way.',
  }),
});

const delivery = section('Timers and delivery', {
  switchOutageGraceMs: seconds({
    name: 'DEAD_MAN_SWITCH_OUTAGE_GRACE',
    min: 0,
    max: 2_592_000,
    default: 86_400,
    description:
      "The most by which the deadline of a dead man's switch moves on. It moves if this server was away shortly before it or when it passed, so that the owner could not check in. The owner gets as long as the server was away, at least an hour. 0: it fires at once.",
  }),
  emailReminders: flag({
    name: 'EMAIL_REMINDERS_ENABLED',
    default: true,
    description:
      'Sends reminders by e-mail to users who have not turned them off, once mail can be sent. Otherwise none can be made. What is over a week late is not sent any more.',
  }),
  emailReminderNoRecords: flag({
    name: 'EMAIL_REMINDER_NO_RECORDS',
    default: false,
    description: 'Removes reminders by e-mail as soon as they are sent, instead of after 30 days.',
  }),
  emailRemindersMax: integer({
    name: 'MAX_EMAIL_REMINDERS_PER_USER',
    unit: 'reminders',
    min: 0,
    max: 1_000,
    default: 100,
    description:
      'The most reminders by e-mail that an account may have, sent ones included. 0 is as many as can be: 1000.',
  }),
  emailBackups: flag({
    name: 'EMAIL_BACKUPS_ENABLED',
    default: true,
    description:
      'Mails users who ask for it a backup of their account, encrypted as it is here, every day, week or month. A file over `MAIL_SIZE_MAX` is not sent.',
  }),
  reminderDelivery: flag({
    name: 'REMINDER_DELIVERY_ENABLED',
    default: false,
    description:
      'Lets those who turn it on publish reminders, which the server then reads and sends by mail, Telegram or WhatsApp. Turned off, nothing leaves any more.',
  }),
  reminderDeliveryIntervalMs: seconds({
    name: 'REMINDER_DELIVERY_INTERVAL_SECONDS',
    min: 1,
    max: 86_400,
    default: 60,
    description:
      'How long a published reminder that a provider has taken can neither be changed nor deleted. After that it counts as sent.',
  }),
  reminderMessagesPerDay: integer({
    name: 'REMINDER_MESSAGES_PER_DAY',
    unit: 'messages',
    min: 0,
    max: 100_000,
    default: 50,
    description:
      'The most published reminders that one account may have sent in a day by Telegram and WhatsApp. Mails count in `MAILS_TO_OTHERS_PER_DAY`. 0 is no limit.',
  }),
});

const calendar = section('Calendar', {
  calendar: flag({
    name: 'CALDAV_ENABLED',
    default: false,
    description:
      'Lets those who turn it on publish to-dos, which the server then reads and shows to their calendar programs. Turned off, nothing is shown any more.',
  }),
});

const admission = section('Access and limits', {
  registrationsPerMinute: integer({
    name: 'RATE_LIMIT_REGISTRATION',
    unit: 'requests/min',
    min: 0,
    default: 60,
    description:
      'Registrations of one address, each of which may ask the captcha server and makes a hash. 0 is no limit, and so is `RATE_LIMIT_PUBLIC=0`.',
  }),
});

const publicShares = section('Public shares', {
  shareBytesMax: bytes({
    name: 'ACCOUNT_SHARE_BYTES_MAX',
    min: 0,
    default: 256 * mebibyte,
    description:
      'How much ciphertext the public shares of an account may hold that can still be opened. 0 lets nobody share.',
  }),
});

const testing = section('Server', {
  /** The gateway then limits no rate, too, and serves what is for conformance runs alone. */
  endToEndTesting: flag({
    name: 'E2E_TESTING',
    default: false,
    description:
      'For conformance runs. Sessions are of header style for every API version, and accounts of protocol 001 to 003 can be registered. Anybody gives accounts subscriptions, and no request rate is limited. Accounts that are registered with one password, one after the other, share its hash. Refused unless `HOST` is a loopback address.',
  }),
});

export const accountSettings = sameOnAllNodes({
  ...testing,
  ...sessions,
  ...signingIn,
  ...accounts,
  ...delivery,
  ...calendar,
  ...admission,
  ...publicShares,
});
export interface AccountSettings extends SettingsOf<typeof accountSettings> {}
export const AccountSettings = dependency<AccountSettings>('the settings of accounts');
export const defaultAccountSettings: AccountSettings = defaultsOf(accountSettings);

export const webAuthnSettings = sameOnAllNodes(
  section('Signing in', {
    relyingPartyId: text({
      name: 'U2F_RELYING_PARTY_ID',
      description:
        'The domain that security keys are made for. Keys made for another one are of no use any more.',
      defaultText: 'the host of `PUBLIC_URL`, or `localhost`',
      pattern: /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i,
      form: 'a domain',
    }),
    relyingPartyName: text({
      name: 'U2F_RELYING_PARTY_NAME',
      default: 'Scriptorium',
      description: 'The name that a security key shows for it.',
    }),
    expectedOrigins: list({
      name: 'U2F_EXPECTED_ORIGIN',
      description: 'The origins, separated by commas, of the apps that use security keys.',
      defaultText: 'that of `PUBLIC_URL`, or those of the relying party',
    }),
    requireUserVerification: flag({
      name: 'U2F_REQUIRE_USER_VERIFICATION',
      default: false,
      description: 'Whether a security key has to ask for a PIN or a fingerprint.',
    }),
  }),
);
export interface WebAuthnSettings extends Complete<SettingsOf<typeof webAuthnSettings>> {}
export const WebAuthnSettings = dependency<WebAuthnSettings>('the settings of security keys');

export const captchaSettings = sameOnAllNodes(
  section('Signing in', {
    captchaServerUrl: address({
      name: 'CAPTCHA_SERVER_URL',
      description:
        'The captcha server that verifies tokens (`GET /verify?token=`). Without it no captcha is asked for.',
    }),
    captchaUiUrl: address({
      name: 'CAPTCHA_UI_URL',
      description: 'The page that shows the captcha, sent to clients.',
    }),
  }),
);
