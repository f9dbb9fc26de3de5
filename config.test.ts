import test from 'ava';
import fc from 'fast-check';
import { variablesOf } from './config/read.ts';
import { ConfigError, configurationFrom, databaseUrlFrom, secretSettings, settings } from './config.ts';
import { everySetting } from './runtime/setting.ts';

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
    smtpPassword: undefined,
    smtpPass: undefined,
    natsUrls: undefined,
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

test('NATS in plain text is for loopback addresses, unless it is said to be safe', (t) => {
  const at = (NATS_URL: string, more = {}) => problemsOf({ ...cluster, NATS_URL, ...more }).join();
  for (const url of ['nats://127.9.9.9:4222', 'nats://[::1]', 'nats://localhost', 'tls://nats.test'])
    t.is(at(url), '', url);
  for (const url of ['nats://nats.test', 'nats://10.0.0.1', 'nats://user:hunter2@[fd00::1]:4222']) {
    t.regex(at(url), /^NATS_URL has an address .* without TLS/, url);
    t.notRegex(at(url), /hunter2/);
    t.is(at(url, { NATS_ALLOW_INSECURE: 'true' }), '', url);
    // With an authority, TLS is asked for whatever the address says.
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

test('what mail is sent by is said whole, and its password once', (t) => {
  const { config, warnings } = configurationFrom({
    SMTP_HOST: 'mail.test',
    SMTP_FROM: 'Notes <notes@home.test>',
  });
  t.deepEqual(config.mail.from, { name: 'Notes', address: 'notes@home.test' });
  t.deepEqual(warnings, []);
  t.regex(configurationFrom({ SMTP_HOST: 'mail.test' }).warnings.join(), /SMTP_FROM/);
  t.regex(problemsOf({ SMTP_PASS: 'one', SMTP_PASSWORD: 'two' }).join(), /SMTP_PASS are the same setting/);
  for (const SMTP_FROM of ['a@x.test, b@x.test', 'nobody', 'a@x.test\r\nBcc: b@x.test', 'x <a@b@c>']) {
    t.is(problemsOf({ SMTP_FROM }).length, 1, SMTP_FROM);
  }
});

test('every secret can stand in a file, and is read without the white space around it', (t) => {
  const values: Record<string, string> = {
    DATABASE_URL: 'postgresql://user:hunter2@db.test/notes',
    SECRET_KEY: 'a'.repeat(64),
    SHARED_SERVER_ACCESS_KEY: 'hunter2',
    NATS_URL: 'tls://user:hunter2@nats.test:4222',
    SMTP_PASSWORD: 'hunter2',
    SMTP_PASS: 'hunter2',
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
  const given = configurationFrom({ ...values, NODE_ID: 'one' });
  const read = configurationFrom({ ...paths, NODE_ID: 'one' }, readerOf(files));
  t.deepEqual(read, given);
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

test('whatever a variable holds, it is a value or a problem that names it', (t) => {
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

test('a server behind a proxy is warned where nobody has decided about registration', (t) => {
  const warningsOf = (environment: Record<string, string>) => configurationFrom(environment).warnings;
  const PUBLIC_URL = 'https://notes.test';
  t.regex(warningsOf({ PUBLIC_URL }).join(), /^Whoever reaches PUBLIC_URL can register/);
  t.deepEqual(warningsOf({ PUBLIC_URL, ALLOW_OPEN_REGISTRATION: 'true' }), []);
  t.deepEqual(warningsOf({ PUBLIC_URL: 'http://[::1]:3000' }), []);
  t.deepEqual(warningsOf({}), []);
});
