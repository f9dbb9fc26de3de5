/**
 * The environment of an installation, from the cluster or its operator: DNS, volumes, a database, certificates,
 * secrets.
 */
import type { Manifest } from '../helm/chart.ts';
import type { Signed } from './certificates.ts';
import { images } from './machine/images.ts';

export const namespace = 'notes';
const databaseUser = 10_002;

const named = (kind: string, name: string, apiVersion = 'v1') => ({
  apiVersion,
  kind,
  metadata: { name, namespace },
});

export function tlsSecret(name: string, { certificate, key }: Signed, authority: string): Manifest {
  return {
    ...named('Secret', name),
    stringData: { 'tls.crt': certificate, 'tls.key': key, 'ca.crt': authority },
  };
}

const secret = (name: string, stringData: Readonly<Record<string, string>>, of = namespace): Manifest => ({
  ...named('Secret', name),
  metadata: { name, namespace: of },
  stringData,
});

/** A disk of a node, declared as without a provisioner. */
export const localVolume = (name: string, node: string, path: string, size: string): Manifest => ({
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  metadata: { name },
  spec: {
    capacity: { storage: size },
    accessModes: ['ReadWriteOnce'],
    persistentVolumeReclaimPolicy: 'Retain',
    local: { path },
    nodeAffinity: {
      required: {
        nodeSelectorTerms: [
          { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: [node] }] },
        ],
      },
    },
  },
});

/** A folder that all nodes share, like NFS. */
export const sharedVolume = (name: string, path: string): readonly Manifest[] => [
  {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name },
    spec: {
      capacity: { storage: '10Gi' },
      accessModes: ['ReadWriteMany'],
      persistentVolumeReclaimPolicy: 'Retain',
      hostPath: { path, type: 'Directory' },
    },
  },
  {
    ...named('PersistentVolumeClaim', name),
    spec: {
      accessModes: ['ReadWriteMany'],
      storageClassName: '',
      volumeName: name,
      resources: { requests: { storage: '10Gi' } },
    },
  },
];

const databaseScript = `set -e
bin=$(echo /usr/lib/postgresql/*/bin)
if [ ! -e /data/store/PG_VERSION ]; then
  "$bin/initdb" --pgdata=/data/store --username=notes --auth-local=trust --auth-host=scram-sha-256 \\
    --pwfile=/secrets/password --encoding=UTF8 --locale=C.UTF-8
fi
cp /tls/tls.crt /tls/tls.key /run/postgresql/ && chmod 600 /run/postgresql/tls.key
exec "$bin/postgres" -D /data/store -c listen_addresses='*' -c unix_socket_directories=/run/postgresql \\
  -c ssl=on -c ssl_cert_file=/run/postgresql/tls.crt -c ssl_key_file=/run/postgresql/tls.key \\
  -c hba_file=/config/hba.conf -c max_connections=200
`;

/** One PostgreSQL on one node, with TLS. */
export const database = (node: string, password: string): readonly Manifest[] => [
  {
    ...named('ConfigMap', 'database'),
    data: { 'hba.conf': 'local all all trust\nhostssl all all all scram-sha-256\n' },
  },
  secret('database', { password }),
  { ...named('Service', 'database'), spec: { selector: { app: 'database' }, ports: [{ port: 5432 }] } },
  {
    ...named('Deployment', 'database', 'apps/v1'),
    spec: {
      replicas: 1,
      strategy: { type: 'Recreate' },
      selector: { matchLabels: { app: 'database' } },
      template: { metadata: { labels: { app: 'database' } }, spec: databasePod(node) },
    },
  },
];

const databasePod = (node: string) => ({
  nodeSelector: { 'kubernetes.io/hostname': node },
  securityContext: { runAsUser: databaseUser, runAsGroup: databaseUser, fsGroup: databaseUser },
  containers: [
    {
      name: 'postgresql',
      image: images.postgresql,
      command: ['sh', '-c', databaseScript],
      readinessProbe: {
        exec: { command: ['sh', '-c', 'exec /usr/lib/postgresql/*/bin/pg_isready -h /run/postgresql'] },
      },
      volumeMounts: [
        { name: 'data', mountPath: '/data' },
        { name: 'run', mountPath: '/run/postgresql' },
        { name: 'config', mountPath: '/config' },
        { name: 'password', mountPath: '/secrets' },
        { name: 'tls', mountPath: '/tls' },
      ],
    },
  ],
  volumes: [
    { name: 'data', emptyDir: {} },
    { name: 'run', emptyDir: {} },
    { name: 'config', configMap: { name: 'database' } },
    { name: 'password', secret: { secretName: 'database' } },
    { name: 'tls', secret: { secretName: 'database-tls', defaultMode: 0o440 } },
  ],
});

const corefile = `.:53 {
  errors
  ready
  kubernetes cluster.local in-addr.arpa {
    pods insecure
  }
  cache 5
}
`;

/** The names of services, served at this address. */
export function dns(address: string): readonly Manifest[] {
  const metadata = { name: 'coredns', namespace: 'kube-system' };
  const rules = [
    { apiGroups: [''], resources: ['endpoints', 'services', 'pods', 'namespaces'], verbs: ['list', 'watch'] },
    { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: ['list', 'watch'] },
  ];
  const rbac = 'rbac.authorization.k8s.io';
  const container = {
    name: 'coredns',
    image: images.coreDns,
    args: ['-conf', '/etc/coredns/Corefile'],
    readinessProbe: { httpGet: { path: '/ready', port: 8181 }, periodSeconds: 2 },
    volumeMounts: [{ name: 'config', mountPath: '/etc/coredns' }],
  };
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata },
    { apiVersion: `${rbac}/v1`, kind: 'ClusterRole', metadata: { name: 'coredns' }, rules },
    {
      apiVersion: `${rbac}/v1`,
      kind: 'ClusterRoleBinding',
      metadata: { name: 'coredns' },
      roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'coredns' },
      subjects: [{ kind: 'ServiceAccount', ...metadata }],
    },
    { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { Corefile: corefile } },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata,
      spec: {
        clusterIP: address,
        selector: { app: 'coredns' },
        ports: [
          { name: 'udp', port: 53, protocol: 'UDP' },
          { name: 'tcp', port: 53, protocol: 'TCP' },
        ],
      },
    },
    {
      apiVersion: 'apps/v1',
      kind: 'DaemonSet',
      metadata,
      spec: {
        selector: { matchLabels: { app: 'coredns' } },
        template: {
          metadata: { labels: { app: 'coredns' } },
          spec: {
            serviceAccountName: 'coredns',
            dnsPolicy: 'Default',
            containers: [container],
            volumes: [{ name: 'config', configMap: { name: 'coredns' } }],
          },
        },
      },
    },
  ];
}
