/** The settings that `compose.yaml` and `Containerfile` give the server, and the chart's expectations of the image. */
import {
  copyFileSync,
  cpSync,
  existsSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { configurationFrom } from '../../process/config/config.ts';
import { buildComposeReader } from '../../tools/compose/compose.ts';
import { commandsOf } from '../documentation/commands.ts';
import { composeProject, containerfile, secretAt, serverEnvironment } from '../kit/compose-project.ts';
import { root } from '../kit/server-process.ts';
import { shell } from '../kit/shell.ts';
import { temporaryFolder } from '../kit/temporary-folder.ts';
import { cases } from './cases.ts';
import { makesPods, podOf, render } from './chart.ts';

const textOf = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

const { makeFolder, makeSecretKey, makePassword, makeUrl, letServersRead } = commandsOf(
  'docs/kubernetes.md',
  'Without Kubernetes',
  ['makeFolder', 'makeSecretKey', 'makePassword', 'makeUrl', 'letServersRead', 'up'],
);

test.before(buildComposeReader);

/** A folder with `compose.yaml` and the secrets that the document makes. */
async function madeFolder(t: ExecutionContext): Promise<string> {
  const folder = temporaryFolder(t);
  copyFileSync(join(root, 'compose.yaml'), join(folder, 'compose.yaml'));
  const commands = [makeFolder, makeSecretKey, makePassword, makeUrl, letServersRead];
  await shell(commands.join('\n'), { cwd: folder });
  return folder;
}

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
  const project = composeProject(await madeFolder(t));
  // In a container, the reader of the files is another user than their maker.
  for (const { file } of Object.values(project.secrets)) t.is(statSync(file).mode & 0o777, 0o644, file);
  const { server, postgres } = project.services;
  for (const { source } of [...(server.secrets ?? []), ...(postgres.secrets ?? [])])
    t.true(source in project.secrets, source);
  const secretFile = (path: string): string => secretAt(project, path);
  const { config, secrets, warnings } = configurationFrom(serverEnvironment(project), secretFile);
  t.deepEqual(warnings, []);
  t.is(config.host, '0.0.0.0');
  t.true(config.accounts.openRegistration);

  const database = new URL(secrets.databaseUrl ?? '');
  t.true(database.hostname in project.services);
  t.is(database.username, postgres.environment['POSTGRES_USER'] ?? '');
  t.is(database.password, secretFile(postgres.environment['POSTGRES_PASSWORD_FILE'] ?? '').trim());
});

test('every setting of a file .env reaches the server, unless compose.yaml fixes it', async (t) => {
  const folder = await madeFolder(t);
  t.true(textOf('.gitignore').split('\n').includes('/.env'), 'it may hold secrets');
  const written = [
    'PUBLIC_URL=https://notes.test',
    'TRUST_PROXY=10.0.0.2',
    'DISABLE_USER_REGISTRATION=true',
    'SMTP_HOST=relay.test',
    'SMTP_FROM=notes@notes.test',
    'SMTP_USER=notes',
    "SMTP_PASSWORD='two words'",
    'NATS_URL=nats://elsewhere:4222',
  ];
  writeFileSync(join(folder, '.env'), written.join('\n'));
  const project = composeProject(folder);
  const environment = serverEnvironment(project);
  const { config, secrets } = configurationFrom(environment, (path) => secretAt(project, path));
  t.is(config.publicUrl, 'https://notes.test');
  t.true(config.accounts.registrationDisabled);
  t.like(config.mail, { host: 'relay.test', user: 'notes', from: { address: 'notes@notes.test' } });
  t.is(secrets.smtpPassword, 'two words');
  t.is(environment['NATS_URL'], 'nats://nats:4222');
  t.deepEqual(project.services.server.env_file, [{ path: join(folder, '.env'), required: false }]);
});

test('the image is that of compose.yaml and of the chart: version, user, programs', async (t) => {
  t.is(
    composeProject(root).services.server.image,
    `scriptorium:${JSON.parse(textOf('package.json')).version}`,
  );
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
  const folder = temporaryFolder(t);
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
