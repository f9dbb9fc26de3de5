/** Values that must stay the same from one release to the next, when Helm sees a cluster: a fake of its API. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import { cases } from './cases.ts';
import { type Manifest, podOf, type Rendering, render, type Tree, the } from './chart.ts';

type Objects = Record<string, object>;

const secretsPath = '/api/v1/namespaces/apps/secrets';
const secretPath = `${secretsPath}/notes-scriptorium-secret`;
const settingsPath = '/api/v1/namespaces/apps/configmaps/notes-scriptorium-settings';
const gatewaysPath = '/apis/apps/v1/namespaces/apps/deployments/notes-scriptorium-gateways';

/**
 * The view of a user of the namespace `apps`, who may list no namespaces. The given values are put into the answer's
 * objects by path.
 */
async function startCluster(t: ExecutionContext): Promise<{ objects: Objects; flags: readonly string[] }> {
  const resource = (name: string, kind: string, namespaced: boolean) => ({
    name,
    kind,
    namespaced,
    singularName: '',
    verbs: ['get'],
  });
  const objects: Objects = {
    '/version': { major: '1', minor: '34', gitVersion: 'v1.34.0' },
    '/api': { kind: 'APIVersions', versions: ['v1'] },
    '/apis': {
      kind: 'APIGroupList',
      apiVersion: 'v1',
      groups: [
        {
          name: 'apps',
          versions: [{ groupVersion: 'apps/v1', version: 'v1' }],
          preferredVersion: { groupVersion: 'apps/v1', version: 'v1' },
        },
      ],
    },
    '/apis/apps/v1': {
      kind: 'APIResourceList',
      groupVersion: 'apps/v1',
      resources: [resource('deployments', 'Deployment', true)],
    },
    '/api/v1': {
      kind: 'APIResourceList',
      groupVersion: 'v1',
      resources: [
        resource('namespaces', 'Namespace', false),
        resource('secrets', 'Secret', true),
        resource('configmaps', 'ConfigMap', true),
      ],
    },
    [secretsPath]: { apiVersion: 'v1', kind: 'SecretList', metadata: {}, items: [] },
  };
  const forbidden = { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'Forbidden', code: 403 };
  const absent = { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'NotFound', code: 404 };
  const server = createServer((request, response) => {
    const [path = ''] = (request.url ?? '').split('?');
    const isForbidden = /^\/api\/v1\/namespaces\/\w+$/.test(path);
    const found = isForbidden ? forbidden : objects[path];
    response.writeHead(isForbidden ? 403 : found === undefined ? 404 : 200, {
      'Content-Type': 'application/json',
    });
    response.end(JSON.stringify(found ?? absent));
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { objects, flags: ['--dry-run=server', '--kube-apiserver', address] };
}

const generating = { secrets: { generate: true } };

const keyOf = (manifests: readonly Manifest[]): string =>
  Buffer.from(the(manifests, 'Secret')['data']['secret-key'], 'base64').toString();

test('a root secret is made once, and kept', async (t) => {
  const { objects, flags } = await startCluster(t);
  const install: Rendering = { values: generating, flags };
  const upgrade: Rendering = { values: generating, flags: [...flags, '--is-upgrade'] };
  const [first, second] = [await render(install), await render(install)];
  t.regex(keyOf(first), /^[0-9a-f]{64}$/);
  t.not(keyOf(first), keyOf(second), 'by chance');
  const made = the(first, 'Secret');
  t.is(made.metadata['annotations']['helm.sh/resource-policy'], 'keep');
  objects[secretPath] = { ...made, metadata: { ...made.metadata, namespace: 'apps' } };
  t.is(keyOf(await render(upgrade)), keyOf(first));
  t.is(keyOf(await render(install)), keyOf(first), 'after an uninstall, which leaves it');
});

test('no other root secret is made when the first is gone', async (t) => {
  const { flags } = await startCluster(t);
  const error = await t.throwsAsync(() => render({ values: generating, flags: [...flags, '--is-upgrade'] }));
  t.regex(error.message, /The Secret notes-scriptorium-secret is gone/);
});

test('a root secret is made beside a Secret that has all others', async (t) => {
  const { flags } = await startCluster(t);
  const keys = { SECRET_KEY: '', DATABASE_URL: 'database-url' };
  const values = { secrets: { generate: true, existingSecret: 'scriptorium', keys } };
  const manifests = await render({ values, flags });
  const [container] = podOf(the(manifests, 'StatefulSet')).spec.containers;
  const { volumes } = podOf(the(manifests, 'StatefulSet')).spec;
  const [{ projected }] = volumes.filter((of: Tree) => of.name === 'secrets');
  t.deepEqual(projected.sources, [
    {
      secret: { name: 'notes-scriptorium-secret', items: [{ key: 'secret-key', path: 'SECRET_KEY' }] },
    },
    { secret: { name: 'scriptorium', items: [{ key: 'database-url', path: 'DATABASE_URL' }] } },
  ]);
  const names = container.env.map((of: Tree) => of.name);
  for (const name of ['SECRET_KEY_FILE', 'DATABASE_URL_FILE']) t.true(names.includes(name));
});

interface Settings {
  readonly CLUSTER_NAME: string;
  readonly SHARD_COUNT?: string;
}

const settingsOf = (data: Settings) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'notes-scriptorium-settings', namespace: 'apps' },
  data,
});

test('an upgrade with another name of the cluster is refused', async (t) => {
  const { objects, flags } = await startCluster(t);
  objects[settingsPath] = settingsOf({ CLUSTER_NAME: 'notes' });
  const upgrade = [...flags, '--is-upgrade'];
  await t.notThrowsAsync(() => render({ values: { clusterName: 'notes' }, flags: upgrade }));
  const error = await t.throwsAsync(() => render({ values: { clusterName: 'others' }, flags: upgrade }));
  t.regex(error.message, /clusterName must not change: the database knows it as "notes"/);
});

test('an upgrade with another number of shards is refused, and one that leaves it to the database is not', async (t) => {
  const { objects, flags } = await startCluster(t);
  const upgrade = [...flags, '--is-upgrade'];
  objects[settingsPath] = settingsOf({ CLUSTER_NAME: 'scriptorium', SHARD_COUNT: '2048' });
  for (const shardCount of [2_048, null])
    await t.notThrowsAsync(() => render({ values: { shardCount }, flags: upgrade }));
  const error = await t.throwsAsync(() => render({ values: { shardCount: 4_096 }, flags: upgrade }));
  t.regex(error.message, /shardCount must not change: the database has 2048/);
  objects[settingsPath] = settingsOf({ CLUSTER_NAME: 'scriptorium' });
  await t.notThrowsAsync(() => render({ values: { shardCount: 4_096 }, flags: upgrade }));
});

test('gateways stay as many as they are when their number is left to Kubernetes', async (t) => {
  const { objects, flags } = await startCluster(t);
  const replicasBy = async (rendering: Rendering) =>
    the(await render(rendering), 'Deployment')['spec'].replicas;
  const upgrade = { ...cases.cluster, flags: [...flags, '--is-upgrade'] };
  t.is(await replicasBy({ ...cases.cluster, flags }), 2, 'a rollback goes back to it');
  t.is(await replicasBy(upgrade), 2, 'there is none');
  t.is(await replicasBy(cases.cluster), undefined, 'Helm does not see how many there are');
  for (const replicas of [7, 0]) {
    objects[gatewaysPath] = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'notes-scriptorium-gateways', namespace: 'apps' },
      spec: { replicas },
    };
    t.is(await replicasBy(upgrade), replicas);
  }
});
