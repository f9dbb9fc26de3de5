/** The other beginning: one pod with its own PostgreSQL, backed up, upgraded, and killed. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { commandsOf, replaced } from '../documentation/commands.ts';
import { awaitBackup, backUpNow } from './backup.ts';
import { type Installation, ownImage, takeNextBuild, tryIt, waiting } from './installation.ts';
import { localVolume } from './surroundings.ts';

const namespace = 'family';
const pod = 'notes-scriptorium-0';
const small = '--set single.resources.requests.cpu=50m,single.resources.requests.memory=128Mi';

const { install } = commandsOf('docs/kubernetes.md', 'One pod', ['install']);
/** Another installation is there already. */
const inNamespace = { '--namespace notes': `--namespace ${namespace}` };
export const installOnePod = `${replaced(install, { ...inNamespace, ...ownImage })} ${small} ${waiting}`;
export const upgradeOnePod = `${replaced(takeNextBuild, inNamespace)} ${waiting}`;
const tryOnePod = replaced(tryIt, inNamespace);

export async function singlePod({ operator, folder }: Installation): Promise<void> {
  const volumes = ['data', 'backups'].map((name, index) => {
    const path = join(folder, `family-${name}`);
    mkdirSync(path);
    return localVolume(`family-${name}`, 'node-1', path, index === 0 ? '20Gi' : '50Gi');
  });
  await operator.apply(volumes);
  const there = `--namespace ${namespace}`;
  await operator.run(installOnePod);
  await operator.run(tryOnePod);
  await operator.run(replaced(backUpNow, inNamespace));
  await operator.run(replaced(awaitBackup, inNamespace));
  await operator.run(upgradeOnePod);
  await operator.run(`kubectl delete pod ${pod} --force --grace-period=0 ${there}`);
  await operator.rolledOut('statefulset/notes-scriptorium', namespace);
  await operator.run(tryOnePod);
  await operator.run(`helm uninstall notes ${there} ${waiting}`);
}
