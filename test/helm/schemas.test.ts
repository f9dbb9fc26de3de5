/** A cluster accepts every manifest of the chart. */
import { spawnSync } from 'node:child_process';
import test from 'ava';
import { definitionFiles, findOrMakeKubernetesValidate } from '../../tools/kubernetes-schemas.ts';
import { cases } from './cases.ts';
import { type Manifest, type Rendering, render } from './chart.ts';

/** The newest versions with schemas, and the one on which the chart was run. */
const versions = ['1.34', '1.36', '1.37'];

interface Titled {
  readonly title: string;
  readonly manifest: Manifest;
}

function problemsOf(manifests: readonly Titled[]): readonly string[] {
  const python = findOrMakeKubernetesValidate(process.env);
  const script = new URL('schemas.py', import.meta.url).pathname;
  const input = JSON.stringify({ versions, definitions: definitionFiles(), manifests });
  const { status, stdout, stderr } = spawnSync(python, [script], { input, encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
  return stdout.split('\n').filter((line) => line !== '');
}

test('every manifest is strictly of its kind, for several releases of Kubernetes', async (t) => {
  t.timeout(300_000);
  const unique = new Map<string, Titled>();
  for (const [title, rendering] of Object.entries<Rendering>(cases)) {
    for (const manifest of await render(rendering)) {
      const name = `${title}: ${manifest.kind} ${manifest.metadata.name}`;
      unique.set(JSON.stringify(manifest), { title: name, manifest });
    }
  }
  const kinds = new Set([...unique.values()].map(({ manifest: { kind } }) => kind));
  for (const kind of ['StatefulSet', 'Deployment', 'Certificate', 'PrometheusRule', 'HTTPRoute']) {
    t.true(kinds.has(kind), kind);
  }
  t.deepEqual(problemsOf([...unique.values()]), []);
});

test('a word that a kind does not have is found, in kinds of Kubernetes and in those of others', async (t) => {
  const [deployment, monitor] = ['Deployment', 'ServiceMonitor'] as const;
  const manifests = await render(cases['cluster with everything around it']);
  const spoilt = manifests
    .filter(({ kind }) => kind === deployment || kind === monitor)
    .map((manifest) => ({
      title: manifest.kind,
      manifest: { ...manifest, spec: { ...manifest['spec'], typo: 1 } },
    }));
  const found = problemsOf(spoilt).map((line) => line.split(':')[0]);
  t.deepEqual([...new Set(found)].toSorted(), [deployment, monitor]);
});
