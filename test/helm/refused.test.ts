/** Values that are wrong or contradict each other are refused before anything changes, with advice on what to do. */
import test from 'ava';
import { type Rendering, render } from './chart.ts';

const clusterWith = (keys: readonly string[], more: object): Rendering => ({
  values: {
    topology: 'cluster',
    files: { existingClaim: 'files' },
    secrets: { existingSecret: 'scriptorium', keys: Object.fromEntries(keys.map((key) => [key, 'key'])) },
    ...more,
  },
});

const refused: readonly (readonly [title: string, rendering: Rendering, words: RegExp])[] = [
  ['a setting that is none', { values: { settings: { LOG_LEVLE: 'info' } } }, /LOG_LEVLE/],
  ['a setting that the chart decides', { values: { settings: { HOST: '::' } } }, /HOST/],
  ['a secret among the settings', { values: { settings: { SECRET_KEY: 'x' } } }, /SECRET_KEY/],
  ['a value that is none', { values: { gateway: {} } }, /gateway/],
  ['shards that are no power of two', { values: { shardCount: 1_000 } }, /shardCount/],
  ['a cluster with nothing', { values: { topology: 'cluster' } }, /needs the root secret: SECRET_KEY/],
  ['a cluster without files', { presets: ['cluster'], values: {} }, /needs files where all pods reach them/],
  [
    'NATS in the clear',
    clusterWith(['SECRET_KEY', 'DATABASE_URL'], { nats: { enabled: true } }),
    /nats.enabled needs certificates/,
  ],
  [
    'two sources of NATS',
    clusterWith(['SECRET_KEY', 'DATABASE_URL', 'NATS_URL'], { nats: { enabled: true } }),
    /two ways to the same/,
  ],
  [
    'a Prometheus that could ask nobody',
    { values: { serviceMonitor: { enabled: true } } },
    /serviceMonitor needs networkPolicy.monitoring/,
  ],
  [
    'CockroachDB without certificates',
    clusterWith(['SECRET_KEY', 'NATS_URL'], { cockroachdb: { enabled: true } }),
    /needs certificates, by which its users sign in/,
  ],
  [
    'keys without a Secret',
    { values: { secrets: { keys: { SECRET_KEY: 'k' } } } },
    /needs secrets.existingSecret/,
  ],
  [
    'a key for registration that is not there',
    { values: { registration: 'key' } },
    /SHARED_SERVER_ACCESS_KEY in secrets.keys/,
  ],
  [
    'a hook without its Secret',
    { values: { migrations: { hook: true } } },
    /migrations.hook needs DATABASE_URL/,
  ],
  ['an ingress for no host', { values: { ingress: { enabled: true } } }, /need publicUrl/],
  [
    'gateways that go before load balancers know',
    { presets: ['cluster'], values: { gateways: { preStopSeconds: 0 } } },
    /preStopSeconds/,
  ],
  [
    'two sources of the root secret',
    clusterWith(['SECRET_KEY'], {
      secrets: { generate: true, existingSecret: 's', keys: { SECRET_KEY: 'k' } },
    }),
    /secrets.generate and SECRET_KEY in secrets.keys are two ways/,
  ],
  [
    'a way of outside traffic where there is none',
    { values: { service: { externalTrafficPolicy: 'Local' } } },
    /is for service.type NodePort and LoadBalancer/,
  ],
  ['alerts that lead nowhere', { values: { prometheusRule: { enabled: true } } }, /needs runbooks/],
  [
    'an authority of no database',
    { values: { secrets: { existingSecret: 's', keys: { SECRET_KEY: 'k' }, databaseCaKey: 'c' } } },
    /secrets.databaseCaKey is the authority of the database/,
  ],
  [
    'another address of no database',
    { values: { backup: { enabled: true, databaseUrlKey: 'k' } } },
    /backup.databaseUrlKey is another address/,
  ],
  [
    'verifying what nobody can open',
    { values: { backup: { enabled: true, verify: true }, settings: { BACKUP_RECIPIENTS: 'age1x' } } },
    /backup.verify needs backup.identityKey/,
  ],
  [
    'two schedules of backups',
    { values: { backup: { enabled: true }, settings: { BACKUP_SCHEDULE: '03:15' } } },
    /backup.enabled and BACKUP_SCHEDULE in settings are two ways/,
  ],
  [
    'a root secret made where the cluster is not seen',
    { values: { secrets: { generate: true } } },
    /needs Helm to see the cluster/,
  ],
];

for (const [title, rendering, words] of refused) {
  test(`refused: ${title}`, async (t) => {
    const error = await t.throwsAsync(() => render(rendering));
    t.regex(error.message, words);
  });
}
