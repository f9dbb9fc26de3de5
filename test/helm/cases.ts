/** Values for rendering the chart: each switch on and off at least once, and typical installations. */
import type { Rendering } from './chart.ts';

const s3 = {
  FILES_STORE: 's3',
  FILES_S3_BUCKET: 'notes-files',
  FILES_S3_ACCESS_KEY_ID: 'notes',
};
const s3Key = { FILES_S3_SECRET_ACCESS_KEY: 's3-key' };
const cluster = {
  publicUrl: 'https://notes.example.org',
  secrets: { keys: s3Key },
  settings: s3,
};
const inside = { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } } };

export const cases = {
  defaults: { values: {} },
  small: { presets: ['small'], values: { publicUrl: 'https://notes.example.org' } },
  'small and open, with everything around it': {
    presets: ['small'],
    values: {
      publicUrl: 'https://notes.example.org',
      registration: 'open',
      fullnameOverride: 'notes',
      image: {
        repository: 'registry.example.org/scriptorium',
        digest: `sha256:${'0'.repeat(64)}`,
        pullSecrets: ['pull'],
      },
      settings: { DRAIN_TIMEOUT_MS: 20_000, BODY_MEMORY_BYTES: 268_435_456, LOG_FAILED_SIGN_INS: true },
      single: { storage: { className: 'fast' } },
      ingress: {
        enabled: true,
        className: 'nginx',
        nginx: true,
        tlsSecret: 'notes-tls',
        annotations: { a: 'b' },
      },
      networkPolicy: { enabled: true, egress: true, clients: [inside], monitoring: [inside] },
      serviceMonitor: { enabled: true, labels: { release: 'prometheus' } },
      dashboards: { enabled: true, annotations: { grafana_folder: 'Scriptorium' } },
      prometheusRule: {
        enabled: true,
        labels: { release: 'prometheus' },
        runbooks: 'https://docs.example.org/alerts.md',
        oldBackupSeconds: 1_200,
      },
      pods: {
        annotations: { a: 'b' },
        labels: { team: 'notes' },
        nodeSelector: { disk: 'fast' },
        tolerations: [{ key: 'notes', operator: 'Exists' }],
        priorityClassName: 'high',
      },
      serviceAccount: { annotations: { a: 'b' } },
    },
  },
  'small on claims and a database of yours': {
    presets: ['small'],
    values: {
      registration: 'key',
      single: { storage: { existingClaim: 'notes' }, preStopSeconds: 0 },
      files: { existingClaim: 'files' },
      backup: { storage: { existingClaim: 'backup' } },
      secrets: {
        existingSecret: 'scriptorium',
        keys: { DATABASE_URL: 'database-url', SHARED_SERVER_ACCESS_KEY: 'access-key' },
        databaseCaKey: 'database-ca',
      },
      networkPolicy: { enabled: true, egress: true },
      serviceAccount: { create: false },
    },
  },
  cluster: { presets: ['cluster'], values: cluster },
  'cluster under load': {
    presets: ['cluster'],
    values: {
      ...cluster,
      loadTest: { enabled: true, archiveSecret: 'load-test', machines: 3 },
      networkPolicy: { enabled: true, egress: true, clients: [inside] },
    },
  },
  'cluster with everything around it': {
    presets: ['cluster'],
    values: {
      ...cluster,
      shardCount: 2_048,
      gateways: { autoscaling: { socketsPerPod: 5_000 }, preStopSeconds: 30 },
      migrations: { hook: true },
      tls: { mode: 'existing', secrets: { client: 'notes-client' } },
      httpRoute: {
        enabled: true,
        parentRefs: [{ name: 'public', namespace: 'gateways' }],
        annotations: { a: 'b' },
      },
      service: { type: 'LoadBalancer', port: 8_080, annotations: { a: 'b' } },
      networkPolicy: {
        enabled: true,
        egress: true,
        clients: [inside],
        monitoring: [inside],
        database: { to: [{ ipBlock: { cidr: '10.1.2.3/32' } }], port: 5_432 },
        nats: { to: [inside], port: 4_222 },
      },
      serviceMonitor: { enabled: true },
      prometheusRule: { enabled: true, runbooks: 'https://docs.example.org/alerts' },
      backup: { enabled: true },
    },
  },
  'cluster without autoscaling, on a shared folder, with certificates of an issuer': {
    presets: ['cluster'],
    values: {
      gateways: { autoscaling: { enabled: false }, replicas: 4 },
      hosts: { replicas: 5 },
      files: { existingClaim: 'files' },
      tls: { mode: 'certManager', certManager: { issuerRef: { name: 'ours', kind: 'ClusterIssuer' } } },
      podDisruptionBudgets: { enabled: false },
      backup: { enabled: true, storage: { className: 'slow' } },
    },
  },
  'cluster with NATS and CockroachDB of the chart': {
    values: {
      topology: 'cluster',
      secrets: { existingSecret: 'scriptorium', keys: { SECRET_KEY: 'secret-key', ...s3Key } },
      settings: s3,
      tls: { mode: 'certManager' },
      nats: { enabled: true, storage: { className: 'fast' } },
      cockroachdb: { enabled: true, storage: { className: 'fast' } },
      networkPolicy: { enabled: true, egress: true, monitoring: [inside] },
    },
  },
  'cluster with NATS and CockroachDB of the chart, on certificates of yours': {
    values: {
      topology: 'cluster',
      secrets: { existingSecret: 'scriptorium', keys: { SECRET_KEY: 'secret-key', ...s3Key } },
      settings: s3,
      tls: {
        mode: 'existing',
        secrets: { client: 'client', nats: 'nats', cockroachdbNode: 'node', cockroachdbRoot: 'root' },
      },
      nats: { enabled: true },
      cockroachdb: { enabled: true },
    },
  },
  'cluster with NATS of the chart and no certificates': {
    presets: ['cluster'],
    values: {
      secrets: { keys: { NATS_URL: '', ...s3Key } },
      settings: { ...s3, NATS_ALLOW_INSECURE: true },
      nats: { enabled: true },
    },
  },
} as const satisfies Readonly<Record<string, Rendering>>;
