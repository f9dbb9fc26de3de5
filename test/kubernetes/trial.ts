/**
 * The part of a run inside the network of the first node. It makes a cluster of two nodes with our chart on it, runs all steps
 * under load, and reports their results. Its parent, run.ts, has made the images and the networks, starts this, and receives the
 * results.
 */
import { randomBytes } from 'node:crypto';
import { chmodSync, chownSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { root } from '../kit/server-process.ts';
import { until } from '../kit/until.ts';
import { Authority } from './certificates.ts';
import {
  type Installation,
  installWith,
  listNodes,
  makeNamespace,
  makeSecretFor,
  natsHosts,
  release,
  rolledOut,
  tryIt,
} from './installation.ts';
import { Operator } from './kubectl.ts';
import { Load } from './load.ts';
import { startControlPlane } from './machine/control-plane.ts';
import { networks } from './machine/networks.ts';
import { Node } from './machine/node.ts';
import { Readiness } from './readiness.ts';
import {
  outcomeOf,
  type Span,
  type StepOutcome,
  type TrialOptions,
  type TrialResult,
  unansweredText,
} from './report.ts';
import { type Step, soakOf, steps } from './steps.ts';
import * as surroundings from './surroundings.ts';
import { valuesOfRun } from './values.ts';

const { namespace } = surroundings;
const dnsAddress = '10.79.0.10';
const startLimitMs = 180_000;
const serverUser = 10_001;
/** Longer than one attempt and its repeat. */
const stuckMs = 25_000;
/** Load without any step, before each. */
const betweenMs = 10_000;

async function runTrial({ folder, archives, seed, soakMinutes }: TrialOptions): Promise<TrialResult> {
  const control = await startControlPlane(join(folder, 'control'));
  const nodes = networks.map(
    (network, index) =>
      new Node({
        name: `node-${index + 1}`,
        network,
        folder: join(folder, `n${index + 1}`),
        kubeconfig: control.kubeconfig,
        dnsAddress,
      }),
  );
  try {
    return await Promise.race([interrupted, proceed(control.kubeconfig, nodes)]);
  } finally {
    for (const each of [...nodes, control]) await each.stop().catch(tell);
  }

  async function proceed(kubeconfig: string, nodes: readonly Node[]): Promise<TrialResult> {
    for (const node of nodes) await node.start(archives);
    const operator = new Operator(kubeconfig);
    await until(() => areReady(operator), startLimitMs);
    for (const node of nodes) node.enforcePolicies();
    const authority = new Authority(join(folder, 'certificates'), 'first-authority');
    const kit = join(folder, 'operator');
    mkdirSync(kit);
    await surround(operator, authority, folder);
    const url = await install(operator, kit);
    const installation = { operator, nodes, authority, folder: kit, url };
    await rolledOut(installation);
    await expectNodes(operator);
    return underLoad(installation, kubeconfig, { seed, soakMinutes });
  }
}

/** Obstacles to the end, which must not hide the original failure. */
const tell = (error: Error): void => console.error(`At the end: ${error.message}`);

async function areReady(operator: Operator): Promise<boolean> {
  const { items } = await operator.get('nodes');
  const ready = items.filter((node: { status: { conditions: { type: string; status: string }[] } }) =>
    node.status.conditions.some(({ type, status }) => type === 'Ready' && status === 'True'),
  );
  return ready.length === networks.length;
}

/** Everything that the chart does not bring. */
async function surround(operator: Operator, authority: Authority, folder: string): Promise<void> {
  const password = randomBytes(16).toString('hex');
  const host = `database.${namespace}.svc`;
  const shared = join(folder, 'shared-files');
  mkdirSync(shared);
  chownSync(shared, serverUser, serverUser);
  chmodSync(shared, 0o700);
  await operator.run(makeNamespace);
  await operator.run(makeSecretFor(host, password));
  await operator.apply([
    ...surroundings.dns(dnsAddress),
    surroundings.tlsSecret('database-tls', authority.sign('database', [host]), authority.certificate),
    surroundings.tlsSecret('nats-tls', authority.sign('nats', natsHosts), authority.certificate),
    surroundings.tlsSecret('client-tls', authority.sign('scriptorium'), authority.certificate),
    ...surroundings.database('node-1', password),
    ...surroundings.sharedVolume('files', shared),
    ...volumesOfNats(folder),
  ]);
  await operator.rolledOut('daemonset/coredns', 'kube-system');
  await operator.rolledOut('deployment/database', namespace);
}

/** Two on the first node, so that draining the second one leaves two of three. */
const volumesOfNats = (folder: string) =>
  ['node-1', 'node-1', 'node-2'].map((node, index) => {
    const path = join(folder, `nats-${index}`);
    mkdirSync(path);
    return surroundings.localVolume(`nats-${index}`, node, path, '2Gi');
  });

/** Resolves to the address of its Service. */
async function install(operator: Operator, folder: string): Promise<string> {
  const values = join(folder, 'values.json');
  writeFileSync(values, JSON.stringify(valuesOfRun));
  await operator.run(installWith(values));
  const service = await operator.get(`service ${release} --namespace ${namespace}`);
  return `http://${service.spec.clusterIP}`;
}

/** @throws Error unless the command line within a pod knows all hosts */
async function expectNodes(operator: Operator): Promise<void> {
  const output = await operator.run(listNodes);
  for (const host of [0, 1, 2]) {
    if (!output.includes(`${release}-hosts-${host}`))
      throw new Error(`a host is not among the nodes:\n${output}`);
  }
}

async function underLoad(
  installation: Installation,
  kubeconfig: string,
  { seed, soakMinutes }: Pick<TrialOptions, 'seed' | 'soakMinutes'>,
): Promise<TrialResult> {
  const { operator, folder, url } = installation;
  const readiness = new Readiness(kubeconfig, namespace);
  const load = await Load.start({ url, folder, seed, users: 6, circles: 1, pauseMs: 150 });
  try {
    const done: StepOutcome[] = [];
    const spans: Span[] = [];
    for (const step of soakMinutes === 0 ? steps : [...steps, soakOf(soakMinutes)]) {
      await pause(betweenMs);
      const outcome = await perform(step, installation, load, readiness, spans);
      console.log(`${step.name}: ${JSON.stringify(outcome)}`);
      done.push(outcome);
    }
    await pause(betweenMs);
    const smokeTest = await operator.run(tryIt);
    const checked = await load.finish();
    const { acknowledgedWrites, calls, open } = load.tally;
    const { violations, unfinished } = checked;
    const common = { smokeTest, steps: done, acknowledgedWrites, calls: calls.length, violations };
    if (unfinished.length > 0 || done.some(({ complaints }) => complaints.length > 0))
      await keepLogs(operator);
    const unanswered = [...open].map((call) => `no answer in the end: ${unansweredText(call, spans)}`);
    return { ...common, unfinished: [...unfinished, ...unanswered] };
  } finally {
    load.abandon();
    readiness.stop();
  }
}

/** The logs of the pods and of Kubernetes, if they outlast the pods. */
async function keepLogs(operator: Operator): Promise<void> {
  const folder = join(root, '.cache', `kubernetes-logs-${Date.now()}`);
  mkdirSync(folder, { recursive: true });
  const pods = await operator.get(`pods --namespace ${namespace}`);
  for (const { metadata } of pods.items) {
    const { name } = metadata;
    const said = operator.run(`kubectl --namespace ${namespace} logs ${name} --all-containers --tail=-1`);
    writeFileSync(join(folder, `${name}.log`), await said.catch(String));
  }
  const events = operator.run(`kubectl --namespace ${namespace} get events --sort-by=.lastTimestamp -o wide`);
  writeFileSync(join(folder, 'events.txt'), await events.catch(String));
  console.log(`The logs of the pods: ${folder}`);
}

async function perform(
  step: Step,
  installation: Installation,
  load: Load,
  readiness: Readiness,
  spans: Span[],
): Promise<StepOutcome> {
  const before = readiness.now;
  readiness.begin();
  const beganMs = performance.now();
  let failure: string | undefined;
  try {
    await step.run(installation);
  } catch (error) {
    failure = (error as Error).message;
  }
  // The consequences of a step belong to it.
  await pause(betweenMs);
  const endedMs = performance.now();
  const calls = load.tally.between(beganMs, endedMs);
  const durationMs = endedMs - beganMs;
  spans.push({ name: step.name, beganMs, endedMs });
  const stuck = load.tally.waitingSince(endedMs - stuckMs).map((call) => unansweredText(call, spans));
  return outcomeOf({ step, failure, durationMs, calls, stuck, before, least: readiness.least });
}

/** When a user stops waiting, or run.ts is gone. The cluster ends then, too. */
const interrupted = new Promise<never>((_, reject) => {
  process.once('SIGINT', () => reject(new Error('interrupted')));
  process.once('SIGTERM', () => reject(new Error('interrupted')));
  process.once('disconnect', () => reject(new Error('interrupted')));
});

process.once('message', async (options: TrialOptions) => {
  try {
    const outcome = await runTrial(options);
    interrupted.catch(() => {});
    process.send?.(outcome, () => process.disconnect());
  } catch (error) {
    console.error((error as Error).message);
    // Otherwise started steps would continue against a cluster that is gone.
    process.exit(1);
  }
});
