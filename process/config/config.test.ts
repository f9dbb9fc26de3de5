import test from 'ava';
import fc from 'fast-check';
import { pairingOf } from '../../actors/pairing/settings.ts';
import { everySetting } from '../../runtime/setting.ts';
import { ConfigError, configurationFrom, databaseUrlFrom } from './config.ts';
import { variablesOf } from './read.ts';
import { secretSettings, settings } from './settings.ts';

const configOf = (environment: Record<string, string>) => configurationFrom(environment).config;

/** The files of these tests: their content by path. */
type Files = Readonly<Record<string, string>>;

const readerOf = (files: Files) => (path: string) => {
  const content = files[path];
  if (content === undefined) throw new Error('ENOENT: no such file or directory');
  return content;
};

function errorOf(environment: Record<string, string>, files: Files = {}): ConfigError | undefined {
  try {
    configurationFrom(environment, readerOf(files));
    return undefined;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error;
  }
}

const problemsOf = (environment: Record<string, string>, files: Files = {}): readonly string[] =>
  errorOf(environment, files)?.problems ?? [];

test('a command that works on the database alone needs only the database address to be right', (t) => {
  t.is(databaseUrlFrom({}), undefined);
  t.is(databaseUrlFrom({ DATABASE_URL: 'postgresql://a@b/c', PORT: 'none' }), 'postgresql://a@b/c');
  t.throws(() => databaseUrlFrom({ DATABASE_URL: 'mysql://a@b/c' }), { instanceOf: ConfigError });
});

test('an empty environment gives the defaults, and they are those of the protocol', (t) => {
  const { config, secrets, warnings } = configurationFrom({});
  t.is(config.host, '127.0.0.1');
  t.is(config.port, 3_000);
  t.is(config.accounts.accessTokenAgeMs, 5_184_000_000);
  t.is(config.accounts.refreshTokenAgeMs, 31_556_926_000);
  t.is(config.accounts.replacedPairGraceMs, 120_000);
  t.is(config.items.transferLimitBytes, 10_000_000);
  t.is(config.items.contentLimitBytes, 16_777_216);
  t.is(config.gateway.largeBodyBytes, 52_428_800);
  t.is(config.gateway.filesServerUrl, 'http://127.0.0.1:3000');
  t.deepEqual(secrets, {
    s3SecretAccessKey: undefined,
    backupS3SecretAccessKey: undefined,
    secretKey: undefined,
    assistantAnthropicKey: undefined,
    assistantOpenAiKey: undefined,
    databaseUrl: undefined,
    accessKey: undefined,
    smtpPassword: undefined,
    smtpPass: undefined,
    natsUrls: undefined,
    pairingKey: undefined,
    tracingHeaders: undefined,
    telegramBotToken: undefined,
    whatsappToken: undefined,
    twilioAuthToken: undefined,
  });
  t.deepEqual(warnings, []);
});

test('how long the database is waited for fits into what callers wait, and connections into what there are', (t) => {
  const { database } = configOf({});
  t.deepEqual([database.commitConnections, database.readConnections, database.waitMs], [4, 4, 5_000]);
  t.deepEqual(problemsOf({ DATABASE_LOCK_WAIT_MS: '250', DATABASE_STATEMENT_TIMEOUT_MS: '500' }), []);
  t.regex(
    problemsOf({ DATABASE_LOCK_WAIT_MS: '251', DATABASE_STATEMENT_TIMEOUT_MS: '500' }).join(),
    /DATABASE_LOCK_WAIT_MS may be half/,
  );
  t.deepEqual(problemsOf({ DATABASE_WAIT_MS: '15000', DATABASE_STATEMENT_TIMEOUT_MS: '10000' }), []);
  t.regex(
    problemsOf({ DATABASE_WAIT_MS: '15001', DATABASE_STATEMENT_TIMEOUT_MS: '10000' }).join(),
    /may be 25000 together/,
  );
  t.deepEqual(problemsOf({ DATABASE_READ_CONNECTIONS: '27' }), []);
  t.regex(
    problemsOf({ DATABASE_READ_CONNECTIONS: '28' }).join(),
    /connections to the database are 41 in all/,
  );
  t.deepEqual(problemsOf({ DATABASE_READ_CONNECTIONS: '28', DATABASE_URL: 'postgresql://a@b/c' }), []);
});

