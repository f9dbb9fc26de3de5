/** What `compose.yaml` and `Containerfile` tell the server, and what the chart expects of the image. */
import { existsSync, readFileSync } from 'node:fs';
import test from 'ava';
import yaml from 'js-yaml';
import { configurationFrom } from '../../config.ts';
import { cases } from './cases.ts';
import { makesPods, podOf, render, type Tree } from './chart.ts';

const textOf = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const containerfile = textOf('Containerfile');

/** What the image sets by itself. */
const environmentOfImage = Object.fromEntries(
  [...containerfile.matchAll(/^ENV (.+)$/gm)]
    .flatMap(([, pairs = '']) => pairs.split(' '))
    .map((pair) => pair.split('=') as [string, string]),
);

const compose = (yaml.safeLoadAll(textOf('compose.yaml')) as Tree[])[0];

test('the server takes the settings of compose.yaml', (t) => {
  const given = Object.entries<string>(compose.services.server.environment).map(([name, value]) => [
    name,
    value.replace(/^\$\{\w+:-(.*)\}$/, '$1'),
  ]);
  const files: Readonly<Record<string, string>> = {
    '/run/secrets/database-url': 'postgresql://scriptorium:password@postgres:5432/scriptorium',
    '/run/secrets/secret-key': 'ab'.repeat(32),
  };
  const environment = { ...environmentOfImage, ...Object.fromEntries(given) };
  const { config, warnings } = configurationFrom(environment, (path) => files[path] ?? '');
  t.deepEqual(warnings, []);
  t.is(config.host, '0.0.0.0');
  t.true(config.accounts.openRegistration);
  for (const secret of compose.services.server.secrets) t.true(secret in compose.secrets);
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
  t.regex(containerfile, /^CMD \["dist\/main\.js"\]$/m);
  t.true(textOf('helm/templates/migrate.yaml').includes('dist/cli/main.js'));
  t.true(textOf('helm/templates/backup.yaml').includes('/opt/scriptorium/tools/backup.sql'));
});

test('everything that is built is copied into the build, and is there', (t) => {
  const copied = [...containerfile.matchAll(/^COPY (?!--)(.+) \S+$/gm)].flatMap(([, paths = '']) =>
    paths.split(' '),
  );
  for (const path of copied) t.true(existsSync(new URL(`../../${path}`, import.meta.url)), path);
  const { include } = JSON.parse(textOf('tsconfig.build.json'));
  for (const pattern of include as readonly string[]) {
    const path = pattern.replace('/**/*.ts', '');
    t.true(copied.includes(path), path);
  }
});
