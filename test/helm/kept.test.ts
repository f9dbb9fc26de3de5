/** What must stay the same from one release to the next, where Helm sees a cluster: a fake of its API. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import { type Manifest, type Rendering, render, the } from './chart.ts';

type Objects = Record<string, object>;

const secretPath = '/api/v1/namespaces/apps/secrets/notes-scriptorium-secret';
const settingsPath = '/api/v1/namespaces/apps/configmaps/notes-scriptorium-settings';

/** Has the namespace `default`, and what is put into the answer's objects by path. */
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
    '/apis': { kind: 'APIGroupList', apiVersion: 'v1', groups: [] },
    '/api/v1': {
      kind: 'APIResourceList',
      groupVersion: 'v1',
      resources: [
        resource('namespaces', 'Namespace', false),
        resource('secrets', 'Secret', true),
        resource('configmaps', 'ConfigMap', true),
      ],
    },
    '/api/v1/namespaces/default': { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default' } },
  };
  const absent = { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'NotFound', code: 404 };
  const server = createServer((request, response) => {
    const found = objects[(request.url ?? '').split('?')[0] ?? ''];
    response.writeHead(found === undefined ? 404 : 200, { 'Content-Type': 'application/json' });
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

test('an upgrade with another name of the cluster is refused', async (t) => {
  const { objects, flags } = await startCluster(t);
  objects[settingsPath] = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'notes-scriptorium-settings', namespace: 'apps' },
    data: { CLUSTER_NAME: 'notes' },
  };
  const upgrade = [...flags, '--is-upgrade'];
  await t.notThrowsAsync(() => render({ values: { clusterName: 'notes' }, flags: upgrade }));
  const error = await t.throwsAsync(() => render({ values: { clusterName: 'others' }, flags: upgrade }));
  t.regex(error.message, /clusterName must not change: the database knows it as "notes"/);
});
