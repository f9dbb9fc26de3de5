/** A backup of the cluster by the chart's CronJob, which restores it, starts a server on it and compares. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { commandsOf } from '../documentation/commands.ts';
import { type Installation, rolledOut, takeNextBuild, upgrade, waiting } from './installation.ts';
import { localVolume } from './surroundings.ts';

const { backUpNow, awaitBackup, removeJob } = commandsOf('docs/kubernetes.md', 'Backups', [
  'turnOn',
  'backUpNow',
  'awaitBackup',
  'removeJob',
]);

export { awaitBackup, backUpNow };

export const withBackups = 'backup.enabled=true,backup.verify=true';

export async function backUp(installation: Installation): Promise<void> {
  const { operator, folder } = installation;
  const path = join(folder, 'cluster-backups');
  mkdirSync(path, { recursive: true });
  await operator.apply([localVolume('cluster-backups', 'node-1', path, '50Gi')]);
  // The former build, to which another step has rolled back, does not back up what it does not know.
  await operator.run(`${takeNextBuild} ${waiting}`);
  await upgrade(installation, withBackups);
  await rolledOut(installation);
  for (const command of [backUpNow, awaitBackup, removeJob]) await operator.run(command);
}
