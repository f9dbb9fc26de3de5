/** The chart's promises about its manifests, for all values of `test/helm/cases.ts`. */
import { readFileSync } from 'node:fs';
import test from 'ava';
import { configurationFrom } from '../../process/config/config.ts';
import { cases } from './cases.ts';
import {
  chartFolder,
  helm,
  type Manifest,
  makesPods,
  podOf,
  type Rendering,
  render,
  type Tree,
  the,
} from './chart.ts';

const titled = Object.entries<Rendering>(cases);
const ours = ({ metadata }: Manifest): boolean =>
  /gateway|host|server|migrate|backup/.test(metadata['labels']['app.kubernetes.io/component']);

test('lint finds nothing, with either preset', async (t) => {
  for (const preset of ['small', 'cluster']) {
    const settings = preset === 'cluster' ? ['--set', 'files.existingClaim=files'] : [];
    const values = `${chartFolder}presets/${preset}.yaml`;
    t.regex(
      await helm(['lint', chartFolder, '--strict', '--values', values, ...settings]),
      /0 chart\(s\) failed/,
    );
  }
});

for (const [title, rendering] of titled) {
  test(`${title}: containers have no more rights than they need`, async (t) => {
    const pods = (await render(rendering)).filter(makesPods);
    t.true(pods.length > 0);
    for (const manifest of pods) {
      const { spec } = podOf(manifest);
      const name = `${manifest.kind} ${manifest.metadata.name}`;
      t.false(spec.automountServiceAccountToken, name);
      t.false(spec.enableServiceLinks, name);
      t.true(spec.securityContext.runAsNonRoot, name);
      t.is(spec.securityContext.runAsUser, 10_001, name);
      t.is(spec.securityContext.seccompProfile.type, 'RuntimeDefault', name);
      for (const container of spec.containers) {
        t.deepEqual(
          container.securityContext,
          { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } },
          name,
        );
        t.truthy(container.resources.requests.cpu, name);
        t.truthy(container.resources.limits.memory, name);
      }
    }
  });

  test(`${title}: whatever is mounted is there, and what is selected exists`, async (t) => {
    const manifests = await render(rendering);
    const pods = manifests.filter(makesPods);
    const names = new Set(manifests.map(({ kind, metadata: { name } }) => `${kind} ${name}`));
    t.is(names.size, manifests.length, 'names are unique');
    for (const manifest of pods) {
      const { spec } = podOf(manifest);
      const claimed = (manifest['spec'].volumeClaimTemplates ?? []).map((of: Tree) => of.metadata.name);
      const volumes = [...(spec.volumes ?? []).map((of: Tree) => of.name), ...claimed];
      t.is(new Set(volumes).size, volumes.length);
      for (const container of spec.containers) {
        for (const { name } of container.volumeMounts ?? []) t.true(volumes.includes(name), name);
        for (const { configMapRef } of container.envFrom ?? [])
          t.true(names.has(`ConfigMap ${configMapRef.name}`));
      }
    }
    const labels = pods.map((manifest) => podOf(manifest).metadata.labels as Record<string, string>);
    const isSomePod = (selector: Record<string, string>) =>
      labels.some((of) => Object.entries(selector).every(([key, value]) => of[key] === value));
    for (const { kind, metadata, spec } of manifests as readonly Tree[]) {
      if (kind === 'Service') t.true(isSomePod(spec.selector), metadata.name);
      if (kind === 'PodDisruptionBudget') t.true(isSomePod(spec.selector.matchLabels), metadata.name);
      if (kind === 'NetworkPolicy' && !metadata.name.endsWith('-jobs'))
        t.true(isSomePod(spec.podSelector.matchLabels), metadata.name);
    }
  });

  test(`${title}: the server takes the settings that its pods get`, async (t) => {
    const manifests = await render(rendering);
    const servers = manifests.filter(
      (of) => makesPods(of) && of['spec'].template?.metadata.labels['scriptorium/server'],
    );
    t.true(servers.length > 0);
    for (const server of servers) {
      const { config, warnings } = configurationFrom(environmentOf(server, manifests), secretFile);
      // A chart without `publicUrl` cannot tell clients an address for files, and the server says so.
      const isToldItsAddress = rendering.values['publicUrl'] !== undefined;
      t.deepEqual(
        warnings.filter((each) => isToldItsAddress || !each.startsWith('Clients look for files at')),
        [],
      );
      const [container] = podOf(server).spec.containers;
      const ports = Object.fromEntries(container.ports.map((of: Tree) => [of.name, of.containerPort]));
      t.is(ports['admin'], config.adminPort);
      t.is(ports['http'], config.role === 'host' ? undefined : config.port);
      t.is(config.nats === undefined, config.role === 'all');
    }
  });

  test(`${title}: a pod has time to leave its endpoints and to drain`, async (t) => {
    const manifests = await render(rendering);
    for (const server of manifests.filter((of) => of.kind !== 'Job' && makesPods(of) && ours(of))) {
      if (server.kind === 'CronJob') continue;
      const { config } = configurationFrom(environmentOf(server, manifests), secretFile);
      const { terminationGracePeriodSeconds, containers } = podOf(server).spec;
      const preStopSeconds = containers[0].lifecycle?.preStop.sleep.seconds ?? 0;
      t.true(
        terminationGracePeriodSeconds * 1_000 > preStopSeconds * 1_000 + closeMaxMs(config.drainTimeoutMs),
      );
      if (config.role === 'gateway') t.true(preStopSeconds > 0);
    }
  });
}