test('only the schema of a database that others reach may be left to them', (t) => {
  t.true(configOf({}).migrateAtStart);
  const external = { DATABASE_URL: 'postgresql://a@b/c', MIGRATE_AT_START: 'false' };
  t.false(configOf(external).migrateAtStart);
  t.regex(problemsOf({ MIGRATE_AT_START: 'false' }).join(), /^MIGRATE_AT_START=false needs DATABASE_URL:/);
});

test('an empty variable counts as none', (t) => {
  t.deepEqual(configOf({ PORT: '', HOST: ' ', ADMIN_EMAILS: '' }), configOf({}));
});

test('the configuration cannot be changed, at any depth', (t) => {
  const { config } = configurationFrom({ CORS_ALLOWED_ORIGINS: 'https://a.test, https://b.test' });
  t.deepEqual(config.gateway.cors.allowedOrigins, ['https://a.test', 'https://b.test']);
  t.true(
    [config, config.accounts, config.gateway.cors, config.gateway.cors.allowedOrigins].every(Object.isFrozen),
  );
});

test('cookies work over plain http by default, and across sites behind https and on loopback', (t) => {
  const plain = { sameSite: 'Lax', secure: false, partitioned: false };
  const acrossSites = { sameSite: 'None', secure: true, partitioned: true };
  for (const PUBLIC_URL of ['http://notes.test', 'http://192.168.0.7:3000']) {
    t.like(configOf({ PUBLIC_URL }).cookies, plain);
  }
  for (const PUBLIC_URL of ['https://notes.test/', 'http://localhost:3000', 'http://[::1]:3000']) {
    t.like(configOf({ PUBLIC_URL }).cookies, acrossSites);
  }
  t.like(configOf({}).cookies, { ...acrossSites, domain: '' });
  t.like(configOf({ COOKIE_SECURE: 'false' }).cookies, plain, 'for Safari');
  t.like(configOf({ PUBLIC_URL: 'https://notes.test', COOKIE_SAME_SITE: 'Strict' }).cookies, {
    sameSite: 'Strict',
    secure: true,
  });
});

test('addresses of people are compared without regard to case', (t) => {
  t.true(configOf({ ADMIN_EMAILS: 'Boss@Test.org, b@test.org' }).accounts.adminEmails.has('boss@test.org'));
});

test('all that is wrong is told at once, and no secret with it', (t) => {
  const problems = problemsOf({
    PORT: '70000',
    SHARD_COUNT: '1000',
    COOKIE_SECURE: 'perhaps',
    PUBLIC_URL: 'notes.test',
    SECRET_KEY: 'hunter2',
    DATABASE_URL: 'mysql://user:hunter2@host/db',
    TRUST_PROXY: 'everybody',
  });
  t.is(problems.length, 7);
  t.deepEqual(problems.map((problem) => problem.split(' ')[0]).sort(), [
    'COOKIE_SECURE',
    'DATABASE_URL',
    'PORT',
    'PUBLIC_URL',
    'SECRET_KEY',
    'SHARD_COUNT',
    'TRUST_PROXY',
  ]);
  t.notRegex(problems.join(), /hunter2/);
});

const cluster = {
  NATS_URL: 'nats://127.0.0.1:4222, tls://user:hunter2@nats.test:4222',
  DATABASE_URL: 'postgresql://db.test/scriptorium',
  SECRET_KEY: 'a'.repeat(64),
  NODE_ID: 'one',
  FILES_FOLDER: '/srv/files',
  FILES_FOLDER_SHARED: 'true',
};

test('a process of a cluster needs all that the others share, and a name of its own', (t) => {
  const { config, secrets } = configurationFrom({ ...cluster, ROLE: 'gateway' });
  t.is(config.role, 'gateway');
  t.deepEqual(secrets.natsUrls, ['nats://127.0.0.1:4222', 'tls://user:hunter2@nats.test:4222']);
  t.notRegex(JSON.stringify(config), /hunter2/);
  for (const name of ['DATABASE_URL', 'SECRET_KEY', 'NODE_ID']) {
    t.regex(problemsOf({ ...cluster, [name]: '' }).join(), new RegExp(`NATS_URL needs ${name}`));
  }
  t.regex(problemsOf({ ROLE: 'host' }).join(), /ROLE=host needs NATS_URL/);
  t.regex(problemsOf({ ...cluster, NATS_URL: 'http://nats.test' }).join(), /NATS_URL is not/);
});

