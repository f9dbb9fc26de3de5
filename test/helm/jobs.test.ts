/** The Jobs of the chart run the command line with what it needs, and with nothing else. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { cases } from './cases.ts';
import { podOf, render, type Tree, the } from './chart.ts';

const backupOf = async (rendering: Parameters<typeof render>[0]) =>
  podOf(the(await render(rendering), 'CronJob', 'notes-scriptorium-backup')).spec;

const variablesOf = ({ env }: Tree): Tree =>
  Object.fromEntries(env.map(({ name, value }: Tree) => [name, value]));

test('the backup of one pod goes to its volume, by the settings of the server', async (t) => {
  const spec = await backupOf({ ...cases.small, values: { backup: { keep: 3 } } });
  const [container] = spec.containers;
  t.deepEqual(container.args, ['dist/cli/main.js', 'backup']);
  t.like(variablesOf(container), { BACKUP_TARGET: '/backup', BACKUP_KEEP: '3' });
  t.deepEqual(container.envFrom, [{ configMapRef: { name: 'notes-scriptorium-settings' } }]);
  t.is(spec.initContainers, undefined);
  t.true(container.volumeMounts.some((of: Tree) => of.mountPath === '/backup' && of.readOnly === undefined));
});

test('a backup to S3 has no volume, and the secrets of the target and of the files', async (t) => {
  const { values, presets } = cases['cluster with everything around it'];
  const keys = { ...(values as Tree)['secrets'].keys, BACKUP_S3_SECRET_ACCESS_KEY: 'backup-s3' };
  const settings = { ...(values as Tree)['settings'], BACKUP_TARGET: 's3://backups/notes' };
  const secrets = { ...(values as Tree)['secrets'], keys };
  const manifests = await render({
    presets,
    values: { ...values, secrets, settings, backup: { enabled: true } },
  });
  t.false(
    manifests.some(
      ({ kind, metadata }) => kind === 'PersistentVolumeClaim' && metadata['name'].endsWith('-backup'),
    ),
  );
  const spec = podOf(the(manifests, 'CronJob', 'notes-scriptorium-backup')).spec;
  t.false(spec.volumes.some((of: Tree) => of.name === 'backup'));
  t.like(variablesOf(spec.containers[0]), {
    BACKUP_TARGET: 's3://backups/notes',
    BACKUP_S3_SECRET_ACCESS_KEY_FILE: '/run/secrets/scriptorium/BACKUP_S3_SECRET_ACCESS_KEY',
  });
});

test('a backup that is verified is restored after it was written, in a folder of its own', async (t) => {
  const spec = await backupOf({ ...cases.small, values: { backup: { verify: true } } });
  t.deepEqual(
    [...spec.initContainers, ...spec.containers].map(({ args }: Tree) => args.slice(1)),
    [['backup'], ['backup', 'verify', '--scratch', '/scratch']],
  );
  t.true(spec.volumes.some((of: Tree) => of.name === 'scratch'));
});

test('the server that verifies a backup can write to /tmp, as the root is read-only', async (t) => {
  const { containers, volumes } = await backupOf({ ...cases.small, values: { backup: { verify: true } } });
  const [{ volumeMounts, securityContext }] = containers;
  t.true(securityContext.readOnlyRootFilesystem);
  const [mount] = volumeMounts.filter((of: Tree) => of.mountPath === '/tmp');
  t.true(volumes.some((of: Tree) => of.name === mount.name && of.emptyDir !== undefined));
});

test('the backup may ask the database by an address of its own, and cannot write to the data of the server', async (t) => {
  const { values, presets } = cases['cluster with everything around it'];
  const rendering = {
    presets,
    values: { ...values, backup: { enabled: true, databaseUrlKey: 'read-only' } },
  };
  const { spec } = podOf(the(await render(rendering), 'CronJob', 'notes-scriptorium-backup'));
  const [{ projected }] = spec.volumes.filter((of: Tree) => of.name === 'secrets');
  t.deepEqual(projected.sources, [
    {
      secret: {
        name: 'scriptorium',
        items: [
          { key: 'read-only', path: 'DATABASE_URL' },
          { key: 's3-key', path: 'FILES_S3_SECRET_ACCESS_KEY' },
        ],
      },
    },
  ]);
  const single = the(await render(cases.small), 'CronJob', 'notes-scriptorium-backup');
  const [{ volumeMounts }] = podOf(single).spec.containers;
  const [data] = volumeMounts.filter((of: Tree) => of.name === 'data');
  t.true(data.readOnly);
  t.is(single['spec'].jobTemplate.spec.activeDeadlineSeconds, 21_600);
});

test('a restore never starts by itself and is not repeated, and may write where the server does', async (t) => {
  const manifests = await render({ ...cases.small, values: { backup: { enabled: true } } });
  const restore = the(manifests, 'CronJob', 'notes-scriptorium-restore');
  t.true(restore['spec'].suspend);
  t.is(restore['spec'].jobTemplate.spec.backoffLimit, 0);
  const { initContainers, containers } = podOf(restore).spec;
  t.deepEqual(
    initContainers.map(({ name }: Tree) => name),
    ['put-aside'],
  );
  t.deepEqual(containers[0].args, ['dist/cli/main.js', 'restore']);
  const [data] = containers[0].volumeMounts.filter(({ name }: Tree) => name === 'data');
  t.false(data.readOnly);
});

test('what a restore puts aside is whole, and its secret key stays in place', async (t) => {
  const manifests = await render({ ...cases.small, values: { backup: { enabled: true } } });
  const [putAside] = podOf(the(manifests, 'CronJob', 'notes-scriptorium-restore')).spec.initContainers;
  const volume = mkdtempSync(join(tmpdir(), 'volume-'));
  const data = join(volume, 'data');
  const run = () => {
    const [shell, ...args] = putAside.command;
    execFileSync(shell, args, { env: { PATH: process.env['PATH'], DATA_DIR: data } });
  };
  run();
  t.deepEqual(readdirSync(volume), [], 'a new volume has nothing to put aside');
  mkdirSync(data);
  writeFileSync(join(data, 'secret-key'), 'key', { mode: 0o600 });
  writeFileSync(join(data, 'rows'), 'rows');
  run();
  t.deepEqual(readdirSync(data), ['secret-key']);
  t.is(statSync(data).mode & 0o777, 0o700);
  t.is(statSync(join(data, 'secret-key')).mode & 0o777, 0o600);
  const [aside = ''] = readdirSync(volume).filter((name) => name !== 'data');
  t.regex(aside, /^data-\d{8}T\d{6}Z$/);
  t.deepEqual(readdirSync(join(volume, aside)).sort(), ['rows', 'secret-key']);
  rmSync(volume, { recursive: true });
});

test('a restore in a cluster puts nothing aside, and asks the database of the server, not that of backups', async (t) => {
  const { values, presets } = cases['cluster with everything around it'];
  const backup = { enabled: true, databaseUrlKey: 'read-only', identityKey: 'age' };
  const manifests = await render({ presets, values: { ...values, backup } });
  const { spec } = podOf(the(manifests, 'CronJob', 'notes-scriptorium-restore'));
  t.is(spec.initContainers, undefined);
  t.deepEqual(spec.containers[0].args, [
    'dist/cli/main.js',
    'restore',
    '--identity',
    '/run/secrets/scriptorium/BACKUP_IDENTITY',
  ]);
  const [{ projected }] = spec.volumes.filter(({ name }: Tree) => name === 'secrets');
  const items = projected.sources.flatMap(({ secret }: Tree) => secret.items);
  const [{ key }] = items.filter(({ path }: Tree) => path === 'DATABASE_URL');
  t.is(key, 'database-url');
});
