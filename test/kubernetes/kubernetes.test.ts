import { dirname } from 'node:path';
import test from 'ava';
import { buildHelm, helmProgram } from '../../tools/helm.ts';
import type { CallRecord } from '../cluster/tally.ts';
import { replaced } from '../documentation/commands.ts';
import { type Manifest, manifestsOf, podOf, type Tree, the, withValues } from '../helm/chart.ts';
import { shell } from '../kit/shell.ts';
import {
  installWith,
  makeSecretFor,
  release,
  setsOfRelease,
  takeNextBuild,
  upgradeWith,
} from './installation.ts';
import { commandsFor, turnedOff, turnedOn } from './load-test.ts';
import { builds, buildWith, images } from './machine/images.ts';
import { isAsItShouldBe, type Observed, outcomeOf, page } from './report.ts';
import { installOnePod, upgradeOnePod } from './single-pod.ts';
import { valuesOfRun } from './values.ts';

const answered: CallRecord = { atMs: 1, durationMs: 20, failures: [] };
const failedAtFirst: CallRecord = { atMs: 2, durationMs: 90, failures: ['no-answer'] };

const observed = (changes: Partial<Observed>): Observed => ({
  step: { name: 'an upgrade', isPlanned: true, run: () => Promise.resolve() },
  failure: undefined,
  durationMs: 30_000,
  calls: [answered],
  before: { gateway: 2, host: 3 },
  least: { gateway: 2, host: 2 },
  ...changes,
});

test.before(buildHelm);

/** What Helm would make by a command that installs something. */
async function manifestsBy(command: string): Promise<readonly Manifest[]> {
  const env = { PATH: `${dirname(helmProgram)}:${process.env['PATH']}`, HOME: process.env['HOME'] };
  const template = replaced(command, { 'helm install': 'helm template --kube-version 1.34.0' });
  return manifestsOf(await shell(template, { env }));
}

const imagesOf = (manifests: readonly Manifest[], kind: string): readonly string[] =>
  podOf(the(manifests, kind)).spec.containers.map(({ image }: Tree) => image);

/** As a first upgrade to what it says: Helm asks a cluster for the values that it goes on with. */
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
    const loaded = await manifestsBy(installLike(turnedOn, install));
    t.deepEqual(imagesOf(loaded, 'Job'), [images.k6]);
    t.is((await manifestsBy(installLike(turnedOff, install))).length, manifests.length);
  });
});

test('the chart takes what a run installs beside it, of one pod', async (t) => {
  const manifests = await manifestsBy(installOnePod);
  t.deepEqual(imagesOf(manifests, 'StatefulSet'), [`${images.server}:${builds[0]}`]);
  const next = await manifestsBy(installLike(upgradeOnePod, installOnePod));
  t.deepEqual(imagesOf(next, 'StatefulSet'), [`${images.server}:${builds[1]}`]);
});

test('what a run types is what the documents say, but for servers, folders and amounts', (t) => {
  t.is(
    buildWith('localhost/scriptorium:0.1.0'),
    'build --layers --network host --build-arg BUILD_BASE=localhost/node:1 --build-arg BASE=localhost/debian:1 ' +
      '-f Containerfile -t localhost/scriptorium:0.1.0 .',
  );
  const [, database = ''] = /database-url='(.+?)'/.exec(makeSecretFor('database.notes.svc', 'secret')) ?? [];
  t.is(new URL(database).host, 'database.notes.svc:5432');
  t.is(new URL(database).password, 'secret');
  const { seed, makeArchive, startHostsAnew, readPage } = commandsFor('http://10.79.0.9', '/tmp/run');
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
  t.regex(readPage, / > \/tmp\/run\/load-test\.html$/);
});

test('a planned step that failed no request and took away one host at a time is as it should be', (t) => {
  t.deepEqual(outcomeOf(observed({})).complaints, []);
});

test('a planned step may fail no request', (t) => {
  const { complaints, failedAttempts } = outcomeOf(observed({ calls: [answered, failedAtFirst] }));
  t.deepEqual(complaints, ['1 requests failed at first']);
  t.is(failedAttempts['no-answer'], 1);
});

test('a planned step may take away no gateway and two hosts only where it says so', (t) => {
  const least = { gateway: 1, host: 1 };
  t.is(outcomeOf(observed({ least })).complaints.length, 2);
  const step = { ...observed({}).step, away: { gateway: 1, host: 2 } };
  t.deepEqual(outcomeOf(observed({ least, step })).complaints, []);
});

test('a step during which nobody asked anything shows nothing', (t) => {
  t.is(outcomeOf(observed({ calls: [] })).complaints.length, 1);
});

test('a crash may fail requests, and what the operator is told instead of success counts all the same', (t) => {
  const step = { ...observed({}).step, isPlanned: false };
  const calls = [failedAtFirst];
  t.deepEqual(outcomeOf(observed({ step, calls })).complaints, []);
  t.deepEqual(outcomeOf(observed({ step, calls, failure: 'timed out' })).complaints, ['timed out']);
});

test('the page names whatever was not as it should be, and the run fails by it', (t) => {
  const bad = outcomeOf(observed({ failure: 'timed out' }));
  const violations = [{ kind: 'lost-write', user: 'somebody', detail: 'an item is gone' }] as const;
  const outcome = {
    smokeTest: 'registers',
    steps: [bad],
    calls: 1,
    acknowledgedWrites: 1,
    violations: violations as never,
    unfinished: [],
  };
  t.false(isAsItShouldBe(outcome));
  t.true(isAsItShouldBe({ ...outcome, steps: [outcomeOf(observed({}))], violations: [] }));
  const text = page(outcome, { date: '2026-01-01', commit: 'abc', seed: 1, imageMegabytes: 1 });
  t.regex(text, /an upgrade: timed out/);
  t.regex(text, /lost-write \(somebody\): an item is gone/);
});