test('a cluster keeps files where all of it reaches them', (t) => {
  const at = (more: Record<string, string>) => problemsOf({ ...cluster, ...more }).join();
  t.is(at({}), '');
  t.regex(at({ FILES_FOLDER_SHARED: '' }), /^NATS_URL needs files where all processes .* reach them/);
  t.regex(at({ FILES_FOLDER: '' }), /^FILES_FOLDER_SHARED=true needs FILES_FOLDER/);
  t.is(at({ ...bucket, FILES_FOLDER: '', FILES_FOLDER_SHARED: '' }), '');
  t.is(problemsOf({ FILES_FOLDER: '/srv/files' }).join(), '');
});

const bucket = {
  FILES_STORE: 's3',
  FILES_S3_BUCKET: 'files',
  FILES_S3_ACCESS_KEY_ID: 'key',
  FILES_S3_SECRET_ACCESS_KEY: 'hunter2',
};

test('a bucket needs its name and its key, and TLS beyond this machine', (t) => {
  const at = (more: Record<string, string>) => problemsOf({ ...bucket, ...more }).join();
  t.is(at({}), '');
  for (const name of ['FILES_S3_BUCKET', 'FILES_S3_ACCESS_KEY_ID', 'FILES_S3_SECRET_ACCESS_KEY'])
    t.regex(at({ [name]: '' }), new RegExp(`FILES_STORE=s3 needs .*${name}`));
  for (const FILES_S3_ENDPOINT of ['http://127.0.0.1:9000', 'http://[::1]:9000', 'https://s3.test'])
    t.is(at({ FILES_S3_ENDPOINT }), '', FILES_S3_ENDPOINT);
  t.regex(at({ FILES_S3_ENDPOINT: 'http://10.0.0.1:9000' }), /FILES_S3_ENDPOINT .* without TLS/);
  t.is(at({ FILES_S3_ENDPOINT: 'http://10.0.0.1:9000', FILES_S3_ALLOW_INSECURE: 'true' }), '');
  t.notRegex(JSON.stringify(configurationFrom(bucket).config), /hunter2/);
});

test('NATS in plain text is for loopback addresses, unless it is said to be safe', (t) => {
  const at = (NATS_URL: string, more = {}) => problemsOf({ ...cluster, NATS_URL, ...more }).join();
  for (const url of ['nats://127.9.9.9:4222', 'nats://[::1]', 'nats://localhost', 'tls://nats.test'])
    t.is(at(url), '', url);
  for (const url of ['nats://nats.test', 'nats://10.0.0.1', 'nats://user:hunter2@[fd00::1]:4222']) {
    t.regex(at(url), /^NATS_URL has an address .* without TLS/, url);
    t.notRegex(at(url), /hunter2/);
    t.is(at(url, { NATS_ALLOW_INSECURE: 'true' }), '', url);
    // With an authority, the connection uses TLS, whatever the address says.
    t.is(at(url, { NATS_CA_FILE: 'ca.pem' }), '', url);
  }
  t.regex(at('nats://127.0.0.1,nats://nats.test'), /without TLS/);
});

test('the internal API is for loopback addresses, unless callers show certificates or it is said to be safe', (t) => {
  const open = { GRPC_HOST: '0.0.0.0' };
  const tls = { GRPC_CERT_FILE: 'cert.pem', GRPC_KEY_FILE: 'key.pem' };
  t.regex(problemsOf(open).join(), /GRPC_HOST is not a loopback address/);
  t.regex(problemsOf({ ...open, ...tls }).join(), /GRPC_HOST is not a loopback address/);
  t.deepEqual(problemsOf({ ...open, ...tls, GRPC_CLIENT_CA_FILE: 'ca.pem' }), []);
  t.deepEqual(problemsOf({ ...open, GRPC_ALLOW_INSECURE: 'true' }), []);
  t.regex(problemsOf({ GRPC_CERT_FILE: 'cert.pem' }).join(), /must be set together/);
});

