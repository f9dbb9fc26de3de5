/** The other beginning: one pod with its own PostgreSQL, backed up, upgraded, and killed. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Installation } from './installation.ts';
import { builds, images } from './machine/images.ts';
import { localVolume } from './surroundings.ts';

const namespace = 'family';
const pod = 'notes-scriptorium-0';
const inNamespace = ['--namespace', namespace];
const waiting = ['--wait', '--timeout', '10m'];

export async function singlePod({ operator, folder }: Installation): Promise<void> {
  const volumes = ['data', 'backups'].map((name, index) => {
    const path = join(folder, `family-${name}`);
    mkdirSync(path);
    return localVolume(`family-${name}`, 'node-1', path, index === 0 ? '20Gi' : '50Gi');
  });
  await operator.apply(volumes);
  const settings = [
    `image.repository=${images.server}`,
    `image.tag=${builds[0]}`,
    'registration=open',
    'single.resources.requests.cpu=50m',
    'single.resources.requests.memory=128Mi',
  ].flatMap((setting) => ['--set', setting]);
  const preset = ['--values', 'helm/presets/small.yaml'];
  await operator.helm(
    'install',
    'notes',
    'helm',
    ...inNamespace,
    '--create-namespace',
    ...preset,
    ...settings,
    ...waiting,
  );
  await operator.helm('test', 'notes', ...inNamespace, '--logs');
  await operator.kubectl(
    'create',
    'job',
    'backup-now',
    '--from=cronjob/notes-scriptorium-backup',
    ...inNamespace,
  );
  await operator.kubectl(
    'wait',
    '--for=condition=complete',
    '--timeout=180s',
    'job/backup-now',
    ...inNamespace,
  );
  const build = ['--set', `image.tag=${builds[1]}`];
  await operator.helm(
    'upgrade',
    'notes',
    'helm',
    ...inNamespace,
    '--reset-then-reuse-values',
    ...build,
    ...waiting,
  );
  await operator.kubectl('delete', 'pod', pod, '--force', '--grace-period=0', ...inNamespace);
  await operator.rolledOut('statefulset/notes-scriptorium', namespace);
  await operator.helm('test', 'notes', ...inNamespace, '--logs');
  await operator.helm('uninstall', 'notes', ...inNamespace, ...waiting);
}
