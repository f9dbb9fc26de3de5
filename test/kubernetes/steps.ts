/** The actions of an operator on an installation, under load. */
import type { Manifest } from '../helm/chart.ts';
import { until } from '../kit/until.ts';
import { scaleByLoad } from './autoscaling.ts';
import { backUp } from './backup.ts';
import {
  type Installation,
  release,
  rolledOut,
  takeNextBuild,
  tryIt,
  upgrade,
  waiting,
} from './installation.ts';
import { handOver, loadTest } from './load-test.ts';
import { builds, images, nextMigration } from './machine/images.ts';
import { keepNeighboursOut } from './policies.ts';
import type { Part } from './readiness.ts';
import { renewCertificates } from './renewal.ts';
import { singlePod } from './single-pod.ts';
import { namespace } from './surroundings.ts';

export interface Step {
  readonly name: string;
  /** Nobody may notice it. */
  readonly isPlanned: boolean;
  /** How many pods of a part may be unavailable at once, by default none of the gateways and one of the hosts. */
  readonly away?: Partial<Record<Part, number>>;
  run(installation: Installation): Promise<void>;
}

const restartLimitMs = 60_000;

/** @throws Error unless every server pod runs this build */
async function expectBuild({ operator }: Installation, build: string): Promise<void> {
  const pods = await operator.get(`pods --namespace ${namespace} --selector scriptorium/server=true`);
  const others = pods.items
    .filter((pod: Manifest) => pod.metadata['deletionTimestamp'] === undefined)
    .map((pod: Manifest) => pod['spec'].containers[0].image)
    .filter((image: string) => image !== `${images.server}:${build}`);
  if (others.length > 0) throw new Error(`pods run ${others.join(', ')} instead of ${build}`);
}

/** @throws Error unless the schema has what the second build adds */
async function expectMigrated({ operator }: Installation): Promise<void> {
  const psql =
    "exec /usr/lib/postgresql/*/bin/psql -U notes -h /run/postgresql -tAc 'SELECT id FROM migration' postgres";
  const recorded = await operator.run(
    `kubectl exec deployment/database --namespace ${namespace} -- sh -c "${psql}"`,
  );
  if (!recorded.split('\n').includes(nextMigration.id))
    throw new Error(`${nextMigration.id} is not recorded`);
}

async function deletePod(installation: Installation, name: string): Promise<void> {
  await installation.operator.run(`kubectl delete pod ${name} --namespace ${namespace}`);
  await rolledOut(installation);
}

async function nameOfGateway({ operator }: Installation): Promise<string> {
  const selector = '--selector app.kubernetes.io/component=gateway';
  const pods = await operator.get(`pods --namespace ${namespace} ${selector}`);
  return pods.items[0].metadata.name;
}

/** Like a crash of the process: no signal that it could handle. */
async function killProcess({ operator, nodes }: Installation, pod: string): Promise<void> {
  const { spec, status } = await operator.get(`pod ${pod} --namespace ${namespace}`);
  const node = nodes.find(({ name }) => name === spec.nodeName);
  const { restartCount: restarts, containerID } = status.containerStatuses[0];
  node?.containers('tasks', 'kill', '--signal', 'SIGKILL', containerID.split('//')[1]);
  await until(async () => {
    const { status: now } = await operator.get(`pod ${pod} --namespace ${namespace}`);
    return now.containerStatuses[0].restartCount > restarts;
  }, restartLimitMs);
}

async function drain({ operator }: Installation, node: string): Promise<void> {
  await operator.run(`kubectl drain ${node} --ignore-daemonsets --delete-emptydir-data --timeout=300s`);
}

/** Gateways that have just started are tried at once: each opens the first socket of its life. */
async function takeLaterBuild(installation: Installation): Promise<void> {
  const { operator } = installation;
  await operator.run(`${takeNextBuild} ${waiting}`);
  await rolledOut(installation);
  await expectBuild(installation, builds[1]);
  await expectMigrated(installation);
  await operator.run(tryIt);
}