test('settings that contradict each other are refused', (t) => {
  const plain = { PUBLIC_URL: 'http://notes.test' };
  t.regex(problemsOf({ ...plain, COOKIE_SAME_SITE: 'None' }).join(), /COOKIE_SECURE/);
  t.regex(problemsOf({ ...plain, COOKIE_PARTITIONED: 'true' }).join(), /COOKIE_SECURE/);
  t.regex(problemsOf({ SECRET_KEY: 'a'.repeat(64), SECRET_KEY_FILE: '/key' }).join(), /both set/);
});

test('a few seconds of access age, as conformance runs want them, are fine', (t) => {
  t.is(configOf({ ACCESS_TOKEN_AGE: '4', REFRESH_TOKEN_AGE: '10' }).accounts.accessTokenAgeMs, 4_000);
});

test('testing mode is for loopback addresses alone', (t) => {
  for (const host of ['127.0.0.1', '127.8.9.1', '::1', 'localhost']) {
    const config = configOf({ E2E_TESTING: 'true', HOST: host });
    t.true(config.accounts.endToEndTesting, host);
    t.deepEqual(config.gateway.rateLimits, { publicPerMinute: 0, sessionPerMinute: 0 });
  }
  for (const host of ['0.0.0.0', '::', '192.168.0.7', 'notes.test', '::ffff:10.0.0.1']) {
    t.regex(problemsOf({ E2E_TESTING: 'true', HOST: host }).join(), /loopback/, host);
  }
});

test('an access key mode that is not known is the strictest', (t) => {
  t.is(configOf({ SHARED_SERVER_ACCESS_KEY_MODE: 'registraton' }).accessKey.mode, 'all');
  t.is(configOf({ SHARED_SERVER_ACCESS_KEY_MODE: 'registration' }).accessKey.mode, 'registration');
});

test('a name close to a setting is warned about', (t) => {
  const { warnings } = configurationFrom({ COOKIE_SAMESITE: 'Lax' });
  t.deepEqual(warnings, ['The variable COOKIE_SAMESITE is not a setting. Did you mean COOKIE_SAME_SITE?']);
});

test('a name close to a setting is told also where others are wrong, or contradict each other', (t) => {
  for (const wrong of [{ PORT: 'none' }, { ROLE: 'host' }]) {
    const error = errorOf({ ...wrong, COOKIE_SAMESITE: 'Lax' });
    t.regex(error?.message ?? '', /^The settings are wrong:\n {2}- .*\n.*Did you mean COOKIE_SAME_SITE\?$/);
  }
});

test('the sender of mail is shown whole in the settings, and its password once', (t) => {
  const { config, warnings } = configurationFrom({
    SMTP_HOST: 'mail.test',
    SMTP_FROM: 'Notes <notes@home.test>',
  });
  t.deepEqual(config.mail.from, { name: 'Notes', address: 'notes@home.test' });
  t.deepEqual(warnings, []);
  t.regex(configurationFrom({ SMTP_HOST: 'mail.test' }).warnings.join(), /SMTP_FROM/);
  t.regex(problemsOf({ SMTP_PASS: 'one', SMTP_PASSWORD: 'two' }).join(), /SMTP_PASS are the same setting/);
  const insecure = { SMTP_HOST: 'relay', SMTP_ALLOW_INSECURE: 'true' };
  t.deepEqual(problemsOf(insecure), []);
  t.regex(problemsOf({ ...insecure, SMTP_SECURE: 'true' }).join(), /contradicts SMTP_SECURE/);
  t.regex(problemsOf({ ...insecure, SMTP_PORT: '465' }).join(), /contradicts SMTP_SECURE/);
  t.regex(problemsOf({ ...insecure, SMTP_USER: 'me' }).join(), /in plain text/);
  t.deepEqual(problemsOf({ ...insecure, SMTP_USER: 'me', SMTP_ALLOW_INSECURE_PASSWORD: 'true' }), []);
  for (const SMTP_FROM of ['a@x.test, b@x.test', 'nobody', 'a@x.test\r\nBcc: b@x.test', 'x <a@b@c>']) {
    t.is(problemsOf({ SMTP_FROM }).length, 1, SMTP_FROM);
  }
});

