/** What a pod of somebody else reaches, with the chart's NetworkPolicies and without. */
import type { Tree } from '../helm/chart.ts';
import { until } from '../kit/until.ts';
import { type Installation, rolledOut, upgrade } from './installation.ts';
import { images } from './machine/images.ts';
import { namespace } from './surroundings.ts';

const neighbours = 'neighbours';
const pod = 'neighbour';
const startLimitMs = 60_000;
/** The firewall of each node follows a change within seconds. */
const changeLimitMs = 60_000;

interface Door {
  readonly name: string;
  readonly component: string;
  readonly port: number;
  readonly isOpenToAll: boolean;
}

const doors: readonly Door[] = [
  { name: 'the public port of gateways', component: 'gateway', port: 3000, isOpenToAll: true },
  { name: 'the admin port of gateways', component: 'gateway', port: 9090, isOpenToAll: false },
  { name: 'the admin port of hosts', component: 'host', port: 9090, isOpenToAll: false },
  { name: 'NATS', component: 'nats', port: 4222, isOpenToAll: false },
  { name: 'the probes of NATS', component: 'nats', port: 8222, isOpenToAll: false },
];

/** @throws Error unless policies close what they should, and nothing else had closed it before */
export async function keepNeighboursOut(installation: Installation): Promise<void> {
  const { operator } = installation;
  await operator.apply([
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: neighbours } },
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: pod, namespace: neighbours },
      spec: { containers: [{ name: pod, image: images.postgresql, command: ['sleep', 'infinity'] }] },
    },
  ]);
  await until(() => isReady(installation), startLimitMs);
  await upgrade(installation, 'networkPolicy.enabled=false');
  await expectOpen(installation, () => true);
  await upgrade(installation, 'networkPolicy.enabled=true');
  await expectOpen(installation, ({ isOpenToAll }) => isOpenToAll);
  await rolledOut(installation);
  await operator.run(`kubectl delete namespace ${neighbours}`);
}

async function isReady({ operator }: Installation): Promise<boolean> {
  const { status } = await operator.get(`pod ${pod} --namespace ${neighbours}`);
  return (status.containerStatuses ?? []).some(({ ready }: Tree) => ready);
}

async function expectOpen(installation: Installation, isExpected: (door: Door) => boolean): Promise<void> {
  for (const door of doors) {
    const expected = isExpected(door) ? 'open' : 'closed';
    let seen = '';
    const isAsExpected = async () => {
      seen = await stateOf(installation, door);
      return seen === expected;
    };
    await until(isAsExpected, changeLimitMs).catch((cause: Error) => {
      throw new Error(`${door.name} should be ${expected} to other pods: ${seen}`, { cause });
    });
  }
}

/** `open`, `closed`, or both: each node has a firewall of its own. */
async function stateOf({ operator }: Installation, { component, port }: Door): Promise<string> {
  const selector = `--selector app.kubernetes.io/component=${component},app.kubernetes.io/instance=notes`;
  const { items } = await operator.get(`pods --namespace ${namespace} ${selector}`);
  const addresses: readonly string[] = items.map(({ status }: Tree) => status.podIP);
  const attempt = (address: string) =>
    `timeout 2 bash -c '</dev/tcp/${address}/${port}' && echo open || echo closed`;
  const answers = await operator.run(
    `kubectl exec ${pod} --namespace ${neighbours} -- bash -c "${addresses.map(attempt).join('; ')}"`,
  );
  return [...new Set(answers.trim().split('\n'))].join(' and ');
}