const [, slack = ''] =
  /^const closeSlackMs = ([\d_]+);$/m.exec(readFileSync(new URL('../../main.ts', import.meta.url), 'utf8')) ??
  [];
const closeMaxMs = (drainTimeoutMs: number): number => 2 * drainTimeoutMs + Number(slack.replaceAll('_', ''));

/** Like the kubelet. */
function environmentOf(server: Manifest, manifests: readonly Manifest[]): Record<string, string> {
  const [container] = podOf(server).spec.containers;
  const pod = `${server.metadata.name}-0`;
  const own = container.env.map((of: Tree) => [of.name, of.value?.replaceAll('$(NODE_ID)', pod) ?? pod]);
  const shared = container.envFrom.map(
    (of: Tree) => the(manifests, 'ConfigMap', of.configMapRef.name)['data'],
  );
  return Object.assign({}, ...shared, Object.fromEntries(own));
}

function secretFile(path: string): string {
  const secrets: Readonly<Record<string, string>> = {
    SECRET_KEY: 'ab'.repeat(32),
    DATABASE_URL: 'postgresql://notes:password@database:5432/notes',
    NATS_URL: 'tls://nats:4222',
  };
  return secrets[path.replace('/run/secrets/scriptorium/', '')] ?? 'secret';
}

test('gateways leave before they drain, hosts go one by one, and neither all at once', async (t) => {
  const manifests = await render(cases.cluster);
  const gateways = the(manifests, 'Deployment')['spec'];
  t.deepEqual(gateways.strategy.rollingUpdate, { maxUnavailable: 0, maxSurge: 1 });
  t.is(gateways.replicas, undefined, 'the HPA decides');
  const hosts = the(manifests, 'StatefulSet')['spec'];
  t.is(hosts.podManagementPolicy, 'OrderedReady');
  t.true(hosts.minReadySeconds >= 10);
  for (const part of ['gateway', 'host'])
    t.is(the(manifests, 'PodDisruptionBudget', `notes-scriptorium-${part}`)['spec'].maxUnavailable, 1);
});

test('the admin port knows the names of its pod within the cluster, and those of its operator', async (t) => {
  const { presets, values } = cases.cluster;
  const named = { ...values, settings: { ...values.settings, ADMIN_NAMES: 'admin.example.org' } };
  const manifests = await render({ presets, values: named });
  const hosts = the(manifests, 'StatefulSet');
  const { adminNames } = configurationFrom(environmentOf(hosts, manifests), secretFile).config;
  const pod = `notes-scriptorium-hosts-0.${hosts['spec'].serviceName}`;
  t.deepEqual(adminNames, [
    pod,
    `${pod}.apps`,
    `${pod}.apps.svc`,
    `${pod}.apps.svc.cluster.local`,
    'admin.example.org',
  ]);
});

test('NATS is started anew for what a restart can heal alone, which includes a server that never catches up after its start', async (t) => {
  const manifests = await render(cases['cluster with NATS and CockroachDB of the chart']);
  const [{ startupProbe, livenessProbe, readinessProbe }] = podOf(
    the(manifests, 'StatefulSet', 'notes-scriptorium-nats'),
  ).spec.containers;
  t.is(startupProbe.httpGet.path, '/healthz?js-server-only=true');
  t.is(
    startupProbe.periodSeconds * startupProbe.failureThreshold,
    660,
    'eleven minutes, as docs/kubernetes.md says',
  );
  t.is(livenessProbe.httpGet.path, '/healthz?js-enabled-only=true');
  t.is(readinessProbe.httpGet.path, '/healthz?js-server-only=true');
});

test('large numbers reach the server as they are written', async (t) => {
  const { data } = the(
    await render(cases['small and open, with everything around it']),
    'ConfigMap',
    'notes-settings',
  ) as Tree;
  t.is(data.BODY_MEMORY_BYTES, '268435456');
  t.is(data.LOG_FAILED_SIGN_INS, 'true');
});