test('half of what a provider of messengers needs is warned of, and what is not its form is refused', (t) => {
  t.regex(configurationFrom({ WHATSAPP_TOKEN: 'x' }).warnings.join(), /Without WHATSAPP_PHONE_ID/);
  t.regex(
    configurationFrom({ TWILIO_AUTH_TOKEN: 'x' }).warnings.join(),
    /TWILIO_ACCOUNT_SID and TWILIO_WHATSAPP_FROM/,
  );
  t.deepEqual(configurationFrom({ WHATSAPP_TOKEN: 'x', WHATSAPP_PHONE_ID: '7' }).warnings, []);
  for (const wrong of [
    { TELEGRAM_BOT_TOKEN: '4711/../evil' },
    { WHATSAPP_PHONE_ID: '7/../8' },
    { WHATSAPP_TOKEN: 'a\nb' },
    { TWILIO_ACCOUNT_SID: 'x' },
    { TWILIO_WHATSAPP_FROM: 'x' },
  ]) {
    t.is(problemsOf(wrong).length, 1, JSON.stringify(wrong));
  }
});

test("the assistant asks the provider that the operator has set up, at the operator's address", (t) => {
  const key = { ASSISTANT_OPENAI_API_KEY: 'key' };
  t.regex(configurationFrom(key).warnings.join(), /Without ASSISTANT_DEFAULT_MODEL/);
  t.deepEqual(configurationFrom({ ...key, ASSISTANT_OPENAI_MODEL: 'gpt' }).warnings, []);
  const elsewhere = { ...key, ASSISTANT_DEFAULT_MODEL: 'x', ASSISTANT_DEFAULT_PROVIDER: 'anthropic' };
  t.regex(configurationFrom(elsewhere).warnings.join(), /ASSISTANT_DEFAULT_PROVIDER is not set up/);
  const profile = { id: 'a', provider: 'openai', model: 'gpt' };
  const profiles = (input: object) => ({ ...key, ASSISTANT_PROFILES: JSON.stringify(input) });
  const { config, warnings } = configurationFrom(
    profiles({ profiles: [profile], roles: { PRO_USER: 'a' }, default: 'a' }),
  );
  t.deepEqual(warnings, []);
  t.deepEqual(config.assistant.profiles?.profiles, [{ id: 'a', provider: 'openai', model: 'gpt' }]);
  for (const wrong of [
    { ASSISTANT_OPENAI_BASE_URL: 'http://user:secret@models.test/v1' },
    { ASSISTANT_OPENAI_BASE_URL: 'http://models.test/v1?key=secret' },
    { ASSISTANT_OLLAMA_URL: 'http://models.test/#x' },
    { ASSISTANT_OLLAMA_URL: 'file:///etc' },
    { ASSISTANT_OPENAI_API_KEY: 'two\nlines' },
    { CODE_HOST_API_URL: 'https://user@code.test' },
    { ...key, ASSISTANT_PROFILES: 'no JSON' },
    profiles([]),
    profiles({ profiles: [profile, profile] }),
    profiles({ profiles: [profile], default: 'b' }),
    profiles({ profiles: [profile], roles: { PRO_USER: 'b' } }),
    profiles({ profiles: [{ ...profile, provider: 'anthropic' }] }),
    profiles({ profiles: [{ ...profile, provider: 'subscription' }] }),
    profiles({ profiles: [{ ...profile, maxOutputTokens: 0 }] }),
    profiles({ profiles: [{ ...profile, baseUrl: 'http://models.test' }] }),
  ]) {
    t.is(problemsOf(wrong).length, 1, JSON.stringify(wrong));
  }
});

test('where others keep calendars in files is taken, and said to do nothing', (t) => {
  const { warnings } = configurationFrom({ CALDAV_DATA_PATH: './data/caldav' });
  t.deepEqual(warnings, ['CALDAV_DATA_PATH has no effect: published calendars are in the database.']);
});

test('a calendar lies at a path that is free and safe', (t) => {
  const reserved = ['/v1', '/v2/dav', '/auth', '/files/dav', '/sockets', '/subscription', '/robots.txt'];
  const unsafe = ['dav', '/', '//', '/dav/', '/a//b', '/../dav', '/a/.', '/a b', '/a%2fb', '/dav?x', '/:a'];
  const long = `/${'a/'.repeat(12)}a`;
  for (const CALDAV_BASE_PATH of ['/health', '/healthcheck', ...reserved, ...unsafe, long]) {
    t.regex(problemsOf({ CALDAV_BASE_PATH }).join(), /^CALDAV_BASE_PATH .*free/, CALDAV_BASE_PATH);
  }
  for (const path of ['/dav', '/caldav/v1', '/healthy', long.slice(2)]) {
    t.is(configOf({ CALDAV_BASE_PATH: path }).gateway.calendar.basePath, path);
  }
  t.is(configOf({ CALDAV_BASE_PATH: '' }).gateway.calendar.basePath, '/dav');
});

