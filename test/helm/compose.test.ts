/** The settings that `compose.yaml` and `Containerfile` give the server, and the chart's expectations of the image. */
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import yaml from 'js-yaml';
import { configurationFrom } from '../../process/config/config.ts';
import { commandsOf } from '../documentation/commands.ts';
import { root } from '../kit/server-process.ts';
import { shell } from '../kit/shell.ts';
import { cases } from './cases.ts';
import { makesPods, podOf, render, type Tree } from './chart.ts';

const textOf = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const containerfile = textOf('Containerfile');

/** The image's own settings. */
const environmentOfImage = Object.fromEntries(
  [...containerfile.matchAll(/^ENV (.+)$/gm)]
    .flatMap(([, pairs = '']) => pairs.split(' '))
    .map((pair) => pair.split('=') as [string, string]),
);

const compose = (yaml.safeLoadAll(textOf('compose.yaml')) as Tree[])[0];

const { makeFolder, makeSecretKey, makePassword, makeUrl, letServersRead } = commandsOf(
  'docs/kubernetes.md',
  'Without Kubernetes',
  ['makeFolder', 'makeSecretKey', 'makePassword', 'makeUrl', 'letServersRead'],
);

test('what the build of the image asks of the server is there', async (t) => {
  const programs = [...containerfile.matchAll(/node -e "(import\('\.\/dist\/[^"]+)"/g)].map(
    ([, program = '']) => program,
  );
  t.is(programs.length, 2);
  for (const program of programs) {
    const ofSources = program.replace(/'\.\/dist\/(.+?)\.js'/, "'./$1.ts'");
    await t.notThrowsAsync(shell(`node --import=tsx -e "${ofSources}"`, { cwd: root }), program);
  }
});

test('the server takes the settings of compose.yaml, with the secrets that docs/kubernetes.md has made', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'compose-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const commands = [makeFolder, makeSecretKey, makePassword, makeUrl, letServersRead];
  await shell(commands.join('\n'), { cwd: folder });
  const files = Object.values<Tree>(compose.secrets).map(({ file }) => join(folder, file));
  // In a container, the reader of the files is another user than their maker.
  for (const file of files) t.is(statSync(file).mode & 0o777, 0o644, file);

  const { server, postgres } = compose.services;
  for (const service of [server, postgres])
    for (const secret of service.secrets) t.true(secret in compose.secrets, secret);
  /** As compose mounts it. */
  const secretFile = (path: string): string =>
    readFileSync(join(folder, compose.secrets[path.replace('/run/secrets/', '')].file), 'utf8');
  const variables = Object.entries<string>(server.environment).map(([name, value]) => [
    name,
    value.replace(/^\$\{\w+:-(.*)\}$/, '$1'),
  ]);
  const environment = { ...environmentOfImage, ...Object.fromEntries(variables) };
  const { config, secrets, warnings } = configurationFrom(environment, secretFile);
  t.deepEqual(warnings, []);
  t.is(config.host, '0.0.0.0');
  t.true(config.accounts.openRegistration);

  const database = new URL(secrets.databaseUrl ?? '');
  t.true(database.hostname in compose.services);
  t.is(database.username, postgres.environment.POSTGRES_USER);
  t.is(database.password, secretFile(postgres.environment.POSTGRES_PASSWORD_FILE).trim());
});

test('every setting of a file .env reaches the server, unless compose.yaml fixes it', (t) => {
  const { server } = compose.services;
  t.deepEqual(server.env_file, [{ path: '.env', required: false }]);
  t.true(textOf('.gitignore').split('\n').includes('/.env'), 'it may hold secrets');
  const written: Record<string, string> = {
    PUBLIC_URL: 'https://notes.test',
    TRUST_PROXY: '10.0.0.2',
    DISABLE_USER_REGISTRATION: 'true',
    SMTP_HOST: 'relay.test',
    SMTP_FROM: 'notes@notes.test',
    SMTP_USER: 'notes',
    SMTP_PASSWORD: 'two words',
    NATS_URL: 'nats://elsewhere:4222',
  };
  const secretFile = (path: string): string =>
    path.endsWith('secret-key') ? 'a'.repeat(64) : 'postgresql://a:b@postgres:5432/c';
  // Like compose: `environment` wins over the file, and takes values named as ${NAME:-default} from there.
  const fixed = Object.entries<string>(server.environment).map(([name, value]) => [
    name,
    value.replace(/^\$\{(\w+):-(.*)\}$/, (_, from: string, otherwise: string) => written[from] ?? otherwise),
  ]);
  const environment = { ...environmentOfImage, ...written, ...Object.fromEntries(fixed) };
  const { config, secrets } = configurationFrom(environment, secretFile);
  t.is(config.publicUrl, 'https://notes.test');
  t.true(config.accounts.registrationDisabled);
  t.like(config.mail, { host: 'relay.test', user: 'notes', from: { address: 'notes@notes.test' } });
  t.is(secrets.smtpPassword, 'two words');
  t.is(environment.NATS_URL, 'nats://nats:4222');
});

test('the image is that of compose.yaml and of the chart: version, user, programs', async (t) => {
  t.is(compose.services.server.image, `scriptorium:${JSON.parse(textOf('package.json')).version}`);
  const [, user = ''] = /^USER (\d+):\d+$/m.exec(containerfile) ?? [];
  t.deepEqual(
    [...containerfile.matchAll(/--?(?:uid|owner)[= ](\d+)/g)].map(([, of]) => of),
    [user, user],
  );
  for (const manifest of (await render(cases.small)).filter(makesPods))
    t.is(podOf(manifest).spec.securityContext.runAsUser, Number(user));
  t.regex(containerfile, /^CMD \["dist\/supervisor\.js"\]$/m);
  t.true(textOf('helm/templates/migrate.yaml').includes('dist/cli/main.js'));
  t.true(textOf('helm/templates/_backup.tpl').includes('dist/cli/main.js'));
});

test('the image is built from what is copied into its build, with code of the gRPC contracts that is made there', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'image-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const copied = [...containerfile.matchAll(/^COPY (?!--)(.+) \S+$/gm)].flatMap(([, paths = '']) =>
    paths.split(' '),
  );
  // A fresh clone has no generated code, and `npm ci` runs before everything else.
  const isGenerated = (path: string): boolean => path === join(root, 'proto', 'generated');
  for (const path of copied)
    cpSync(join(root, path), join(folder, path), {
      recursive: true,
      filter: (source) => !isGenerated(source),
    });
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));

  t.regex(containerfile, /^RUN npm run build( |$)/m);
  await shell('npm run build', { cwd: folder });
  const { include } = JSON.parse(textOf('tsconfig.build.json'));
  for (const pattern of include as readonly string[]) {
    const built = pattern.replace('/**/*.ts', '').replace(/\.ts$/, '.js');
    t.true(existsSync(join(folder, 'dist', built)), built);
  }
  t.regex(await shell('node dist/cli/main.js --help', { cwd: folder }), /^Usage: scriptorium/);
});
