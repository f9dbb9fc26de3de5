/** The Job that runs a load test in the cluster. */
import { spawnSync } from 'node:child_process';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { durationSecondsOf, profiles, vusMaxOfMachine, vusOfGigabyte } from '../../load-tests/profiles.ts';
import { scenarioNames } from '../../load-tests/scenarios.ts';
import { temporaryFolder } from '../kit/temporary-folder.ts';
import { cases } from './cases.ts';
import { podOf, render, type Tree, the } from './chart.ts';

test('each of its pods makes its part of the load, and the parts are the whole', async (t) => {
  const job = the(await render(cases['cluster under load']), 'Job');
  t.is(job['spec'].completionMode, 'Indexed');
  t.is(job['spec'].completions, 3);
  t.is(job['spec'].parallelism, 3);
  // A failed part lets the others report.
  t.is(job['spec'].backoffLimitPerIndex, 0);
  t.is(job['spec'].backoffLimit, undefined);
  const [container] = podOf(job).spec.containers;
  const variables: Record<string, string> = Object.fromEntries(
    container.env.map((of: Tree) => [of.name, of.value]),
  );
  const folder = temporaryFolder(t);
  writeFileSync(join(folder, 'k6'), '#!/bin/sh\nprintf "%s\\n" "$@"\n');
  chmodSync(join(folder, 'k6'), 0o755);
  const [shell = '', ...flags] = container.command;
  const parts = [0, 1, 2].map((index) => {
    const env = {
      ...variables,
      JOB_COMPLETION_INDEX: String(index),
      PATH: `${folder}:${process.env['PATH']}`,
    };
    const ran = spawnSync(shell, [...flags, ...container.args], { env, encoding: 'utf8' });
    t.is(ran.status, 0, ran.stderr);
    const args = ran.stdout.trim().split('\n');
    t.is(args[args.indexOf('--execution-segment-sequence') + 1], '0,1/3,2/3,3/3');
    t.is(args.at(-1), '/load-test/load-test.tar');
    return args[args.indexOf('--execution-segment') + 1];
  });
  t.deepEqual(parts, ['0/3:1/3', '1/3:2/3', '2/3:3/3']);
});

test('it reads sessions of users from a Secret that is named, and may ask servers alone', async (t) => {
  const manifests = await render(cases['cluster under load']);
  const { spec } = podOf(the(manifests, 'Job'));
  const [volume] = spec.volumes.filter((of: Tree) => of.name === 'load-test');
  t.is(volume.secret.secretName, 'load-test');
  const policy = the(manifests, 'NetworkPolicy', 'notes-scriptorium-load-test')['spec'] as Tree;
  t.is(policy.ingress, undefined);
  const [, servers] = policy.egress;
  t.is(servers.to[0].podSelector.matchLabels['scriptorium/server'], 'true');
  const host = the(manifests, 'NetworkPolicy', 'notes-scriptorium-host')['spec'] as Tree;
  const [fromLoad] = host.ingress;
  t.deepEqual(fromLoad.ports, [{ port: 'admin', protocol: 'TCP' }]);
});

test('an archive in the image is run from there, and nothing is mounted over it', async (t) => {
  const { values, presets } = cases['cluster under load'];
  const loadTest = {
    enabled: true,
    archivePath: '/load-test/load-test.tar',
    image: 'registry.example.org/load-test:1',
  };
  const { spec } = podOf(the(await render({ presets, values: { ...values, loadTest } }), 'Job'));
  const [container] = spec.containers;
  t.is(container.image, loadTest.image);
  t.deepEqual(
    container.env.find(({ name }: Tree) => name === 'ARCHIVE'),
    { name: 'ARCHIVE', value: loadTest.archivePath },
  );
  t.deepEqual(
    [...spec.volumes, ...container.volumeMounts].map(({ name }: Tree) => name),
    ['tmp', 'tmp'],
  );
});

test('it may take longer than the longest run that load-tests/README.md tells of', async (t) => {
  const readme = readFileSync(new URL('../../load-tests/README.md', import.meta.url), 'utf8');
  const [, seconds] = /--set DURATION_SECONDS=(\d+)/.exec(readme) ?? [];
  const { activeDeadlineSeconds } = the(await render(cases['cluster under load']), 'Job')['spec'];
  t.true(activeDeadlineSeconds > Number(seconds));
  for (const name of Object.keys(profiles))
    for (const scenario of scenarioNames) t.true(activeDeadlineSeconds > durationSecondsOf(scenario, name));
});

test('a pod has the memory for all VUs that it may have', async (t) => {
  const [container] = podOf(the(await render(cases['cluster under load']), 'Job')).spec.containers;
  t.is(container.resources.limits.memory, `${Math.ceil(vusMaxOfMachine / vusOfGigabyte)}Gi`);
});

test('it is a Job of this revision, needs its archive, and is not there unless asked for', async (t) => {
  const job = the(await render(cases['cluster under load']), 'Job');
  t.is(job.metadata.name, 'notes-scriptorium-load-test-1');
  const { values, presets } = cases['cluster under load'];
  const without = { presets, values: { ...values, loadTest: { enabled: true } } };
  await t.throwsAsync(render(without), { message: /archiveSecret, .* or archivePath/ });
  const twice = { enabled: true, archiveSecret: 'load-test', archivePath: '/load-test.tar' };
  await t.throwsAsync(render({ presets, values: { ...values, loadTest: twice } }), { message: /choose one/ });
  t.false((await render(cases.cluster)).some(({ kind }) => kind === 'Job'));
});
