/** The documents about the chart are true. */
import { readFileSync } from 'node:fs';
import test from 'ava';
import { chartReadme, chartSchema } from '../../tools/chart-documents.ts';
import { buildComposeReader } from '../../tools/compose/compose.ts';
import { commandsOf, replaced } from '../documentation/commands.ts';
import { codeBlocksOf, documentFiles, root } from '../documentation/texts.ts';
import { composeProject } from '../kit/compose-project.ts';
import { helm, type Manifest, manifestsOf, podOf, the } from './chart.ts';
import { parsedCompose } from './compose-command.ts';

const textOf = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

test('helm/README.md and helm/values.schema.json are what `npm run docs` writes now', (t) => {
  t.is(textOf('helm/README.md'), chartReadme());
  t.is(textOf('helm/values.schema.json'), chartSchema());
});

test('the chart has the version of the server', (t) => {
  const { version } = JSON.parse(textOf('package.json'));
  const chart = textOf('helm/Chart.yaml');
  t.is(/^version: (.+)$/m.exec(chart)?.[1], version);
  t.is(/^appVersion: (.+)$/m.exec(chart)?.[1], version);
});

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly [key: string]: unknown;
}

/** A value, or the values below it. */
function undescribed(
  { properties = {} }: Schema,
  described: ReadonlySet<string>,
  path = '',
): readonly string[] {
  return Object.entries(properties).flatMap(([name, schema]) => {
    const own = `${path}${name}`;
    if (own === 'global' || described.has(own)) return [];
    return schema.properties === undefined ? [own] : undescribed(schema, described, `${own}.`);
  });
}

test('every value of the schema is described in values.yaml, and no other', (t) => {
  const schema: Schema = JSON.parse(chartSchema());
  const rows = textOf('helm/README.md').matchAll(/^\| (\S+) \| \w+ \| `/gm);
  const paths = [...rows].map(([, path = '']) => path);
  t.true(paths.length > 100);
  t.is(new Set(paths).size, paths.length);
  t.deepEqual(undescribed(schema, new Set(paths)), []);
  const isInSchema = (path: string) =>
    path.split('.').reduce<Schema | undefined>((of, name) => of?.properties?.[name], schema) !== undefined;
  t.deepEqual(
    paths.filter((path) => !isInSchema(path)),
    [],
  );
});

const { installOnePod } = commandsOf('docs/kubernetes.md', 'One pod', ['installOnePod']);
const { installCluster } = commandsOf('docs/kubernetes.md', 'A cluster', [
  'makeNamespace',
  'makeSecret',
  'installCluster',
]);
const { watch } = commandsOf('docs/kubernetes.md', 'Watching it', ['watch', 'listNodes']);
const { turnOn } = commandsOf('docs/kubernetes.md', 'Backups', [
  'turnOn',
  'backUpNow',
  'awaitBackup',
  'removeJob',
]);

/** The manifests that the command would install. */
async function manifestsBy(command: string): Promise<readonly Manifest[]> {
  const words = replaced(command, { 'helm install': 'template' }).split(' ');
  return manifestsOf(await helm(words.map((word) => word.replace(/^'(.*)'$/, '$1'))));
}

test('the installation of docs/kubernetes.md can be rendered as it stands there', async (t) => {
  const servers = [
    the(await manifestsBy(installOnePod), 'StatefulSet'),
    the(await manifestsBy(installCluster), 'Deployment'),
  ];
  for (const server of servers)
    t.is(podOf(server).spec.containers[0].image, 'registry.example.org/scriptorium:0.1.0');
});

const nameOf = ({ kind, metadata: { name } }: Manifest): string => `${kind}/${name}`;

test('watching and backups are turned on by the commands of docs/kubernetes.md', async (t) => {
  const values = [watch, turnOn].flatMap((command) => command.split('--reset-then-reuse-values')[1] ?? []);
  const before = new Set((await manifestsBy(installCluster)).map(nameOf));
  const manifests = await manifestsBy([installCluster, ...values.map((each) => each.trim())].join(' '));
  const kinds = manifests.filter((each) => !before.has(nameOf(each))).map(({ kind }) => kind);
  for (const kind of ['ServiceMonitor', 'PrometheusRule', 'ConfigMap', 'CronJob'])
    t.true(kinds.includes(kind), kind);
  const backup = the(manifests, 'CronJob', 'notes-scriptorium-backup');
  const { initContainers } = backup['spec'].jobTemplate.spec.template.spec;
  t.true(initContainers.length > 0, 'it is restored after it was made');
  const policies = JSON.stringify(manifests.filter(({ kind }) => kind === 'NetworkPolicy'));
  t.true(policies.includes('{"kubernetes.io/metadata.name":"monitoring"}'));
});

/** What operators type when something is wrong: in blocks, in text and in tables. */
const typedAtNight = ['docs/operations.md', 'docs/alerts.md'].flatMap((file) => [
  ...codeBlocksOf(file).flatMap(({ language, text }) => (language === 'sh' ? text.split('\n') : [])),
  ...[...textOf(file).matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code),
]);

const isRunning = ({ kind }: Manifest): boolean =>
  kind === 'Deployment' || kind === 'StatefulSet' || kind === 'CronJob';

test('the commands of the guide and of the alerts name pods and sets that the chart makes', async (t) => {
  const manifests = [...(await manifestsBy(installOnePod)), ...(await manifestsBy(installCluster))];
  const known = new Set(
    manifests.filter(isRunning).flatMap(({ kind, metadata: { name } }) => {
      const set = `${kind.toLowerCase()}/${name}`;
      return kind === 'StatefulSet' ? [set, `${name}-0`] : [set];
    }),
  );
  const named = typedAtNight.flatMap((text) => text.match(/(?:[a-z]+\/)?\bnotes-scriptorium[\w-]*/g) ?? []);
  t.true(named.length > 10);
  t.deepEqual(
    named.filter((name) => !known.has(name)),
    [],
  );
});

const composeCommand = /^ *(docker compose .*)$|`(docker compose [^`]*)`/gm;
/** Those of blocks and those within the text. */
const composeCommands = documentFiles.flatMap((file) =>
  [...textOf(file).matchAll(composeCommand)].map(([, inBlock, inText]) => inBlock ?? inText ?? ''),
);

/** The services that a command names. */
function servicesOf(command: string): readonly string[] {
  const { name, args } = parsedCompose(command);
  if (name === 'cp') return args.filter((each) => each.includes(':')).map((each) => each.split(':')[0] ?? '');
  // The others are what runs in it.
  return name === 'exec' || name === 'run' ? args.slice(0, 1) : args;
}

test('Compose has every command that a document names, and compose.yaml has its services', (t) => {
  buildComposeReader();
  const known = Object.keys(composeProject(root).services);
  t.true(composeCommands.length > 15);
  for (const command of composeCommands)
    t.deepEqual(
      servicesOf(command).filter((service) => !known.includes(service)),
      [],
      command,
    );
});

test('a command or an option that Compose does not have is found', (t) => {
  t.throws(() => parsedCompose('docker compose exec --follow server scriptorium'), {
    message: /Compose has no --follow/,
  });
  t.throws(() => parsedCompose('docker compose erase'), { message: /docker_compose_erase/ });
  t.deepEqual(parsedCompose('docker compose logs -n 5 --follow server nats'), {
    name: 'logs',
    options: new Map([
      ['tail', '5'],
      ['follow', 'true'],
    ]),
    args: ['server', 'nats'],
  });
});
