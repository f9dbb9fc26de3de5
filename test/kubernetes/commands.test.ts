/** Helm and the chart accept the commands of a run on Kubernetes. A run takes too long to be the first to find out. */
import { dirname } from 'node:path';
import test from 'ava';
import { buildHelm, helmProgram } from '../../tools/programs.ts';
import { replaced } from '../documentation/commands.ts';
import { type Manifest, manifestsOf, podOf, type Tree, the, withValues } from '../helm/chart.ts';
import { shell } from '../kit/shell.ts';
import { autoscaler, byLoad } from './autoscaling.ts';
import { backUpNow, withBackups } from './backup.ts';
import {
  installWith,
  makeSecretFor,
  release,
  setsOfRelease,
  takeNextBuild,
  tryIt,
  upgradeWith,
  waiting,
} from './installation.ts';
import { commandsFor, letIn, turnedOff, turnedOn } from './load-test.ts';
import { builds, buildWith, images } from './machine/images.ts';
import { installOnePod, restoreOnePod, upgradeOnePod } from './single-pod.ts';
import { valuesOfRun } from './values.ts';

test.before(buildHelm);

const helmShell = (command: string, kubeconfig: string): Promise<string> =>
  shell(command, { env: { PATH: `${dirname(helmProgram)}:${process.env['PATH']}`, KUBECONFIG: kubeconfig } });

/** The manifests that Helm would make for a command that installs something. */
async function manifestsBy(command: string): Promise<readonly Manifest[]> {
  const template = replaced(command, { 'helm install': 'helm template --kube-version 1.34.0' });
  return manifestsOf(await helmShell(template, '/dev/null'));
}

const imagesOf = (manifests: readonly Manifest[], kind: string, name?: string): readonly string[] =>
  podOf(the(manifests, kind, name)).spec.containers.map(({ image }: Tree) => image);

/** The first upgrade of the document: Helm asks a cluster for the values to keep. */
const installLike = (upgrade: string, first: string): string => {
  const [, values] = upgrade.split('--reset-then-reuse-values');
  if (values === undefined) throw new Error(`no upgrade that keeps values: ${upgrade}`);
  return `${first} ${values}`;
};

test('the chart takes what a run installs, and has the images and the sets of pods that its steps expect', async (t) => {
  await withValues(valuesOfRun, async (file) => {
    const install = installWith(file);
    const manifests = await manifestsBy(install);
    const names = manifests.map(({ kind, metadata }) => `${kind.toLowerCase()}/${metadata.name}`);
    for (const set of setsOfRelease) t.true(names.includes(set), set);
    t.deepEqual(imagesOf(manifests, 'Deployment'), [`${images.server}:${builds[0]}`]);
    const next = await manifestsBy(installLike(takeNextBuild, install));
    t.deepEqual(imagesOf(next, 'Deployment'), [`${images.server}:${builds[1]}`]);
    const scaled = await manifestsBy(installLike(upgradeWith('hosts.replicas=4'), install));
    t.is(the(scaled, 'StatefulSet', `${release}-hosts`)['spec'].replicas, 4);
    const backedUp = await manifestsBy(installLike(upgradeWith(withBackups), install));
    for (const [command = '', name] of [
      [backUpNow, `${release}-backup`],
      [restoreOnePod[2], `${release}-restore`],
    ])
      t.true(command.endsWith(`cronjob/${the(backedUp, 'CronJob', name).metadata.name}`), name);
    const autoscaled = await manifestsBy(installLike(upgradeWith(byLoad), install));
    t.is(the(autoscaled, 'HorizontalPodAutoscaler', autoscaler)['spec'].maxReplicas, 3);
    const loaded = await manifestsBy(installLike(turnedOn, install));
    t.deepEqual(imagesOf(loaded, 'Job', `${release}-load-test-1`), [images.k6]);
    t.deepEqual(
      await manifestsBy(installLike(letIn, install)),
      manifests,
      'it has the limits that load tests need',
    );
    t.is((await manifestsBy(installLike(turnedOff, install))).length, manifests.length);
  });
});

test('the chart takes what a run installs beside it, of one pod', async (t) => {
  const manifests = await manifestsBy(installOnePod);
  t.deepEqual(imagesOf(manifests, 'StatefulSet'), [`${images.server}:${builds[0]}`]);
  const next = await manifestsBy(installLike(upgradeOnePod, installOnePod));
  t.deepEqual(imagesOf(next, 'StatefulSet'), [`${images.server}:${builds[1]}`]);
});

/** At a port where nobody listens. */
const nowhere = {
  apiVersion: 'v1',
  kind: 'Config',
  'current-context': 'nowhere',
  clusters: [{ name: 'nowhere', cluster: { server: 'http://127.0.0.1:9' } }],
  contexts: [{ name: 'nowhere', context: { cluster: 'nowhere' } }],
};

test('Helm takes what a run types, as far as there is no cluster', async (t) => {
  await withValues(nowhere, async (kubeconfig) => {
    for (const command of [tryIt, `${takeNextBuild} ${waiting}`, letIn, turnedOn, turnedOff, upgradeOnePod])
      await t.throwsAsync(helmShell(command, kubeconfig), { message: /Kubernetes cluster unreachable/ });
    await t.throwsAsync(helmShell(`${tryIt} --lgos`, kubeconfig), { message: /unknown flag: --lgos/ });
  });
});

test('a run types what the documents say, but for servers, folders and amounts', (t) => {
  t.is(
    buildWith('localhost/scriptorium:0.1.0'),
    'build --layers --network host --build-arg BUILD_BASE=localhost/node:1 --build-arg BASE=localhost/debian:1 ' +
      '-f Containerfile -t localhost/scriptorium:0.1.0 .',
  );
  const [, database = ''] = /database-url='(.+?)'/.exec(makeSecretFor('database.notes.svc', 'secret')) ?? [];
  t.is(new URL(database).host, 'database.notes.svc:5432');
  t.is(new URL(database).password, 'secret');
  const { seed, makeArchive, startHostsAnew, readPages } = commandsFor('http://10.79.0.9', '/tmp/run');
  t.is(
    seed,
    'node --import=tsx load-tests/run.ts seed --profile smoke --url http://10.79.0.9 --users /tmp/run/users.json',
  );
  t.regex(
    makeArchive,
    /--profile smoke --url http:\/\/notes-scriptorium --users \/tmp\/run\/users\.json --out \/tmp\/run\/load-test\.tar/,
  );
  t.regex(
    startHostsAnew,
    /--halfway 'kubectl --namespace notes rollout restart statefulset\/notes-scriptorium-hosts'/,
  );
  t.regex(readPages, / > "\/tmp\/run\/pages\/\$\(basename "\$pod"\)\.html"; done$/);
});