test('a provider of pairings is asked at addresses that keep what is sent there secret', (t) => {
  const complete = {
    PUBLIC_URL: 'https://notes.test',
    DISABLE_USER_REGISTRATION: 'true',
    ASSISTANT_SUBSCRIPTION_ENCRYPTION_KEY: 'b'.repeat(64),
    ASSISTANT_PROVIDER_OAUTH_AUTHORIZE_URL: 'https://provider.test/auth/',
    ASSISTANT_PROVIDER_OAUTH_TOKEN_URL: 'http://127.0.0.1:9/token',
    ASSISTANT_PROVIDER_OAUTH_CLIENT_ID: 'us',
  };
  const redirectUriFor = (environment: Record<string, string>) => {
    const { config, secrets } = configurationFrom(environment);
    return pairingOf(config, secrets)?.redirectUri;
  };
  t.deepEqual(configurationFrom(complete).warnings, []);
  t.is(redirectUriFor(complete), 'https://notes.test/v1/assistant/subscription/callback');
  const own = { ASSISTANT_PROVIDER_OAUTH_REDIRECT_URI: 'http://localhost:1455/back' };
  t.is(redirectUriFor({ ...complete, ...own }), 'http://localhost:1455/back');
  t.is(configurationFrom(complete).config.pairing.authorizeUrl, 'https://provider.test/auth/', 'as it is');

  const { PUBLIC_URL: _, ...nowhere } = complete;
  for (const [environment, warning] of [
    [{ ...nowhere, ...own }, /Without a PUBLIC_URL of https/],
    [{ ...complete, PUBLIC_URL: 'http://notes.test' }, /Without a PUBLIC_URL of https/],
    [{ ...complete, ASSISTANT_PROVIDER_OAUTH_CLIENT_ID: '' }, /Without ASSISTANT_PROVIDER_OAUTH_CLIENT_ID /],
    [{ ASSISTANT_SUBSCRIPTION_TOKEN_PATH: './x' }, /_TOKEN_PATH does nothing/],
  ] as const) {
    t.regex(configurationFrom(environment).warnings.join(), warning);
    t.is(redirectUriFor(environment), undefined);
  }

  for (const name of [
    'ASSISTANT_PROVIDER_OAUTH_AUTHORIZE_URL',
    'ASSISTANT_PROVIDER_OAUTH_TOKEN_URL',
    'ASSISTANT_PROVIDER_OAUTH_REDIRECT_URI',
    'ASSISTANT_SUBSCRIPTION_BASE_URL',
  ]) {
    for (const wrong of [
      ...[
        'http://provider.test/x',
        'http://127.0.0.1.provider.test/x',
        'http://localhost.test',
        'ftp://a.test',
      ],
      ...['https://user:hunter2@provider.test', 'https://user@provider.test', 'https://@provider.test'],
      ...['https://provider.test/?key=hunter2', 'https://provider.test/?', 'https://provider.test/#x'],
      ...['https://provider.test/#', 'https://provider.test/a b', 'provider.test'],
    ]) {
      t.is(problemsOf({ [name]: wrong }).length, 1, `${name}=${wrong}`);
    }
  }
  for (const wrong of ['a'.repeat(63), 'g'.repeat(64), 'a'.repeat(66)]) {
    t.is(problemsOf({ ASSISTANT_SUBSCRIPTION_ENCRYPTION_KEY: wrong }).length, 1);
  }
  const profiles = (profile: object) => ({
    ...complete,
    ASSISTANT_SUBSCRIPTION_BASE_URL: 'https://models.test/v1',
    ASSISTANT_PROFILES: JSON.stringify({
      profiles: [{ id: 'a', provider: 'subscription', model: 'm', ...profile }],
    }),
  });
  const profileWith = (profile: object) =>
    configurationFrom(profiles(profile)).config.assistant.profiles?.profiles[0];
  t.is(profileWith({})?.subscriptionId, 'default');
  t.is(profileWith({ subscriptionId: 'team.1' })?.subscriptionId, 'team.1');
  for (const wrong of [{ subscriptionId: '-x' }, { subscriptionId: 7 }]) {
    t.is(problemsOf(profiles(wrong)).length, 1);
  }
  const key = { ASSISTANT_OPENAI_API_KEY: 'key' };
  t.is(problemsOf({ ...key, ...profiles({ provider: 'openai', subscriptionId: 'x' }) }).length, 1);
});

