import test from 'ava';
import fc from 'fast-check';
import { settings } from './config/settings.ts';
import { ConfigError, configurationFrom, databaseUrlFrom } from './config.ts';

const configOf = (environment: Record<string, string>) => configurationFrom(environment).config;

function problemsOf(environment: Record<string, string>): readonly string[] {
  try {
    configurationFrom(environment);
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.problems;
  }
}

test('whoever works on the database alone needs only its address to be right', (t) => {
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
  t.is(config.gateway.filesServerUrl, 'http://127.0.0.1:3000/files');
  t.deepEqual(secrets, {
    secretKey: undefined,
    databaseUrl: undefined,
    accessKey: undefined,
    natsUrls: undefined,
  });
  t.deepEqual(warnings, []);
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

test('what was configured cannot be changed, at any depth', (t) => {
  const { config } = configurationFrom({ CORS_ALLOWED_ORIGINS: 'https://a.test, https://b.test' });
  t.deepEqual(config.gateway.cors.allowedOrigins, ['https://a.test', 'https://b.test']);
  t.true(
    [config, config.accounts, config.gateway.cors, config.gateway.cors.allowedOrigins].every(Object.isFrozen),
  );
});

test('cookies work over plain http by default, and across sites behind https', (t) => {
  t.like(configOf({}).cookies, { sameSite: 'Lax', secure: false, partitioned: false, domain: '' });
  t.like(configOf({ PUBLIC_URL: 'https://notes.test/' }).cookies, {
    sameSite: 'None',
    secure: true,
    partitioned: true,
  });
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

test('the internal API is for loopback addresses, unless callers show certificates or it is said to be safe', (t) => {
  const open = { GRPC_HOST: '0.0.0.0' };
  const tls = { GRPC_CERT_FILE: 'cert.pem', GRPC_KEY_FILE: 'key.pem' };
  t.regex(problemsOf(open).join(), /GRPC_HOST is not a loopback address/);
  t.regex(problemsOf({ ...open, ...tls }).join(), /GRPC_HOST is not a loopback address/);
  t.deepEqual(problemsOf({ ...open, ...tls, GRPC_CLIENT_CA_FILE: 'ca.pem' }), []);
  t.deepEqual(problemsOf({ ...open, GRPC_ALLOW_INSECURE: 'true' }), []);
  t.regex(problemsOf({ GRPC_CERT_FILE: 'cert.pem' }).join(), /need each other/);
});

test('settings that contradict each other are refused', (t) => {
  t.regex(problemsOf({ COOKIE_SAME_SITE: 'None' }).join(), /COOKIE_SECURE/);
  t.regex(problemsOf({ COOKIE_PARTITIONED: 'true' }).join(), /COOKIE_SECURE/);
  t.regex(problemsOf({ SECRET_KEY: 'a'.repeat(64), SECRET_KEY_FILE: '/key' }).join(), /both set/);
});

test('a few seconds of access age, as conformance runs want them, are fine', (t) => {
  t.is(configOf({ ACCESS_TOKEN_AGE: '4', REFRESH_TOKEN_AGE: '10' }).accounts.accessTokenAgeMs, 4_000);
});

test('testing mode is for loopback addresses alone', (t) => {
  for (const host of ['127.0.0.1', '127.8.9.1', '::1', 'localhost']) {
    const config = configOf({ E2E_TESTING: 'true', HOST: host });
    t.true(config.accounts.forceHeaderSessions, host);
    t.deepEqual(config.gateway.rateLimits, { publicPerMinute: 0, sessionPerMinute: 0 });
  }
  for (const host of ['0.0.0.0', '::', '192.168.0.7', 'notes.test', '::ffff:10.0.0.1']) {
    t.regex(problemsOf({ E2E_TESTING: 'true', HOST: host }).join(), /loopback/, host);
  }
});

test('an access key mode that is not known is the strictest', (t) => {
  t.is(configOf({ SHARED_SERVER_ACCESS_KEY_MODE: 'registraton' }).accessKeyMode, 'all');
  t.is(configOf({ SHARED_SERVER_ACCESS_KEY_MODE: 'registration' }).accessKeyMode, 'registration');
});

test('a name close to a setting is warned about', (t) => {
  const { warnings } = configurationFrom({ COOKIE_SAMESITE: 'Lax' });
  t.deepEqual(warnings, [
    'The variable COOKIE_SAMESITE is no setting. COOKIE_SAME_SITE may have been meant.',
  ]);
});

test('whatever a variable holds, it is a value or a problem that names it', (t) => {
  const names = Object.keys(settings);
  fc.assert(
    fc.property(fc.constantFrom(...names), fc.string(), (name, value) => {
      const problems = problemsOf({ [name]: value });
      t.true(problems.every((problem) => problem.includes(name)));
    }),
  );
});
