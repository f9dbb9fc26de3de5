/** The connections that are allowed when the network is closed. */
import test from 'ava';
import { cases } from './cases.ts';
import { makesPods, podOf, type Rendering, render, type Tree, the } from './chart.ts';

test('no pod may be asked by just anybody, and with egress none may ask just anybody', async (t) => {
  for (const [title, rendering] of Object.entries<Rendering>(cases)) {
    const manifests = await render(rendering);
    const policies = manifests.filter(({ kind }) => kind === 'NetworkPolicy').map((of) => of['spec'] as Tree);
    const isClosedBothWays = 'networkPolicy' in rendering.values;
    for (const policy of policies) {
      t.deepEqual(policy.policyTypes, isClosedBothWays ? ['Ingress', 'Egress'] : ['Ingress'], title);
      t.is('egress' in policy, isClosedBothWays, title);
    }
    for (const pod of manifests.filter(makesPods)) {
      const { labels } = podOf(pod).metadata;
      t.true(
        policies.some((policy) => selects(policy.podSelector, labels)),
        `${title}: ${pod.metadata.name}`,
      );
    }
  }
});

test('by default NATS, the database of the chart and hosts are open to their own alone, and clients to all', async (t) => {
  const { networkPolicy: _, ...values } = cases['cluster with NATS and CockroachDB of the chart'].values;
  const manifests = await render({ values });
  const askedBy = (part: string) => {
    const rules: readonly Tree[] =
      the(manifests, 'NetworkPolicy', `notes-scriptorium-${part}`)['spec'].ingress ?? [];
    return rules.map(({ ports, from }) => [ports[0].port, from === undefined ? 'anybody' : 'some']);
  };
  t.deepEqual(askedBy('nats'), [
    ['client', 'some'],
    ['cluster', 'some'],
  ]);
  t.deepEqual(askedBy('cockroachdb'), [['sql', 'some']]);
  t.deepEqual(askedBy('host'), []);
  t.deepEqual(askedBy('gateway'), [['http', 'anybody']]);
});

test('where it is switched off there is no policy', async (t) => {
  const manifests = await render({ values: { networkPolicy: { enabled: false } } });
  t.deepEqual(
    manifests.filter(({ kind }) => kind === 'NetworkPolicy'),
    [],
  );
});

test('where only some may ask the gateways the smoke test may, too', async (t) => {
  const manifests = await render(cases['cluster with everything around it']);
  const { labels } = the(manifests, 'Pod').metadata;
  const gateway = the(manifests, 'NetworkPolicy', 'notes-scriptorium-gateway');
  const [clients] = gateway['spec'].ingress as readonly Tree[];
  t.true(clients.from.some(({ podSelector }: Tree) => podSelector && selects(podSelector, labels)));
});

test('the Job of migrations may ask DNS and the database before anything else of the release is there', async (t) => {
  const manifests = await render(cases['cluster with everything around it']);
  const job = the(manifests, 'Job', 'notes-scriptorium-migrate');
  t.is(podOf(job).spec.serviceAccountName, 'default');
  const policy = the(manifests, 'NetworkPolicy', 'notes-scriptorium-migrate');
  t.true(selects(policy['spec'].podSelector, podOf(job).metadata.labels));
  t.deepEqual(
    policy['spec'].egress.flatMap((of: Tree) => of.ports.map(({ port }: Tree) => port)),
    [53, 53, 5_432],
  );
  const hooks = [policy, job].map(({ metadata }) => metadata['annotations']);
  for (const annotations of hooks) t.is(annotations['helm.sh/hook'], 'pre-install,pre-upgrade');
  t.is(hooks[0]['helm.sh/hook-weight'], '-1');
  t.is(hooks[1]['helm.sh/hook-weight'], undefined);
});

test('DNS is asked where that of the cluster is, and anywhere where nobody says', async (t) => {
  const dnsOf = async (networkPolicy: object) => {
    const manifests = await render({ values: { networkPolicy: { egress: true, ...networkPolicy } } });
    return the(manifests, 'NetworkPolicy', 'notes-scriptorium-server')['spec'].egress[0].to;
  };
  const [pods, cache] = await dnsOf({});
  t.deepEqual(pods, {
    namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'kube-system' } },
  });
  t.deepEqual(cache, { ipBlock: { cidr: '169.254.20.10/32' } });
  t.is(await dnsOf({ dns: [] }), undefined);
});

test('the smoke test may ask its address at any port', async (t) => {
  const values = { networkPolicy: { egress: true }, smokeTest: { url: 'https://notes.example.org:8443' } };
  const policy = the(await render({ values }), 'NetworkPolicy', 'notes-scriptorium-smoke-test');
  t.deepEqual(policy['spec'].egress[1], { ports: [{ protocol: 'TCP' }] });
});

function selects({ matchLabels = {}, matchExpressions = [] }: Tree, labels: Record<string, string>): boolean {
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every(({ key, values }: Tree) => values.includes(labels[key]))
  );
}