test('every secret can stand in a file, and is read without the white space around it', (t) => {
  const values: Record<string, string> = {
    DATABASE_URL: 'postgresql://user:hunter2@db.test/notes',
    SECRET_KEY: 'a'.repeat(64),
    SHARED_SERVER_ACCESS_KEY: 'hunter2',
    NATS_URL: 'tls://user:hunter2@nats.test:4222',
    SMTP_PASSWORD: 'hunter2',
    SMTP_PASS: 'hunter2',
    TELEGRAM_BOT_TOKEN: `4711:${'hunter2'.repeat(5)}`,
    WHATSAPP_TOKEN: 'hunter2',
    TWILIO_AUTH_TOKEN: 'hunter2',
    ASSISTANT_ANTHROPIC_API_KEY: 'hunter2',
    ASSISTANT_OPENAI_API_KEY: 'hunter2',
    ASSISTANT_SUBSCRIPTION_ENCRYPTION_KEY: 'b'.repeat(64),
    FILES_S3_SECRET_ACCESS_KEY: 'hunter2',
    BACKUP_S3_SECRET_ACCESS_KEY: 'hunter2',
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=hunter2',
  };
  const others = {
    ASSISTANT_DEFAULT_MODEL: 'model',
    PUBLIC_URL: 'https://notes.test',
    DISABLE_USER_REGISTRATION: 'true',
    ASSISTANT_PROVIDER_OAUTH_AUTHORIZE_URL: 'https://provider.test/auth',
    ASSISTANT_PROVIDER_OAUTH_TOKEN_URL: 'https://provider.test/token',
    ASSISTANT_PROVIDER_OAUTH_CLIENT_ID: 'us',
    NODE_ID: 'one',
    FILES_FOLDER: '/srv/files',
    FILES_FOLDER_SHARED: 'true',
  };
  t.deepEqual(
    Object.keys(values).sort(),
    everySetting(secretSettings)
      .map(({ name }) => name)
      .sort(),
  );
  const paths = Object.fromEntries(Object.keys(values).map((name) => [`${name}_FILE`, `/run/${name}`]));
  const files = Object.fromEntries(
    Object.entries(values).map(([name, value]) => [`/run/${name}`, `${value}\n`]),
  );
  const beside = {
    ...others,
    WHATSAPP_PHONE_ID: '7',
    TWILIO_ACCOUNT_SID: `AC${'0'.repeat(32)}`,
    TWILIO_WHATSAPP_FROM: '+14155238886',
  };
  const expected = configurationFrom({ ...values, ...beside });
  const read = configurationFrom({ ...paths, ...beside }, readerOf(files));
  t.deepEqual(read, expected);
  t.deepEqual(read.warnings, []);
  t.is(databaseUrlFrom(paths, readerOf(files)), values['DATABASE_URL']);
});

test('a secret is either in its variable or in its file', (t) => {
  for (const { name } of everySetting(secretSettings)) {
    const problems = problemsOf({ [name]: 'hunter2', [`${name}_FILE`]: '/run/it' }, { '/run/it': 'hunter2' });
    t.deepEqual(problems, [`${name} and ${name}_FILE are both set; remove one of them.`]);
  }
});

test('a file that cannot be read, is empty or holds what is wrong is told with its variable, and not what it holds', (t) => {
  const environment = { DATABASE_URL_FILE: '/run/it' };
  const of = (files: Files) => problemsOf(environment, files);
  const file = 'The file /run/it that DATABASE_URL_FILE names';
  t.deepEqual(of({}), [`${file} cannot be read: ENOENT: no such file or directory.`]);
  t.deepEqual(of({ '/run/it': ' \n' }), [`${file} is empty.`]);
  t.deepEqual(of({ '/run/it': 'mysql://hunter2' }), [`${file} holds what is not a postgresql:// address.`]);
});

