/** A backup of the cluster by the chart's CronJob, which restores it, starts a server on it and compares. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Installation, release, rolledOut, upgrade } from './installation.ts';
import { localVolume, namespace } from './surroundings.ts';

const job = 'backup-now';
/** As docs/kubernetes.md makes the CronJob run at once. */
export const backUpNow = `kubectl create job ${job} --from=cronjob/${release}-backup --namespace ${namespace}`;
export const withBackups = 'backup.enabled=true,backup.verify=true';

export async function backUp(installation: Installation): Promise<void> {
  const { operator, folder } = installation;
  const path = join(folder, 'cluster-backups');
  mkdirSync(path, { recursive: true });
  await operator.apply([localVolume('cluster-backups', 'node-1', path, '50Gi')]);
  await upgrade(installation, withBackups);
  await rolledOut(installation);
  const here = `--namespace ${namespace}`;
  await operator.run(backUpNow);
  await operator.run(`kubectl wait --for=condition=complete --timeout=300s job/${job} ${here}`);
  await operator.run(`kubectl delete job ${job} ${here}`);
}
