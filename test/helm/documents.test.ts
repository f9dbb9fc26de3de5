/** The documents about the chart are true. */
import { readFileSync } from 'node:fs';
import test from 'ava';
import { chartReadme, chartSchema } from '../../tools/chart-documents.ts';
import { commandsOf, replaced } from '../documentation/commands.ts';
import { helm, type Manifest, manifestsOf, podOf, the } from './chart.ts';

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

/** The manifests that the command would install. */
async function manifestsBy(command: string): Promise<readonly Manifest[]> {
  return manifestsOf(await helm(replaced(command, { 'helm install': 'template' }).split(' ')));
}

test('the installation of docs/kubernetes.md can be rendered as it stands there', async (t) => {
  const servers = [
    the(await manifestsBy(installOnePod), 'StatefulSet'),
    the(await manifestsBy(installCluster), 'Deployment'),
  ];
  for (const server of servers)
    t.is(podOf(server).spec.containers[0].image, 'registry.example.org/scriptorium:0.1.0');
});