test('secrets are files, and never in the environment or in the release', async (t) => {
  const manifests = await render(cases.cluster);
  t.deepEqual(
    manifests.filter(({ kind }) => kind === 'Secret'),
    [],
  );
  const [{ env, volumeMounts }] = podOf(the(manifests, 'Deployment')).spec.containers;
  const files = env.filter((of: Tree) => of.name.endsWith('_FILE')).map((of: Tree) => of.value);
  t.is(files.length, 4);
  const [{ mountPath, readOnly }] = volumeMounts.filter((of: Tree) => of.name === 'secrets');
  t.true(readOnly);
  for (const file of files) t.true(file.startsWith(`${mountPath}/`));
});

test('the authority of the database is wherever its address is', async (t) => {
  const manifests = await render(cases['small on claims and a database of yours']);
  const secretsOf = (manifest: Manifest): readonly Tree[] =>
    (podOf(manifest).spec.volumes ?? [])
      .flatMap(({ projected }: Tree) => projected?.sources ?? [])
      .flatMap(({ secret }: Tree) => secret.items);
  const pods = manifests.filter(makesPods).map(secretsOf);
  const withDatabase = pods.filter((items) => items.some(({ path }) => path === 'DATABASE_URL'));
  t.is(withDatabase.length, 3, 'server, backup and restore');
  for (const items of pods) {
    const authority = items.find(({ path }) => path === 'database-ca.pem');
    t.is(authority?.key, withDatabase.includes(items) ? 'database-ca' : undefined);
  }
});

test('helm test asks the Service as clients do, with the access key where there is one', async (t) => {
  const smokeTestOf = async (rendering: Rendering) => {
    const manifests = await render(rendering);
    const pod = the(manifests, 'Pod');
    t.is(pod.metadata['annotations']['helm.sh/hook'], 'test');
    const [container] = podOf(pod).spec.containers;
    return { manifests, container, args: container.args as readonly string[] };
  };
  for (const title of ['small', 'cluster', 'cluster with everything around it'] as const) {
    const { manifests, args, container } = await smokeTestOf(cases[title]);
    const service = the(manifests, 'Service', 'notes-scriptorium');
    const address = `http://notes-scriptorium:${service['spec'].ports[0].port}`;
    t.deepEqual(args, ['dist/cli/main.js', 'smoke-test', address]);
    t.is(container.volumeMounts, undefined);
  }
  const guarded = await smokeTestOf(cases['small on claims and a database of yours']);
  const [mount, ...more] = guarded.container.volumeMounts;
  t.deepEqual(more, []);
  t.is(guarded.args.at(-1), `--access-key-file=${mount.mountPath}/SHARED_SERVER_ACCESS_KEY`);
  const elsewhere = { values: { smokeTest: { url: 'https://notes.example.org' } } };
  t.is((await smokeTestOf(elsewhere)).args.at(-1), 'https://notes.example.org');
});

test('a load balancer may keep the addresses of clients', async (t) => {
  const service = { type: 'LoadBalancer', externalTrafficPolicy: 'Local' };
  const { spec } = the(await render({ values: { service } }), 'Service', 'notes-scriptorium') as Tree;
  t.is(spec.externalTrafficPolicy, 'Local');
  t.is(spec.ports[0].appProtocol, undefined);
});

const makesLoad = ({ metadata }: Manifest): boolean =>
  metadata['labels']['app.kubernetes.io/component'] === 'load-test';

test('files that pods write beside their volumes are bounded', async (t) => {
  for (const [title, rendering] of titled) {
    for (const pod of (await render(rendering)).filter((of) => makesPods(of) && !makesLoad(of)))
      for (const { emptyDir } of podOf(pod).spec.volumes ?? [])
        if (emptyDir !== undefined) t.truthy(emptyDir.sizeLimit, `${title}: ${pod.metadata.name}`);
  }
});

test('resources that must be kept outlive an uninstall', async (t) => {
  const manifests = await render(cases.small);
  const claims = manifests.filter(({ kind }) => kind === 'PersistentVolumeClaim');
  t.is(claims.length, 2);
  for (const { metadata } of claims) t.is(metadata['annotations']['helm.sh/resource-policy'], 'keep');
});

test('a change of settings starts the pods anew, and nothing else does', async (t) => {
  const sumOf = async (values: Rendering['values']) =>
    podOf(the(await render({ values }), 'StatefulSet')).metadata.annotations['checksum/settings'];
  const plain = await sumOf({});
  t.is(await sumOf({ service: { port: 81 } }), plain);
  t.not(await sumOf({ settings: { LOG_LEVEL: 'debug' } }), plain);
});