export const steps: readonly Step[] = [
  {
    name: 'upgrade to a build with more schema',
    isPlanned: true,
    run: takeLaterBuild,
  },
  {
    name: 'rollback, on the schema of the later build',
    isPlanned: true,
    async run(installation) {
      const { operator } = installation;
      await operator.run(`helm rollback notes --namespace ${namespace} ${waiting}`);
      await rolledOut(installation);
      await expectBuild(installation, builds[0]);
      await expectMigrated(installation);
    },
  },
  // All further steps are of the later build.
  { name: 'upgrade again, to stay', isPlanned: true, run: takeLaterBuild },
  { name: 'NetworkPolicies taken away and made again', isPlanned: true, run: keepNeighboursOut },
  {
    name: 'a gateway pod deleted',
    isPlanned: true,
    away: { gateway: 1 },
    run: async (installation) => deletePod(installation, await nameOfGateway(installation)),
  },
  {
    name: 'a host pod deleted',
    isPlanned: true,
    run: (installation) => deletePod(installation, `${release}-hosts-1`),
  },
  {
    name: 'a host process killed',
    isPlanned: false,
    async run(installation) {
      await killProcess(installation, `${release}-hosts-0`);
      await rolledOut(installation);
    },
  },
  {
    name: 'one more host and gateway',
    isPlanned: true,
    async run(installation) {
      await upgrade(installation, 'hosts.replicas=4,gateways.autoscaling.enabled=false,gateways.replicas=3');
      await rolledOut(installation);
    },
  },
  {
    name: 'one host and gateway less',
    isPlanned: true,
    away: { gateway: 1, host: 2 },
    async run(installation) {
      await upgrade(installation, 'hosts.replicas=3,gateways.replicas=2');
      await rolledOut(installation);
    },
  },
  {
    name: 'a node drained',
    isPlanned: true,
    away: { gateway: 1 },
    async run(installation) {
      const [, second] = installation.nodes;
      const node = second?.name ?? '';
      await drain(installation, node);
      await installation.operator.run(`kubectl uncordon ${node}`);
      await rolledOut(installation);
    },
  },
  { name: 'certificates renewed', isPlanned: true, run: renewCertificates },
  { name: 'a backup made and verified', isPlanned: true, run: backUp },
  { name: 'gateways by their load', isPlanned: true, away: { gateway: 1 }, run: scaleByLoad },
  { name: 'the load test of the chart', isPlanned: true, run: loadTest },
  { name: 'hosts started anew halfway through a load test', isPlanned: true, run: handOver },
  { name: 'a second installation, of one pod', isPlanned: true, run: singlePod },
];

const dailyNames = [
  'a gateway pod deleted',
  'a host pod deleted',
  'one more host and gateway',
  'one host and gateway less',
  'a node drained',
];

/** What operators do every day, over and over. @throws Error if a container ended by itself meanwhile */
export function soakOf(minutes: number): Step {
  const daily = steps.filter(({ name }) => dailyNames.includes(name));
  return {
    name: `a soak of ${minutes} minutes`,
    isPlanned: true,
    away: { gateway: 1, host: 2 },
    async run(installation) {
      const overMs = performance.now() + minutes * 60_000;
      while (performance.now() < overMs) for (const step of daily) await step.run(installation);
      await expectNoRestarts(installation);
    },
  };
}

/** All pods are newer than the last process that a step killed, so none of their containers may have restarted. */
async function expectNoRestarts({ operator }: Installation): Promise<void> {
  const pods = await operator.get(`pods --namespace ${namespace} --selector scriptorium/server=true`);
  const restarted = pods.items.filter(({ status }: Manifest) =>
    status.containerStatuses.some(({ restartCount }: { restartCount: number }) => restartCount > 0),
  );
  const names = restarted.map(({ metadata }: Manifest) => metadata.name);
  if (names.length > 0) throw new Error(`containers ended by themselves: ${names.join(', ')}`);
}
