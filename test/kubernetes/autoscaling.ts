/** Kubernetes chooses the number of gateways by their use of CPU, which a metrics server tells it. */
import type { Manifest } from '../helm/chart.ts';
import { until } from '../kit/until.ts';
import { type Installation, release, rolledOut, upgrade } from './installation.ts';
import { images } from './machine/images.ts';
import { namespace } from './surroundings.ts';

const name = 'metrics-server';
const metadata = { name, namespace: 'kube-system' };
const account = { kind: 'ServiceAccount', ...metadata };
const rbacGroup = 'rbac.authorization.k8s.io';
const rbac = `${rbacGroup}/v1`;
/** The server looks every fifteen seconds, and so does the autoscaler. */
const decisionLimitMs = 240_000;

const roles: readonly Manifest[] = [
  {
    apiVersion: rbac,
    kind: 'ClusterRole',
    metadata: { name },
    rules: [
      { apiGroups: [''], resources: ['nodes/metrics'], verbs: ['get'] },
      { apiGroups: [''], resources: ['pods', 'nodes'], verbs: ['get', 'list', 'watch'] },
    ],
  },
  ...[name, 'system:auth-delegator'].map((role) => ({
    apiVersion: rbac,
    kind: 'ClusterRoleBinding',
    metadata: { name: `${name}-${role.replaceAll(':', '-')}` },
    roleRef: { apiGroup: rbacGroup, kind: 'ClusterRole', name: role },
    subjects: [account],
  })),
  {
    apiVersion: rbac,
    kind: 'RoleBinding',
    metadata,
    roleRef: { apiGroup: rbacGroup, kind: 'Role', name: 'extension-apiserver-authentication-reader' },
    subjects: [account],
  },
];

const container = {
  name,
  image: images.metricsServer,
  args: [
    '--secure-port=10250',
    '--cert-dir=/tmp',
    '--kubelet-insecure-tls',
    '--kubelet-preferred-address-types=InternalIP', // No DNS knows the names of these nodes.
    '--metric-resolution=15s',
  ],
  readinessProbe: { httpGet: { path: '/readyz', port: 10_250, scheme: 'HTTPS' }, periodSeconds: 2 },
  volumeMounts: [{ name: 'tmp', mountPath: '/tmp' }],
};

const metricsServer: readonly Manifest[] = [
  { apiVersion: 'v1', kind: 'ServiceAccount', metadata },
  ...roles,
  {
    apiVersion: 'v1',
    kind: 'Service',
    metadata,
    spec: { selector: { app: name }, ports: [{ port: 443, targetPort: 10_250 }] },
  },
  {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata,
    spec: {
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name } },
        spec: { serviceAccountName: name, containers: [container], volumes: [{ name: 'tmp', emptyDir: {} }] },
      },
    },
  },
  {
    apiVersion: 'apiregistration.k8s.io/v1',
    kind: 'APIService',
    metadata: { name: 'v1beta1.metrics.k8s.io' },
    spec: {
      group: 'metrics.k8s.io',
      version: 'v1beta1',
      service: metadata,
      groupPriorityMinimum: 100,
      versionPriority: 100,
      insecureSkipTLSVerify: true,
    },
  },
];

export const autoscaler = `${release}-gateways`;
/** Two gateways under load use more than a tenth of what they ask for, so there must be a third one. */
export const byLoad = ['enabled=true', 'minReplicas=2', 'maxReplicas=3', 'cpuPercent=10']
  .map((value) => `gateways.autoscaling.${value}`)
  .join();

export async function scaleByLoad(installation: Installation): Promise<void> {
  const { operator } = installation;
  await operator.apply(metricsServer);
  await operator.rolledOut(`deployment/${name}`, metadata.namespace);
  await upgrade(installation, byLoad);
  await until(async () => {
    const { status } = await operator.get(`hpa ${autoscaler} --namespace ${namespace}`);
    return status.currentReplicas === 3;
  }, decisionLimitMs);
  await rolledOut(installation);
  await upgrade(installation, 'gateways.autoscaling.enabled=false,gateways.replicas=2');
  await rolledOut(installation);
}
