/** The values of the chart in a run, besides those of docs/kubernetes.md. */
import { fileBytesMax } from './load.ts';
import { images } from './machine/images.ts';

const small = { requests: { cpu: '50m', memory: '128Mi' }, limits: { memory: '1Gi' } };

export const valuesOfRun = {
  secrets: { keys: { NATS_URL: '' } },
  settings: {
    ACCOUNT_FILE_BYTES_MAX: fileBytesMax,
    MAX_LOGIN_ATTEMPTS: 1000,
    RATE_LIMIT_PUBLIC: 0,
    RATE_LIMIT_REGISTRATION: 0,
    RATE_LIMIT_SESSION: 0,
  },
  files: { existingClaim: 'files' },
  migrations: { hook: true },
  networkPolicy: { egress: true },
  tls: { mode: 'existing', secrets: { client: 'client-tls', nats: 'nats-tls' } },
  nats: { enabled: true, image: images.nats, resources: small },
  gateways: { resources: small },
  hosts: { resources: small },
};