test('no secret is among what is not secret, and the other way round', (t) => {
  t.true(everySetting(secretSettings).every(({ isSecret }) => isSecret));
  t.false(everySetting(settings).some(({ isSecret }) => isSecret));
});

test('the text of a variable is a value, or a problem that names the variable', (t) => {
  const names = variablesOf({ settings, secretSettings });
  fc.assert(
    fc.property(fc.constantFrom(...names), fc.string(), (name, value) => {
      const problems = problemsOf({ [name]: value });
      t.true(problems.every((problem) => problem.includes(name)));
    }),
  );
});

test('registration on an address that others reach needs a decision', (t) => {
  for (const host of ['0.0.0.0', '::', '192.168.1.2', 'notes.test']) {
    t.regex(
      problemsOf({ HOST: host }).join(),
      /^HOST is not a loopback address.*ALLOW_OPEN_REGISTRATION=true/,
      host,
    );
    t.notThrows(() => configOf({ HOST: host, ALLOW_OPEN_REGISTRATION: 'true' }));
    t.notThrows(() => configOf({ HOST: host, DISABLE_USER_REGISTRATION: 'true' }));
    t.notThrows(() => configOf({ HOST: host, SHARED_SERVER_ACCESS_KEY: 'key' }));
  }
  const off = { SHARED_SERVER_ACCESS_KEY: 'key', SHARED_SERVER_ACCESS_KEY_MODE: 'off' };
  t.is(problemsOf({ HOST: '0.0.0.0', ...off }).length, 1);
  for (const host of ['127.0.0.1', '::1', 'localhost']) t.notThrows(() => configOf({ HOST: host }));
  t.notThrows(() => configOf({ ...cluster, ROLE: 'host', HOST: '0.0.0.0' }));
});

test('a server that others reach is warned where they would look for files on their own machine', (t) => {
  const warningsOf = (environment: Record<string, string>) =>
    configurationFrom({ DISABLE_USER_REGISTRATION: 'true', ...environment }).warnings;
  for (const HOST of ['0.0.0.0', '::']) {
    t.regex(warningsOf({ HOST }).join(), /files at http:\/\/localhost:3000, .* Set PUBLIC_URL/);
    for (const PUBLIC_URL of ['https://notes.test', 'http://localhost:3000']) {
      t.deepEqual(warningsOf({ HOST, PUBLIC_URL }), []);
    }
    t.deepEqual(warningsOf({ HOST, FILES_SERVER_URL: 'https://files.test' }), []);
  }
  t.deepEqual(warningsOf({ HOST: '192.168.1.2' }), []);
  t.deepEqual(warningsOf({ HOST: '127.0.0.1' }), []);
  t.deepEqual(configurationFrom({ ...cluster, ROLE: 'host', HOST: '0.0.0.0' }).warnings, []);
});

test('a server behind a proxy is warned where nobody has decided about registration', (t) => {
  const warningsOf = (environment: Record<string, string>) => configurationFrom(environment).warnings;
  const PUBLIC_URL = 'https://notes.test';
  t.regex(warningsOf({ PUBLIC_URL }).join(), /^Anyone who reaches PUBLIC_URL can register/);
  t.deepEqual(warningsOf({ PUBLIC_URL, ALLOW_OPEN_REGISTRATION: 'true' }), []);
  t.deepEqual(warningsOf({ PUBLIC_URL: 'http://[::1]:3000' }), []);
  t.deepEqual(warningsOf({}), []);
});

test('backups by a schedule need a target, its key, and a single process', (t) => {
  const problemsOf = (environment: Record<string, string>): readonly string[] =>
    t.throws(() => configurationFrom(environment), { instanceOf: ConfigError })?.problems ?? [];
  t.regex(problemsOf({ BACKUP_SCHEDULE: '03:15' }).join(), /BACKUP_SCHEDULE needs BACKUP_TARGET/);
  t.regex(
    problemsOf({ BACKUP_SCHEDULE: '25:00', BACKUP_TARGET: '/b' }).join(),
    /not a list of times like 03:15/,
  );
  t.regex(problemsOf({ BACKUP_TARGET: 's3://b/notes' }).join(), /needs BACKUP_S3_ACCESS_KEY_ID/);
  const { config } = configurationFrom({ BACKUP_SCHEDULE: '15:00, 03:15', BACKUP_TARGET: '/b' });
  t.deepEqual(config.backup.schedule, [195, 900]);
});
