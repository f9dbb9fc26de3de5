/** The other beginning: one pod with its own PostgreSQL, backed up, restored, upgraded, and killed. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { UnreachableError } from '../../cli/http-client.ts';
import { newAccount, newItem, SmokeTestClient, type TestAccount } from '../../cli/smoke-test/client.ts';
import { commandsOf, replaced } from '../documentation/commands.ts';
import { until } from '../kit/until.ts';
import { awaitBackup, backUpNow } from './backup.ts';
import { type Installation, ownImage, takeNextBuild, tryIt, waiting } from './installation.ts';
import type { Operator } from './kubectl.ts';
import { localVolume } from './surroundings.ts';

const namespace = 'family';
const pod = 'notes-scriptorium-0';
const clientDeadlineMs = 10_000;
const reachableLimitMs = 30_000;
const small = '--set single.resources.requests.cpu=50m,single.resources.requests.memory=128Mi';

const { install } = commandsOf('docs/kubernetes.md', 'One pod', ['install']);
/** Another installation is there already. */
const inNamespace = { '--namespace notes': `--namespace ${namespace}` };
export const installOnePod = `${replaced(install, { ...inNamespace, ...ownImage })} ${small} ${waiting}`;
export const upgradeOnePod = `${replaced(takeNextBuild, inNamespace)} ${waiting}`;
const tryOnePod = replaced(tryIt, inNamespace);
const { stop, awaitStop, restoreNow, awaitRestore, start } = commandsOf('docs/kubernetes.md', 'Restore', [
  'stop',
  'awaitStop',
  'restoreNow',
  'awaitRestore',
  'start',
]);
/** An operator's first look. Nobody answers at the public address, which the doctor says with exit code 1. */
const { listPods, health, doctor, describe, log, restart } = commandsOf(
  'docs/operations.md',
  'With Kubernetes',
  ['listPods', 'health', 'doctor', 'describe', 'log', 'restart'],
);
const lookAtOnePod = [listPods, health, `${doctor} || [ $? = 1 ]`, describe, log, restart].map((command) =>
  replaced(command, inNamespace),
);
export const restoreOnePod = [stop, awaitStop, restoreNow, awaitRestore, start].map((command) =>
  replaced(command, inNamespace),
);

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
  const client = await clientOf(operator);
  const [account, item] = [newAccount(), newItem()];
  await client.save(await client.register(account), item);
  await operator.run(replaced(backUpNow, inNamespace));
  await operator.run(replaced(awaitBackup, inNamespace));
  await client.deleteAccount(await client.signIn(account), account);
  for (const command of restoreOnePod) await operator.run(command);
  await operator.rolledOut('statefulset/notes-scriptorium', namespace);
  // The proxies of the nodes learn of the new pod a moment later.
  await until(() => canSignIn(client, account), reachableLimitMs);
  await client.expectItem(await client.signIn(account), item);
  await operator.run(upgradeOnePod);
  for (const command of lookAtOnePod) await operator.run(command);
  await operator.rolledOut('statefulset/notes-scriptorium', namespace);
  await operator.run(`kubectl delete pod ${pod} --force --grace-period=0 ${there}`);
  await operator.rolledOut('statefulset/notes-scriptorium', namespace);
  await operator.run(tryOnePod);
  await operator.run(`helm uninstall notes ${there} ${waiting}`);
}

async function canSignIn(client: SmokeTestClient, account: TestAccount): Promise<boolean> {
  try {
    await client.signIn(account);
    return true;
  } catch (error) {
    if (error instanceof UnreachableError) return false;
    throw error;
  }
}

async function clientOf(operator: Operator): Promise<SmokeTestClient> {
  const { spec } = await operator.get(`service notes-scriptorium --namespace ${namespace}`);
  return new SmokeTestClient({
    url: new URL(`http://${spec.clusterIP}`),
    accessKey: undefined,
    deadlineMs: clientDeadlineMs,
  });
}
